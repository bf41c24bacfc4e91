package cmd

import (
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
