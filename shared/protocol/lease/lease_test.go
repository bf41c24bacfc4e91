package lease_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/tuple"
)

// fixture is an engine with the protocol, and a session that runs functions as procedures.
type fixture struct {
	*testing.T
	repo space.Repository
	do   func(space.Tx) error // what the procedure "do" does
}

func withFixture(t *testing.T, run func(*fixture)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{T: t}
		do := func(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) { return nil, f.do(tx) }
		e, err := engine.Open(t.Context(), engine.Config{
			Journal:    &journal.Memory{},
			Procedures: spacetest.FailWrites(space.Join(lease.Procedures(), space.Procedures{"do": do}), t.Errorf),
		})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		defer func() { stop(); require.NoError(t, <-done) }()
		f.repo, err = e.Session(t.Context(), "manager-1", 0)
		require.NoError(t, err)
		for _, d := range lease.Spaces() {
			require.NoError(t, f.repo.Create(t.Context(), d.Name, d.Options))
		}
		run(f)
	})
}

// try runs a function in a transaction. Each of its writes fails once before.
func (f *fixture) try(do func(space.Tx) error) error {
	f.do = do
	_, err := f.repo.Call(f.Context(), space.OpID{}, "do", nil)
	return err
}

func (f *fixture) grant(terms lease.Terms) (l models.Lease, err error) {
	err = f.try(func(tx space.Tx) (err error) { l, err = lease.Grant(tx, terms); return err })
	return l, err
}

// all returns the leases, by id.
func (f *fixture) all() map[string]models.Lease {
	f.Helper()
	found, err := f.repo.Space(lease.Space).QueryAll(f.Context(), lease.Any())
	require.NoError(f, err)
	all := map[string]models.Lease{}
	for _, t := range found {
		l := lease.Decode(t)
		all[l.ID] = l
	}
	return all
}

func TestTermsAtTheirBoundsAreGrantedAndBeyondThemRefused(t *testing.T) {
	withFixture(t, func(f *fixture) {
		for subject, ttl := range map[string]time.Duration{"shortest": time.Nanosecond, "longest": lease.MaxTTL} {
			l, err := f.grant(lease.Terms{Subject: subject, Parts: []string{"b", "a", "b"}, TTL: ttl})
			require.NoError(f, err)
			require.Equal(f, []string{"a", "b"}, l.Parts, "sorted, each once")
			require.Equal(f, "manager-1", l.Holder)
			require.WithinDuration(f, time.Now().Add(ttl), l.Deadline, 0)
		}
		for says, terms := range map[string]lease.Terms{
			"TTL 0s":      {Subject: "s"},
			"TTL -1ns":    {Subject: "s", TTL: -1},
			"at most":     {Subject: "s", TTL: lease.MaxTTL + 1},
			`subject ""`:  {TTL: time.Hour},
			`part "a b"`:  {Subject: "s", Parts: []string{"a", "a b"}, TTL: time.Hour},
			`subject "-`:  {Subject: "-\n", TTL: time.Hour},
			`part "\xff"`: {Subject: "s", Parts: []string{"\xff"}, TTL: time.Hour},
		} {
			_, err := f.grant(terms)
			require.ErrorIs(f, err, fault.ErrInvalid, says)
			require.ErrorContains(f, err, says)
		}
		l, err := f.grant(lease.Terms{Subject: "s", TTL: time.Hour})
		require.NoError(f, err)
		for _, ttl := range []time.Duration{0, -1, lease.MaxTTL + 1} {
			require.ErrorIs(f, f.try(func(tx space.Tx) error { return lease.Extend(tx, l.ID, l.Token, ttl) }), fault.ErrInvalid, ttl)
		}
		require.NoError(f, f.try(func(tx space.Tx) error { return lease.Extend(tx, l.ID, l.Token, lease.MaxTTL) }))
	})
}

func TestLeasesWithAPartInCommonOverlap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b []string
		want bool
	}{
		{nil, nil, true}, {nil, []string{"a"}, true},
		{[]string{"a"}, []string{"a"}, true}, {[]string{"a"}, []string{"b"}, false},
		{[]string{"a", "c", "e"}, []string{"b", "d", "f"}, false}, {[]string{"a", "c", "e"}, []string{"b", "d", "e"}, true},
		{[]string{"a", "b", "c"}, []string{"c", "d"}, true}, {[]string{"a"}, []string{"a", "b", "c"}, true},
	} {
		require.Equal(t, c.want, lease.Overlap(c.a, c.b), "%v", c)
		require.Equal(t, c.want, lease.Overlap(c.b, c.a), "%v", c)
	}
}

