package conformance

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space/trace"
	"leasehold/tup4fun/conform"
)

// demos are the example programs, each with a model, a map, and the log of one run.
var demos = []string{"philosophers/philosophers", "philosophers/tickets", "mergesort/mergesort"}

func TestTheLogsOfTheDemosConform(t *testing.T) {
	t.Parallel()
	for _, demo := range demos {
		folder, name := filepath.Split(filepath.Join("../../examples", demo))
		log, err := os.ReadFile(filepath.Join(folder, name+".jsonl"))
		require.NoError(t, err)
		r, err := checker(t, folder, name).Check(t.Context(), name+".jsonl", bytes.NewReader(log))
		require.NoError(t, err)
		var text bytes.Buffer
		require.NoError(t, r.Text(&text))
		require.Equal(t, conform.Conforms, r.Outcome, text.String())
		require.Greater(t, r.Explained, r.Events/2)
	}
}

// tampered are ways to tamper with operation i: remove it, assign it to another session,
// or swap it with the next of its session. The test leaves out the second half of a log,
// because a removed event there may only look late. nil means that the change is not
// possible there.
var tampered = map[string]func(events []trace.Event, i int) []trace.Event{
	"gone": func(events []trace.Event, i int) []trace.Event {
		return slices.Delete(events, i, i+1)
	},
	"of somebody else": func(events []trace.Event, i int) []trace.Event {
		j := slices.IndexFunc(events, func(e trace.Event) bool {
			return e.Process != "" && e.Process != events[i].Process && e.Clock <= events[i].Clock
		})
		if j < 0 {
			return nil
		}
		events[i].Process, events[i].Role = events[j].Process, events[j].Role
		return events
	},
	"swapped": func(events []trace.Event, i int) []trace.Event {
		j := i + 1 + slices.IndexFunc(events[i+1:], func(e trace.Event) bool { return e.Process == events[i].Process && e.Space != "" })
		if j == i || events[i].Operation == trace.Expire || withoutTime(events[i]) == withoutTime(events[j]) || events[i].Role == "table" || events[i].Role == "main" || events[i].Procedure != "" && events[i].Procedure == events[j].Procedure {
			return nil // the result could be a log of the program
		}
		events[i].Clock, events[j].Clock = events[j].Clock, events[i].Clock
		events[i], events[j] = events[j], events[i]
		return events
	},
}

func TestTamperedLogsOfTheDemosDoNotConform(t *testing.T) {
	t.Parallel()
	for _, demo := range demos {
		folder, name := filepath.Split(filepath.Join("../../examples", demo))
		log, err := os.Open(filepath.Join(folder, name+".jsonl"))
		require.NoError(t, err)
		defer log.Close() // opened only for reading
		var events []trace.Event
		require.NoError(t, trace.Read(log, func(e trace.Event) error { events = append(events, e); return nil }))
		c := []*conform.Checker{checker(t, folder, name)}
		for how, tamper := range tampered {
			made := 0
			for i, e := range events[:len(events)/2] {
				if e.Space == "" {
					continue
				}
				mutant := tamper(slices.Clone(events), i)
				if mutant == nil {
					continue
				}
				made++
				require.NotEmpty(t, verdict(t, c, mutant), "%s: line %d is %s: %s", demo, i+1, how, fmt.Sprint(e))
			}
			t.Logf("%s: %d %s, all rejected", demo, made, how)
		}
	}
}
