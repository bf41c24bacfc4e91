package protocols_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/protocols"
	"leasehold/tup4fun/syntax"
)

func check(t testing.TB, m protocols.Model, o explore.Options) *explore.Report {
	t.Helper()
	p, err := syntax.Parse(m.Name, m.Source)
	require.NoError(t, err)
	compiled, err := explore.Compile(p, 0)
	require.NoError(t, err)
	r := explore.Check(t.Context(), compiled, o)
	return r
}

func TestProtocolsHoldAndTheirTwinsAreRefuted(t *testing.T) {
	t.Parallel()
	all, err := protocols.All()
	require.NoError(t, err)
	twins := map[string]int{}
	for _, m := range all {
		twins[m.Of()]++
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			r := check(t, m, explore.Options{Reduction: explore.FullReduction})
			require.Empty(t, r.Reason)
			var violated []string
			for _, v := range r.Verdicts {
				if v.Outcome != explore.Holds {
					violated = append(violated, v.Name)
					require.NotNil(t, v.Trace, v.Name)
				}
			}
			require.ElementsMatch(t, m.Refuted, violated)
		})
	}
	require.Len(t, twins, 13)
	for name, n := range twins {
		require.Greater(t, n, 1, "%s has no broken twin", name)
	}
}

func TestModelsAreFormatted(t *testing.T) {
	t.Parallel()
	all, err := protocols.All()
	require.NoError(t, err)
	for _, m := range all {
		text, err := syntax.Format(m.Name, m.Source)
		require.NoError(t, err)
		require.Equal(t, text, m.Source, m.Name)
	}
}

func Example() {
	all, err := protocols.All()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range all {
		if m.Of() == "lease" {
			fmt.Println(m.Name, strings.Join(m.Refuted, " "))
		}
	}
	// Output:
	// lease.broken-token queued fenced
	// lease.broken-ttl queued
	// lease
}
