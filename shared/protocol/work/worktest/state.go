package worktest

import (
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
)

// state is what the invariants restrict.
type state struct {
	leases  []models.Lease
	tasks   []entry // waiting, held by sessions, and in a back-off
	results []task.ResultTuple
	claims  []task.Claim
	dead    int
	totals  map[string]int64
}

type entry struct {
	task.Item
	ref    int64
	held   bool
	holder string
}

// state reads the spaces in one transaction, and then the totals.
func (f *fixture) state() state {
	f.Helper()
	var s state
	f.inspect(func(tx space.Tx) {
		s = state{dead: len(tx.Scan(task.Dead, task.AnyDead()))}
		for _, e := range tx.Scan(lease.Space, lease.Any()) {
			s.leases = append(s.leases, lease.Decode(e.Tuple))
		}
		for _, e := range append(tx.Scan(task.Space, task.Any()), tx.Held(task.Space, task.Any())...) {
			if i, err := task.DecodeEntry(e); err == nil {
				s.tasks = append(s.tasks, entry{Item: i, ref: e.Ref, held: e.Held, holder: e.Holder})
			}
		}
		for _, e := range append(tx.Scan(task.Result, task.AnyResult(dig)), tx.Held(task.Result, task.AnyResult(dig))...) {
			s.results = append(s.results, task.DecodeResult(e.Tuple))
		}
		for _, e := range tx.Scan(lease.Space, task.AnyClaim()) {
			s.claims = append(s.claims, task.DecodeClaim(e.Tuple))
		}
	})
	var err error
	s.totals, err = lease.Totals(f.Context(), f.admin)
	require.NoError(f, err)
	return s
}

// onlyTask returns the one task, waiting or held.
func (f *fixture) onlyTask() entry {
	f.Helper()
	s := f.state()
	require.Len(f, s.tasks, 1)
	return s.tasks[0]
}

// onlyDead returns the one dead letter.
func (f *fixture) onlyDead() task.DeadLetter {
	f.Helper()
	var dead task.DeadLetter
	f.inspect(func(tx space.Tx) {
		all := tx.Scan(task.Dead, task.AnyDead())
		require.Len(f, all, 1)
		var err error
		dead, err = task.DecodeDeadLetter(all[0])
		require.NoError(f, err)
	})
	return dead
}

// onlyLease returns the one live lease.
func (f *fixture) onlyLease() models.Lease {
	f.Helper()
	s := f.state()
	require.Len(f, s.leases, 1)
	return s.leases[0]
}

// broken returns the invariants that the state violates. They hold after every transaction: a
// task with a lease has its token, a held one a claim, and each claim is of a held task; a lease
// has a task or a final result; no part has two leases; and the totals account for all leases.
func (s state) broken() (wrong []string) {
	live := map[string]models.Lease{}
	for _, l := range s.leases {
		live[l.ID] = l
	}
	wrong = append(wrong, s.overlaps()...)
	for _, t := range s.tasks {
		if l, ok := live[t.Lease]; t.Lease != "" && (!ok || l.Token != t.Token) {
			wrong = append(wrong, fmt.Sprintf("task %s has the token %d, its lease is %+v", t.ID, t.Token, l))
		}
		if t.holder != "" && !slices.ContainsFunc(s.claims, t.shownBy) {
			wrong = append(wrong, fmt.Sprintf("task %s is held by %q, and has no claim", t.ID, t.holder))
		}
	}
	for _, l := range s.leases {
		if !s.works(l) {
			wrong = append(wrong, fmt.Sprintf("lease %+v has neither a task nor a final result", l))
		}
	}
	for _, c := range s.claims {
		if !slices.ContainsFunc(s.tasks, func(t entry) bool { return t.shownBy(c) }) {
			wrong = append(wrong, fmt.Sprintf("claim %+v is of a task that is not held", c))
		}
	}
	if s.totals[lease.Granted] != s.totals[lease.Revoked]+s.totals[lease.Expired]+int64(len(s.leases)) {
		wrong = append(wrong, fmt.Sprintf("%d leases live, the totals are %v", len(s.leases), s.totals))
	}
	return wrong
}

// overlaps finds parts with two leases.
func (s state) overlaps() (wrong []string) {
	owner := map[string]string{}
	for _, l := range s.leases {
		for _, part := range l.Parts {
			key := l.Subject + "/" + part
			if owner[key] != "" {
				wrong = append(wrong, fmt.Sprintf("%s has the leases %s and %s", key, owner[key], l.ID))
			}
			owner[key] = l.ID
		}
	}
	return wrong
}

// shownBy reports whether c is the claim of t and its current hold.
func (t entry) shownBy(c task.Claim) bool {
	return c.Task == t.ID && c.Worker == t.holder && c.Token == t.Token
}

// works reports whether a task or a final result will end l before its TTL.
func (s state) works(l models.Lease) bool {
	return slices.ContainsFunc(s.tasks, func(t entry) bool { return t.Lease == l.ID }) ||
		slices.ContainsFunc(s.results, func(o task.ResultTuple) bool { return o.Lease == l.ID && o.Final && o.Token == l.Token })
}
