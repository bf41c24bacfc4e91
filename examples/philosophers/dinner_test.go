package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space/trace"
	"leasehold/tup4fun/conform"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

// dine runs a dinner in fake time and checks its log against its model.
func dine(t *testing.T, tickets bool, model string) (meals int, events []trace.Event, err error) {
	t.Helper()
	var log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		d := dinner{seats: 5, rounds: 3, tickets: tickets, pause: time.Millisecond, mealTimeout: time.Second, log: trace.NewWriter(&log)}
		meals, err = d.run(t.Context())
		require.NoError(t, d.log.Err())
	})
	requireConforms(t, model, log.Bytes())
	require.NoError(t, trace.Read(&log, func(e trace.Event) error { events = append(events, e); return nil }))
	return meals, events, err
}

// requireConforms checks a log against a model.
func requireConforms(t *testing.T, model string, log []byte) {
	t.Helper()
	program, err := os.ReadFile(model + ".tup")
	require.NoError(t, err)
	mapping, err := os.ReadFile(model + ".map")
	require.NoError(t, err)
	c, err := conform.Load(model+".tup", string(program), model+".map", string(mapping), conform.Options{})
	require.NoError(t, err)
	r, err := c.Check(t.Context(), "trace.jsonl", bytes.NewReader(log))
	require.NoError(t, err)
	require.Equal(t, conform.Conforms, r.Outcome, "%+v", r.Violation)
}

// onForks counts the operations of philosophers on forks.
func onForks(events []trace.Event, operation string) (n int) {
	for _, e := range events {
		if e.Space == "Fork" && e.Role == "philosopher" && e.Operation == operation {
			n++
		}
	}
	return n
}

func TestWithoutTicketsAllHoldOneForkForEver(t *testing.T) {
	t.Parallel()
	meals, events, err := dine(t, false, "philosophers")
	require.ErrorIs(t, err, errDeadlock)
	require.Zero(t, meals)
	require.Equal(t, 5, onForks(events, "get"))
	require.Zero(t, onForks(events, "put"))
}

func TestWithTicketsEverybodyEats(t *testing.T) {
	t.Parallel()
	meals, events, err := dine(t, true, "tickets")
	require.NoError(t, err)
	require.Equal(t, 15, meals)
	require.Equal(t, 30, onForks(events, "get"))
	require.Equal(t, 30, onForks(events, "put"))
}

func TestTheModelsSayWhatTheProgramDoes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]explore.Outcome{"philosophers.tup": explore.Violated, "tickets.tup": explore.Holds} {
		src, err := os.ReadFile(name)
		require.NoError(t, err)
		p, err := syntax.Parse(name, string(src))
		require.NoError(t, err)
		m, err := explore.Compile(p, 0)
		require.NoError(t, err)
		r := explore.Check(t.Context(), m, explore.Options{Reduction: explore.FullReduction, Cores: 1})
		require.Equal(t, want, r.Outcome, name)
	}
}

func TestTheProgramSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args   []string
		code   int
		output string
	}{
		{[]string{"-rounds", "0"}, 2, "want -rounds of 1 or more"},
		{[]string{"-forks"}, 2, "flag provided but not defined"},
		{[]string{"-trace", "/none/t.jsonl"}, 1, "no such file"},
		{[]string{"-tickets", "-rounds", "2", "-trace", filepath.Join(t.TempDir(), "t.jsonl")}, 0, "10 meals were eaten"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			require.Equal(t, c.code, run(context.Background(), c.args, &out), out.String())
			require.Contains(t, out.String(), c.output)
		})
	}
}