func TestOnlyTheCurrentTokenExtendsRaisesAndEndsALease(t *testing.T) {
	withFixture(t, func(f *fixture) {
		l, err := f.grant(lease.Terms{Subject: "s", Parts: []string{"a"}, TTL: time.Hour})
		require.NoError(f, err)
		kept, err := f.grant(lease.Terms{Subject: "s", Parts: []string{"b"}, TTL: time.Hour})
		require.NoError(f, err)
		_, err = f.grant(lease.Terms{Subject: "s", TTL: time.Hour})
		require.ErrorIs(f, err, fault.ErrConflict)
		before := f.all()
		for want, do := range map[error]func(tx space.Tx, id string, token int64) error{
			fault.ErrInvalid: func(tx space.Tx, id string, token int64) error { return lease.Raise(tx, id, token, token) },
			nil:              func(tx space.Tx, id string, token int64) error { return lease.Raise(tx, id, token+100, token+101) },
		} {
			require.ErrorIs(f, f.try(func(tx space.Tx) error { return do(tx, l.ID, l.Token) }), want)
		}
		for _, do := range []func(tx space.Tx, id string, token int64) error{
			lease.Revoke,
			func(tx space.Tx, id string, token int64) error { return lease.Extend(tx, id, token, time.Hour) },
		} {
			require.ErrorIs(f, f.try(func(tx space.Tx) error { return do(tx, l.ID, l.Token+100) }), fault.ErrStaleToken)
			require.ErrorIs(f, f.try(func(tx space.Tx) error { return do(tx, "l100", l.Token) }), fault.ErrNotFound)
		}
		require.NoError(f, f.try(func(tx space.Tx) error { return lease.End(tx, l.ID, l.Token+100) }))
		require.NoError(f, f.try(func(tx space.Tx) error { return lease.End(tx, "l100", l.Token) }))
		require.Equal(f, before, f.all(), "nothing has changed")

		raised := l.Token + 10
		require.NoError(f, f.try(func(tx space.Tx) error { return lease.Raise(tx, l.ID, l.Token, raised) }))
		require.ErrorIs(f, f.try(func(tx space.Tx) error { return lease.Extend(tx, l.ID, l.Token, time.Hour) }), fault.ErrStaleToken)
		<-time.After(time.Minute)
		require.NoError(f, f.try(func(tx space.Tx) error { return lease.Extend(tx, l.ID, raised, time.Hour) }))
		require.Equal(f, raised, f.all()[l.ID].Token)
		require.WithinDuration(f, time.Now().Add(time.Hour), f.all()[l.ID].Deadline, 0)
		require.NoError(f, f.try(lease.CountLate))
		require.NoError(f, f.try(func(tx space.Tx) error { return lease.End(tx, l.ID, raised) }))
		require.NotContains(f, f.all(), l.ID)
		<-time.After(time.Hour - time.Minute - time.Nanosecond)
		require.Contains(f, f.all(), kept.ID)
		<-time.After(time.Nanosecond)
		synctest.Wait()
		require.Empty(f, f.all(), "its TTL is over")
		totals, err := lease.Totals(f.Context(), f.repo)
		require.NoError(f, err)
		require.Equal(f, map[string]int64{lease.Granted: 2, lease.Extended: 1, lease.Revoked: 1, lease.Expired: 1, lease.Late: 1}, totals)
	})
}

// A client in another language counts in milliseconds. 64 bits hold more of them than a time.Duration can.
func TestTTLsInMillisecondsAreGrantedUpToTheLongestAndNoneOverflows(t *testing.T) {
	withFixture(t, func(f *fixture) {
		call := func(procedure string, args ...any) (models.Lease, error) {
			reply, err := f.repo.Call(f.Context(), space.OpID{}, procedure, tuple.New(args...))
			if err != nil || procedure != "lease.grant" {
				return models.Lease{}, err
			}
			return lease.Decode(reply), nil
		}
		longest := lease.MaxTTL.Milliseconds()
		l, err := call("lease.grant", "longest", "", longest)
		require.NoError(f, err)
		_, err = call("lease.extend", l.ID, l.Token, int64(1))
		require.NoError(f, err)
		for _, ttl := range []int64{0, -1, longest + 1, math.MaxInt64, math.MinInt64, math.MaxInt64/1_000_000 + 2} {
			_, err := call("lease.grant", "s", "a,b", ttl)
			require.ErrorIs(f, err, fault.ErrInvalid, ttl)
			_, err = call("lease.extend", l.ID, l.Token, ttl)
			require.ErrorIs(f, err, fault.ErrInvalid, ttl)
		}
		current, ok, err := lease.Current(f.Context(), f.repo, l.ID)
		require.NoError(f, err)
		require.True(f, ok)
		require.Equal(f, "longest", current.Subject)
		<-time.After(time.Millisecond)
		synctest.Wait()
		_, ok, err = lease.Current(f.Context(), f.repo, l.ID)
		require.NoError(f, err)
		require.False(f, ok)
		ended, end := context.WithCancel(f.Context())
		end()
		_, _, err = lease.Current(ended, f.repo, l.ID)
		require.ErrorIs(f, err, context.Canceled)
		_, err = lease.Totals(ended, f.repo)
		require.ErrorIs(f, err, context.Canceled)
	})
}

// A session that could end the TTL of a lease would take work from another manager.
func TestASessionCannotExpireALease(t *testing.T) {
	withFixture(t, func(f *fixture) {
		l, err := f.grant(lease.Terms{Subject: "s", TTL: time.Hour})
		require.NoError(f, err)
		for ref := range int64(9) { // of the lease and of the total among them
			for _, args := range []tuple.Tuple{nil, tuple.New(ref, "ttl", ""), tuple.New(ref, "ttl", "manager-1")} {
				_, err := f.repo.Call(f.Context(), space.OpID{}, "lease.expire", args)
				require.ErrorIs(f, err, fault.ErrInvalid)
			}
		}
		require.Contains(f, f.all(), l.ID)
	})
}
