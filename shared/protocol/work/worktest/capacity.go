package worktest

import (
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/work"
)

var capacityScenarios = []scenario{
	{"TwoManagersAtTheCapacityCheckWithoutWorkers", func(f *fixture) { twoManagers(f, 0, 0) }},
	{"TwoManagersAtTheCapacityCheck", func(f *fixture) { twoManagers(f, 3, 3) }},
	{"ManagerThatWantsCapacityWakesWhenThereIsSome", capacityWakes},
	{"ManagerThatWantsCapacityTakesResultsFirst", resultsFirst},
}

// twoManagers has two managers issue at once while there is capacity for one more task,
// with this many slots and waiting tasks.
func twoManagers(f *fixture, slots, waiting int) {
	m1, m2 := f.manager("manager-1"), f.manager("manager-2")
	if slots > 0 {
		f.worker("worker-1", slots)
	}
	for n := range waiting {
		m1.issue(toDig("site", string(rune('a'+n))), 0)
	}
	issued := make(chan bool)
	seen := m1.inProgress()
	for n, m := range []*session{m1, m2} {
		go func() {
			ok, err := m.work.Issue(f.Context(), seen, toDig("site", string(rune('x'+n))), 0)
			issued <- ok && err == nil
		}()
	}
	require.NotEqual(f, receive(f, issued), receive(f, issued), "exactly one more is added")
	require.Len(f, f.state().tasks, waiting+1)
	require.Len(f, f.state().leases, waiting+1)
}

// waitForCapacity starts to wait for capacity in a goroutine, and returns after the call is
// pending. The channel gets its answer, and nothing after an error.
func (s *session) waitForCapacity() chan work.Step {
	steps := make(chan work.Step, 1)
	go func() {
		if step, err := s.work.Next(s.f.Context(), dig, true); err == nil {
			steps <- step
		}
	}()
	s.f.pass(time.Second)
	return steps
}

// capacityWakes checks that a manager that waits for capacity goes on when a worker begins to
// serve, claims a task, or when waiting tasks end with their leases.
func capacityWakes(f *fixture) {
	m := f.manager("manager-1")
	require.Nil(f, receive(f, m.waitForCapacity()).Result)
	m.issue(toDig("site", "a"), 0)

	steps := m.waitForCapacity()
	require.Empty(f, steps, "one waits, and no worker serves")
	w := f.worker("worker-1", 1)
	require.Nil(f, receive(f, steps).Result, "a worker serves")
	m.issue(toDig("site", "b"), 0)

	steps = m.waitForCapacity()
	require.Empty(f, steps, "two wait for one slot")
	w.claim()
	require.Nil(f, receive(f, steps).Result, "one was claimed")
	m.issue(toDig("site", "c"), 0)

	steps = m.waitForCapacity()
	require.Empty(f, steps)
	f.pass(queueTTL)
	require.Nil(f, receive(f, steps).Result, "the waiting tasks ended with their leases")
}

// resultsFirst checks that a manager that waits for capacity gets a waiting result first, although there is capacity
// too.
func resultsFirst(f *fixture) {
	w, m := f.worker("worker-1", 1), f.manager("manager-1")
	m.issue(toDig("site", "a"), 0)
	i := w.claim()
	require.NoError(f, w.report(i, "a", true))
	step := receive(f, m.waitForCapacity())
	require.NotNil(f, step.Result, "although there is capacity")
	require.NoError(f, m.work.Ingested(f.Context(), step.Result))
	require.ErrorIs(f, m.work.Ingested(f.Context(), step.Result), fault.ErrStaleToken)
}
