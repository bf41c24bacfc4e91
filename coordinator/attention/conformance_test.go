package attention_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator"
	"leasehold/models"
)

// checked is what a check of the trace found.
type checked struct {
	found atomic.Pointer[models.Conformance]
}

func (c *checked) Conformance() models.Conformance { return *c.found.Load() }

func TestDeviationsAndChecksThatAreBehindAreShown(t *testing.T) {
	t.Parallel()
	check := &checked{}
	check.found.Store(&models.Conformance{})
	inBubble(t, func(c *coordinator.Config) { c.Attention.Check = check }, func(f *fixture) {
		set := func(c models.Conformance) { check.found.Store(&c) }
		set(models.Conformance{Behind: 100_000})
		require.Empty(f, f.items(models.CauseDeviates))
		require.Empty(f, f.items(models.CauseUnchecked))

		set(models.Conformance{Behind: 100_001, Waits: map[string]string{"lease": "events are missing"}})
		items := f.items(models.CauseUnchecked)
		require.Len(f, items, 2)
		require.Equal(f, "The trace is not checked against the model lease: events are missing", items[0].Text)
		require.Equal(f, "The check of the trace is behind by 100001 events", items[1].Text)
		require.Equal(f, models.ToKnow, items[0].Severity)

		set(models.Conformance{Problem: "it ended", Behind: 200_000})
		require.Equal(f, "The trace is not checked: it ended", f.only(models.CauseUnchecked).Text)

		first := models.Deviation{Model: "task", Seq: 7, Why: "no step explains this", Text: "worker-1\n put " + strings.Repeat("x", 10_000)}
		set(models.Conformance{Trace: "/data/my trace.jsonl", Deviations: []models.Deviations{{First: first, Count: 2}}})
		i := f.only(models.CauseDeviates)
		require.Equal(f, models.Degrades, i.Severity)
		require.Equal(f, "The coordinator did what its model task forbids, at event 7: no step explains this", i.Text)
		require.True(f, strings.HasPrefix(i.Detail, "worker-1 put xxx"))
		require.Equal(f, "leasehold tup4fun conform --model task '/data/my trace.jsonl'", i.Command)
		require.NoError(f, f.c.Watcher().Dismiss(i.ID))
		require.Empty(f, f.items(models.CauseDeviates))
		set(models.Conformance{Deviations: []models.Deviations{{First: first, Count: 3}}})
		require.Equal(f, int64(3), f.only(models.CauseDeviates).Count, "a further deviation is shown again")
	})
}
