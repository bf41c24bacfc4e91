package node

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/config"
	workercode "leasehold/worker/code"
)

func TestEveryKindAndActionOfTheTablesIsServed(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	flows := newFlows(config.Config{}, nil, nil, &indexer{}, nil, log)
	for _, kind := range models.VisitedKinds() {
		require.NotNil(t, flows[kind.Info().Flow], kind)
	}
	handlers, err := newHandlers(config.Config{Actions: models.ActionNames(), EpisodeBytes: 1 << 20}, t.TempDir(), nil, workercode.New(nil, nil, nil, log), log)
	require.NoError(t, err)
	for _, name := range models.ActionNames() {
		action, ok := models.ActionNamed(name)
		require.True(t, ok)
		require.NotNil(t, handlers[name], name)
		require.NotNil(t, flows[action.Flow], name)
	}
}
