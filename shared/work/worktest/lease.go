package worktest

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/lease"
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

// The verbs of package lease, as a session calls them.
func (a *actor) grant(subject, parts string, ttl time.Duration) (models.Lease, error) {
	t, err := a.repo.Call(a.h.Context(), space.OpID{}, "lease.grant", tuple.New(subject, parts, ttl.Milliseconds()))
	if err != nil {
		return models.Lease{}, err
	}
	return lease.Decode(t), nil
}

func (a *actor) extend(id string, token int64, ttl time.Duration) error {
	_, err := a.repo.Call(a.h.Context(), space.OpID{}, "lease.extend", tuple.New(id, token, ttl.Milliseconds()))
	return err
}

func (a *actor) revoke(id string, token int64) error {
	_, err := a.repo.Call(a.h.Context(), space.OpID{}, "lease.revoke", tuple.New(id, token))
	return err
}

func fault18OverAtDeadline(h *house) {
	m1, m2 := h.manager("manager-1"), h.manager("manager-2")
	l, err := m1.grant("site", "", time.Minute)
	require.NoError(h, err)
	<-time.After(time.Minute) // and not a nanosecond more: the engine's timer may not have run
	require.ErrorIs(h, m1.extend(l.ID, l.Token, time.Minute), fault.ErrNotFound)
	next, err := m2.grant("site", "", time.Minute)
	require.NoError(h, err)
	require.Greater(h, next.Token, l.Token)
	require.NotEqual(h, next.ID, l.ID)
	require.NoError(h, m2.revoke(next.ID, next.Token))
	require.Equal(h, 1, h.total(lease.Expired))
}

func fault18GoodBeforeDeadline(h *house) {
	m1, m2 := h.manager("manager-1"), h.manager("manager-2")
	l, err := m1.grant("site", "", time.Minute)
	require.NoError(h, err)
	<-time.After(time.Minute - time.Nanosecond)
	_, err = m2.grant("site", "", time.Minute)
	require.ErrorIs(h, err, fault.ErrConflict)
	require.NoError(h, m1.extend(l.ID, l.Token, time.Minute))
	h.pass(time.Minute - time.Nanosecond)
	require.NoError(h, m1.revoke(l.ID, l.Token))
}

func fault20DistinctKinds(h *house) {
	m := h.manager("manager-1")
	a, err := m.grant("site", "a", time.Minute)
	require.NoError(h, err)
	b, err := m.grant("site", "b", time.Minute)
	require.NoError(h, err)

	require.NoError(h, m.extend(a.ID, a.Token, time.Minute))
	require.NoError(h, m.extend(a.ID, a.Token, time.Minute), "a duplicate")
	require.ErrorIs(h, m.extend(a.ID, b.Token, time.Minute), fault.ErrStaleToken)
	require.ErrorIs(h, m.revoke(a.ID, b.Token), fault.ErrStaleToken)
	require.NoError(h, m.revoke(a.ID, a.Token))
	require.ErrorIs(h, m.extend(a.ID, a.Token, time.Minute), fault.ErrNotFound, "after revoke")
	require.ErrorIs(h, m.revoke(a.ID, a.Token), fault.ErrNotFound, "twice")
	require.ErrorIs(h, m.extend("l999", 1, time.Minute), fault.ErrNotFound, "unknown")
	require.ErrorIs(h, m.extend(b.ID, b.Token, 0), fault.ErrInvalid)
	require.ErrorIs(h, m.extend(b.ID, b.Token, -time.Minute), fault.ErrInvalid)

	require.Equal(h, b, h.onlyLease(), "the other lease is as it was")
	require.Equal(h, 2, h.total(lease.Extended))
	require.NoError(h, m.revoke(b.ID, b.Token))
}

func leasesDoNotOverlap(h *house) {
	m := h.manager("manager-1")
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
		require.NoError(h, err)
		elsewhere, err := m.grant(subject+"-other", c.wanted, time.Minute)
		require.NoError(h, err)
		second, err := m.grant(subject, c.wanted, time.Minute)
		if c.conflict {
			require.ErrorIs(h, err, fault.ErrConflict, c)
		} else {
			require.NoError(h, err, c)
			require.NoError(h, m.revoke(second.ID, second.Token))
		}
		require.NoError(h, m.revoke(first.ID, first.Token))
		require.NoError(h, m.revoke(elsewhere.ID, elsewhere.Token))
	}
}

func leaseRefuses(h *house) {
	m := h.manager("manager-1")
	for _, args := range []tuple.Tuple{
		tuple.New("", "", int64(1)), tuple.New("a b", "", int64(1)), tuple.New("site", "a,,b", int64(1)),
		tuple.New("site", "a b", int64(1)), tuple.New("site", "", int64(0)), tuple.New("site", "", int64(-1)),
		tuple.New("site", "", int64(1)<<62), tuple.New("site", "", lease.MaxTTL.Milliseconds()+1), tuple.New("site"), nil,
	} {
		_, err := m.repo.Call(h.Context(), space.OpID{}, "lease.grant", args)
		require.ErrorIs(h, err, fault.ErrInvalid, args)
	}
	l, err := m.grant("site", "b,a,b", lease.MaxTTL)
	require.NoError(h, err)
	require.Equal(h, []string{"a", "b"}, l.Parts)
	require.NoError(h, m.revoke(l.ID, l.Token))
}
