package worktest

import (
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/status"
	"leasehold/shared/tuple"
	"leasehold/shared/work"
)

var capacityScenarios = []scenario{
	{"TwoManagersAtTheCapacityCheckWithoutWorkers", func(h *house) { twoManagers(h, 0, 0) }},
	{"TwoManagersAtTheCapacityCheck", func(h *house) { twoManagers(h, 3, 3) }},
	{"HungryManagerWakesWhenThereIsRoom", hungryWakes},
	{"HungryManagerTakesResultsFirst", resultsFirst},
	{"SlotsOfStrangersHaveBounds", strangersSlots},
}

// twoManagers has room for one more task when so many wait for so many slots.
func twoManagers(h *house, slots, waiting int) {
	m1, m2 := h.manager("manager-1"), h.manager("manager-2")
	if slots > 0 {
		h.worker("worker-1", slots)
	}
	for n := range waiting {
		m1.issue(toDig("site", string(rune('a'+n))), 0)
	}
	issued := make(chan bool)
	seen := m1.look()
	for n, m := range []*actor{m1, m2} {
		go func() {
			ok, err := m.work.Issue(h.Context(), seen, toDig("site", string(rune('x'+n))), 0)
			issued <- ok && err == nil
		}()
	}
	require.NotEqual(h, receive(h, issued), receive(h, issued), "exactly one more is added")
	require.Len(h, h.state().tasks, waiting+1)
	require.Len(h, h.state().leases, waiting+1)
}

// hungry starts to wait for room.
func (a *actor) hungry() chan work.Step {
	steps := make(chan work.Step, 1)
	go func() {
		if s, err := a.work.Next(a.h.Context(), dig, true); err == nil {
			steps <- s
		}
	}()
	a.h.pass(time.Second)
	return steps
}

func hungryWakes(h *house) {
	m := h.manager("manager-1")
	require.Nil(h, receive(h, m.hungry()).Result)
	m.issue(toDig("site", "a"), 0)

	steps := m.hungry()
	require.Empty(h, steps, "one waits, and nobody serves")
	w := h.worker("worker-1", 1)
	require.Nil(h, receive(h, steps).Result, "somebody serves")
	m.issue(toDig("site", "b"), 0)

	steps = m.hungry()
	require.Empty(h, steps, "two wait for one slot")
	w.claim()
	require.Nil(h, receive(h, steps).Result, "one was claimed")
	m.issue(toDig("site", "c"), 0)

	steps = m.hungry()
	require.Empty(h, steps)
	h.pass(queueTTL)
	require.Nil(h, receive(h, steps).Result, "those that waited went with their leases")
}

func resultsFirst(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	m.issue(toDig("site", "a"), 0)
	i := w.claim()
	require.NoError(h, w.report(i, "a", true))
	step := receive(h, m.hungry())
	require.NotNil(h, step.Result, "though there is room")
	require.NoError(h, m.work.Ingested(h.Context(), step.Result))
	require.ErrorIs(h, m.work.Ingested(h.Context(), step.Result), fault.ErrStaleToken)
}

func strangersSlots(h *house) {
	m := h.manager("manager-1")
	for _, slots := range []int64{-5, 0, -1 << 63, 1<<63 - 1, 1<<63 - 1} {
		h.put(status.Space, tuple.New("serves", "foreign:1", dig, slots))
	}
	for n := range 3 {
		m.issue(toDig("site", string(rune('a'+n))), 0)
	}
}
