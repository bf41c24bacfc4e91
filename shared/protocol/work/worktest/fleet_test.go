package worktest

import (
	"maps"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
)

func (f *fleet) workerGoes(r *rapid.T) {
	w := one(r, f.workers)
	f.goes(r, w.session)
	for _, i := range w.items {
		f.gone = append(f.gone, i.Item)
	}
	delete(f.workers, w.repo.Session())
	f.hire(r)
}

func (f *fleet) managerGoes(r *rapid.T) {
	m := one(r, f.managers)
	f.goes(r, m.session)
	delete(f.managers, m.repo.Session())
	f.open()
}

func (f *fleet) goes(r *rapid.T, s *session) {
	if rapid.Bool().Draw(r, "in order") {
		s.closeInOrder()
	} else {
		s.kill()
	}
}

func (f *fleet) hold(r *rapid.T) {
	if f.waits() == 0 {
		r.SkipNow()
	}
	m := one(r, f.managers)
	m.results = append(m.results, m.session.holdResult())
}

func (f *fleet) ingest(r *rapid.T) {
	busy := maps.Clone(f.managers)
	maps.DeleteFunc(busy, func(_ string, m *clerk) bool { return len(m.results) == 0 })
	m := one(r, busy)
	o := m.results[0].ResultTuple
	f.done[o.Subject] = append(f.done[o.Subject], lease.SplitParts(o.Part)...) // the catalog first
	if rapid.IntRange(0, 3).Draw(r, "reports ingested") == 0 {
		return
	}
	if err := m.work.Ingested(f.fixture.Context(), m.results[0]); err != nil {
		require.ErrorIs(r, err, fault.ErrStaleToken)
	}
	m.results = m.results[1:]
}

func (f *fleet) reviveStuck(r *rapid.T) {
	require.NoError(r, one(r, f.managers).task.ReviveStuck(f.fixture.Context(), dig))
}

func (f *fleet) pass(r *rapid.T) {
	f.fixture.pass(rapid.SampledFrom([]time.Duration{time.Second, backoff, taskTimeout, queueTTL, leaseTTL}).Draw(r, "d"))
}

// waits counts the results that a manager could hold.
func (f *fleet) waits() int { return f.fixture.count(task.Result, task.AnyResult(dig)) }

// check checks the invariants after every step.
func (f *fleet) check(r *rapid.T) {
	s := f.fixture.state()
	require.Empty(r, s.broken())
	for _, t := range s.tasks {
		require.LessOrEqual(r, t.Attempts, f.fixture.policy.Task.MaxAttempts)
		require.GreaterOrEqual(r, t.Token, f.tokens[t.ID], "tokens never decrease")
		f.tokens[t.ID] = t.Token
	}
	for _, l := range s.leases {
		require.GreaterOrEqual(r, l.Token, f.tokens[l.ID])
		f.tokens[l.ID] = l.Token
	}
	f.covered(r, s)
}

// covered checks that InProgress names every subject with a lease or a result, so that no manager issues it again,
// and no other subject.
func (f *fleet) covered(r *rapid.T, s state) {
	for _, m := range f.managers {
		reserved := m.reserved()
		for _, t := range s.tasks {
			require.Subset(r, reserved[t.Subject], t.Parts)
		}
		for _, o := range s.results {
			require.Contains(r, reserved, o.Subject)
		}
		subjects := map[string]bool{}
		for _, l := range s.leases {
			subjects[l.Subject] = true
		}
		for _, o := range s.results {
			subjects[o.Subject] = true
		}
		require.ElementsMatch(r, slices.Collect(maps.Keys(subjects)), slices.Collect(maps.Keys(reserved)), "all else is selectable")
		return
	}
}

// finish replaces all sessions by one good worker and one good manager, and checks that
// all work ends.
func (f *fleet) finish(r *rapid.T) {
	for _, id := range slices.Sorted(maps.Keys(f.workers)) {
		f.workers[id].kill()
	}
	for _, id := range slices.Sorted(maps.Keys(f.managers)) {
		f.managers[id].kill()
	}
	w, m := f.fixture.worker("worker-good", 1), f.fixture.manager("manager-good")
	for range 2 {
		f.fixture.pass(2 * time.Hour) // no hold or back-off lasts longer unless it is extended
		for i, ok := w.tryClaim(); ok; i, ok = w.tryClaim() {
			require.NoError(r, w.report(i, "", true))
		}
		for f.waits() > 0 {
			m.ingestResult()
		}
	}
	s := f.fixture.state()
	require.Empty(r, s.tasks)
	require.Empty(r, s.leases)
	require.Empty(r, s.results)
	require.Empty(r, s.claims)
}
