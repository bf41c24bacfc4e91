//go:build unix

package node

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/config"
)

func TestADataFolderThatOthersCanReadIsWarnedAboutAndNotChanged(t *testing.T) {
	t.Parallel()
	for mode, warned := range map[os.FileMode]bool{0o700: false, 0o750: true, 0o705: true} {
		cfg, err := config.Load(nil)
		require.NoError(t, err)
		cfg.Data = filepath.Join(t.TempDir(), "data")
		require.NoError(t, os.Mkdir(cfg.Data, mode))
		require.NoError(t, os.Chmod(cfg.Data, mode))
		var log bytes.Buffer
		d, err := OpenDataDir(t.Context(), cfg, slog.New(slog.NewTextHandler(&log, nil)))
		require.NoError(t, err)
		require.NoError(t, d.Close())
		require.Equal(t, warned, bytes.Contains(log.Bytes(), []byte("can read the data folder")), "%o: %s", mode, log.String())
		info, err := os.Stat(cfg.Data)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm())
	}
}
