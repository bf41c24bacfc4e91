package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/space/trace"
	"leasehold/tup4fun/conform"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

func TestWhoDiesOrIsLateChangesNothing(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		s := sorter{workers: 2, dead: 1, slow: 2, lease: time.Second, log: trace.NewWriter(&log)}
		numbers := []int{5, 3, 9, 1, 5, 8, 2, 7}
		sorted, err := s.sort(t.Context(), numbers)
		require.NoError(t, err)
		slices.Sort(numbers)
		require.Equal(t, numbers, sorted)
		require.EqualValues(t, 2, s.late.Load())
	})
	model, err := os.ReadFile("mergesort.tup")
	require.NoError(t, err)
	mapping, err := os.ReadFile("mergesort.map")
	require.NoError(t, err)
	c, err := conform.Load("mergesort.tup", string(model), "mergesort.map", strings.Replace(string(mapping), "N = 6", "N = 8", 1), conform.Options{})
	require.NoError(t, err)
	r, err := c.Check(t.Context(), "trace.jsonl", bytes.NewReader(log.Bytes()))
	require.NoError(t, err)
	require.Equal(t, conform.Conforms, r.Outcome, "%+v", r.Violation)
	puts := 0
	require.NoError(t, trace.Read(&log, func(e trace.Event) error {
		if e.Procedure == "sort.merge" && e.Operation == "put" {
			puts++
		}
		return nil
	}))
	require.Equal(t, 7, puts, "each merge counts once")
}

func TestAnyNumbersAreSorted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		numbers := rapid.SliceOfN(rapid.IntRange(-9, 9), 1, 20).Draw(rt, "numbers")
		s := sorter{workers: rapid.IntRange(1, 3).Draw(rt, "workers"), lease: time.Hour}
		sorted, err := s.sort(t.Context(), numbers)
		require.NoError(rt, err)
		slices.Sort(numbers)
		require.Equal(rt, numbers, sorted)
	})
}

func TestTheModelHoldsAndItsBrokenTwinsDoNot(t *testing.T) {
	t.Parallel()
	for name, violated := range map[string]string{"mergesort.tup": "", "mergesort.broken-halves.tup": "deadlockfree", "mergesort.broken-late.tup": "conserved"} {
		src, err := os.ReadFile(name)
		require.NoError(t, err)
		p, err := syntax.Parse(name, string(src))
		require.NoError(t, err)
		m, err := explore.Compile(p, 0)
		require.NoError(t, err)
		r := explore.Check(t.Context(), m, explore.Options{Reduction: explore.FullReduction, Cores: 1})
		for _, v := range r.Verdicts {
			if violated == "" || v.Name == violated {
				require.Equal(t, violated == "", v.Outcome == explore.Holds, "%s: %s", name, v.Name)
			}
		}
	}
}

func TestTheProgramSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args   []string
		code   int
		output string
	}{
		{[]string{"-numbers", "0"}, 2, "want -numbers of 1 to 10000"},
		{[]string{"-numbers", "5", "-dead", "2", "-slow", "1"}, 2, "at least twice -dead plus -slow"},
		{[]string{"x"}, 2, "no other arguments"},
		{[]string{"-trace", "/none/t.jsonl"}, 1, "no such file"},
		{[]string{"-numbers", "3", "-trace", filepath.Join(t.TempDir(), "t.jsonl")}, 0, "0 merges were late"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			require.Equal(t, c.code, run(context.Background(), c.args, &out), out.String())
			require.Contains(t, out.String(), c.output)
		})
	}
}
