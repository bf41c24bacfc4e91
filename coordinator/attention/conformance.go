package attention

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"leasehold/models"
)

// maxBehind is how many events the check of the trace may be behind without an item.
const maxBehind = 100_000

// conformance finds what the coordinator did although a model forbids it, and that its trace is not checked.
func (w *Watcher) conformance(context.Context, time.Time) (items []models.Attention, err error) {
	if w.Check == nil {
		return nil, nil
	}
	c := w.Check.Conformance()
	for _, d := range c.Deviations {
		items = append(items, models.Attention{
			Cause: models.CauseDeviates, Severity: models.Degrades, About: d.First.Model, Count: d.Count,
			Text:    fmt.Sprintf("The coordinator did what its model %s forbids, at event %d: %s", name(d.First.Model), d.First.Seq, d.First.Why),
			Detail:  d.First.Text,
			Command: "leasehold tup4fun conform --model " + word(d.First.Model) + " " + word(c.Trace), Remedy: seen(),
		})
	}
	unchecked := func(about, text, detail string) {
		items = append(items, models.Attention{
			Cause: models.CauseUnchecked, Severity: models.ToKnow, About: about, Count: 1,
			Text: text, Detail: detail, Command: "leasehold log", Remedy: seen(),
		})
	}
	if c.Problem != "" {
		unchecked("trace", "The trace is not checked: "+c.Problem, "")
	} else if c.Behind > maxBehind {
		unchecked("trace", fmt.Sprintf("The check of the trace is behind by %s", count(int64(c.Behind), "event")), "Deviations are found later.")
	}
	for _, model := range slices.Sorted(maps.Keys(c.Waits)) {
		unchecked(model, fmt.Sprintf("The trace is not checked against the model %s: %s", name(model), c.Waits[model]),
			"The check goes on at the next quiet point, when the spaces have at most 10,000 tuples, or after a restart.")
	}
	return items, nil
}
