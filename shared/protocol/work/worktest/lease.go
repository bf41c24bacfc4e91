package worktest

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

var leaseScenarios = []scenario{
	{"Fault18LeaseIsOverAtItsDeadline", fault18OverAtDeadline},
	{"Fault18LeaseIsGoodBeforeItsDeadline", fault18GoodBeforeDeadline},
	{"Fault20LateExtendsHaveDistinctKinds", fault20DistinctKinds},
	{"LeasesOfOneSubjectDoNotOverlap", leasesDoNotOverlap},
	{"LeaseRefusesWhatItCannotKeep", leaseRefuses},
}

// grant calls the verb of package lease, as extend and revoke below.
func (s *session) grant(subject, parts string, ttl time.Duration) (models.Lease, error) {
	t, err := s.repo.Call(s.f.Context(), space.OpID{}, "lease.grant", tuple.New(subject, parts, ttl.Milliseconds()))
	if err != nil {
		return models.Lease{}, err
	}
	return lease.Decode(t), nil
}

func (s *session) extend(id string, token int64, ttl time.Duration) error {
	_, err := s.repo.Call(s.f.Context(), space.OpID{}, "lease.extend", tuple.New(id, token, ttl.Milliseconds()))
	return err
}

func (s *session) revoke(id string, token int64) error {
	_, err := s.repo.Call(s.f.Context(), space.OpID{}, "lease.revoke", tuple.New(id, token))
	return err
}

// fault18OverAtDeadline checks that a lease is over at its deadline, also if the engine's timer
// has not run yet.
func fault18OverAtDeadline(f *fixture) {
	m1, m2 := f.manager("manager-1"), f.manager("manager-2")
	l, err := m1.grant("site", "", time.Minute)
	require.NoError(f, err)
	<-time.After(time.Minute) // and not a nanosecond more: the engine's timer may not have run
	require.ErrorIs(f, m1.extend(l.ID, l.Token, time.Minute), fault.ErrNotFound)
	next, err := m2.grant("site", "", time.Minute)
	require.NoError(f, err)
	require.Greater(f, next.Token, l.Token)
	require.NotEqual(f, next.ID, l.ID)
	require.NoError(f, m2.revoke(next.ID, next.Token))
	require.Equal(f, 1, f.total(lease.Expired))
}

// fault18GoodBeforeDeadline checks that a lease holds until a nanosecond before its deadline. It
// sleeps instead of calling pass, which would let the engine's timers run first.
func fault18GoodBeforeDeadline(f *fixture) {
	m1, m2 := f.manager("manager-1"), f.manager("manager-2")
	l, err := m1.grant("site", "", time.Minute)
	require.NoError(f, err)
	<-time.After(time.Minute - time.Nanosecond)
	_, err = m2.grant("site", "", time.Minute)
	require.ErrorIs(f, err, fault.ErrConflict)
	require.NoError(f, m1.extend(l.ID, l.Token, time.Minute))
	f.pass(time.Minute - time.Nanosecond)
	require.NoError(f, m1.revoke(l.ID, l.Token))
}

// fault20DistinctKinds checks that an extension or revocation that comes late tells a stale token
// (fault.ErrStaleToken) from a former lease (fault.ErrNotFound) and from invalid arguments.
func fault20DistinctKinds(f *fixture) {
	m := f.manager("manager-1")
	a, err := m.grant("site", "a", time.Minute)
	require.NoError(f, err)
	b, err := m.grant("site", "b", time.Minute)
	require.NoError(f, err)

	require.NoError(f, m.extend(a.ID, a.Token, time.Minute))
	require.NoError(f, m.extend(a.ID, a.Token, time.Minute), "a duplicate")
	require.ErrorIs(f, m.extend(a.ID, b.Token, time.Minute), fault.ErrStaleToken)
	require.ErrorIs(f, m.revoke(a.ID, b.Token), fault.ErrStaleToken)
	require.NoError(f, m.revoke(a.ID, a.Token))
	require.ErrorIs(f, m.extend(a.ID, a.Token, time.Minute), fault.ErrNotFound, "after revoke")
	require.ErrorIs(f, m.revoke(a.ID, a.Token), fault.ErrNotFound, "twice")
	require.ErrorIs(f, m.extend("l999", 1, time.Minute), fault.ErrNotFound, "unknown")
	require.ErrorIs(f, m.extend(b.ID, b.Token, 0), fault.ErrInvalid)
	require.ErrorIs(f, m.extend(b.ID, b.Token, -time.Minute), fault.ErrInvalid)

	require.Equal(f, b, f.onlyLease(), "the other lease is as it was")
	require.Equal(f, 2, f.total(lease.Extended))
	require.NoError(f, m.revoke(b.ID, b.Token))
}

// leasesDoNotOverlap checks that leases of one subject conflict if they share a part; empty is
// all parts. Leases of other subjects never conflict.
func leasesDoNotOverlap(f *fixture) {
	m := f.manager("manager-1")
	for n, c := range []struct {
		held, wanted string
		conflict     bool
	}{
		{"", "", true}, {"", "a", true}, {"a", "", true}, {"a", "a", true},
		{"a,b,c", "c,d", true}, {"c,d", "a,b,c", true}, {"a,z", "m,z", true},
		{"a", "b", false}, {"a,c,e", "b,d,f", false}, {"ab", "a", false},
	} {
		subject := fmt.Sprint("site-", n)
		first, err := m.grant(subject, c.held, time.Minute)
		require.NoError(f, err)
		elsewhere, err := m.grant(subject+"-other", c.wanted, time.Minute)
		require.NoError(f, err)
		second, err := m.grant(subject, c.wanted, time.Minute)
		if c.conflict {
			require.ErrorIs(f, err, fault.ErrConflict, c)
		} else {
			require.NoError(f, err, c)
			require.NoError(f, m.revoke(second.ID, second.Token))
		}
		require.NoError(f, m.revoke(first.ID, first.Token))
		require.NoError(f, m.revoke(elsewhere.ID, elsewhere.Token))
	}
}

// leaseRefuses checks which arguments of a grant fail with fault.ErrInvalid, and that parts are sorted and occur
// once.
func leaseRefuses(f *fixture) {
	m := f.manager("manager-1")
	for _, args := range []tuple.Tuple{
		tuple.New("", "", int64(1)), tuple.New("a b", "", int64(1)), tuple.New("site", "a,,b", int64(1)),
		tuple.New("site", "a b", int64(1)), tuple.New("site", "", int64(0)), tuple.New("site", "", int64(-1)),
		tuple.New("site", "", int64(1)<<62), tuple.New("site", "", lease.MaxTTL.Milliseconds()+1), tuple.New("site"), nil,
	} {
		_, err := m.repo.Call(f.Context(), space.OpID{}, "lease.grant", args)
		require.ErrorIs(f, err, fault.ErrInvalid, args)
	}
	l, err := m.grant("site", "b,a,b", lease.MaxTTL)
	require.NoError(f, err)
	require.Equal(f, []string{"a", "b"}, l.Parts)
	require.NoError(f, m.revoke(l.ID, l.Token))
}
