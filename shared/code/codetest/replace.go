package codetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
)

// ReplaceBesideSearches replaces a repository's generation in a loop and calls maintain
// after each, until 100 searches beside it have each seen one generation.
func ReplaceBesideSearches(t *testing.T, x code.Searcher, maintain func() error) {
	generation := func(n int) tree {
		return tree{"first": fmt.Sprintf("needle %d\n", n), "second": fmt.Sprintf("%d needle\n", n)}
	}
	require.NoError(t, publish(x, "a", generation(0)))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() {
		var err error
		for n := 1; ctx.Err() == nil && err == nil; n++ {
			if err = publish(x, "a", generation(n)); err == nil {
				err = maintain()
			}
		}
		done <- err
	}()
	for range 100 {
		requireOneGeneration(t, x)
	}
	stop()
	require.NoError(t, <-done)
}

// requireOneGeneration searches once, and fails if the two files are not of one generation.
func requireOneGeneration(t *testing.T, x code.Searcher) {
	t.Helper()
	matches, stats := fixture{t, x}.search("needle", code.Options{})
	require.Empty(t, stats.Stopped)
	numbers := map[string]int{}
	for _, m := range matches {
		var n int
		_, err := fmt.Sscanf(m.Text, map[string]string{"first": "needle %d", "second": "%d needle"}[m.Path], &n)
		require.NoError(t, err, m.Text)
		numbers[m.Path] = n
	}
	require.Len(t, numbers, 2)
	require.Equal(t, numbers["first"], numbers["second"])
}
