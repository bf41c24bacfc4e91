package node

import (
	"bytes"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/datadir"
)

func TestACoordinatorWaitsTwoSecondsForADataFolderThatIsInUse(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load(nil)
	require.NoError(t, err)
	cfg.Data = t.TempDir()
	release, err := datadir.Lock(cfg.Data)
	require.NoError(t, err)
	defer func() { require.NoError(t, release()) }()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		start := time.Now()
		err := RunCoordinator(t.Context(), cfg, slog.New(slog.NewTextHandler(&log, nil)), nil)
		require.ErrorIs(t, err, fault.ErrConflict)
		require.ErrorContains(t, err, "is in use by process")
		require.Equal(t, 2*time.Second, time.Since(start))
		require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("waiting for the data folder")), "%s", &log)
	})
}
