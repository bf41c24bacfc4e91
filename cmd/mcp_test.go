package cmd

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/api/types"
)

func TestAnAssistantIsToldThatASearchWithoutMatchesWasStopped(t *testing.T) {
	t.Parallel()
	for stopped, want := range map[string]string{
		"":       "no match (repositories searched: 3)",
		"time":   "(stopped at the limit of time: there may be more matches)\n",
		"memory": "(stopped at the limit of memory: there may be more matches)\n",
	} {
		require.Equal(t, want, endForAssistant(types.SearchEnd{Repos: 3, Stopped: stopped}))
	}
}

func TestASearchTellsOfHowManyMatchesTheFirstAreTheBest(t *testing.T) {
	t.Parallel()
	require.Equal(t, "(the best of the first 70 matches found, not of all)\n", endForAssistant(types.SearchEnd{Matches: 50, RankedOf: 70}))
	var told strings.Builder
	(&app{err: &told}).reportSearchEnd(types.SearchEnd{Matches: 50, RankedOf: 70}, searchOptions{})
	require.Equal(t, "the first matches are the best of the first 70 found, not of all; narrow the query\n", told.String())
}
