package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheTraceOfACoordinatorIsRotated(t *testing.T) {
	t.Parallel()
	f := &pairFixture{t, t.TempDir(), filepath.Join(realBinary(t), "leasehold")}
	f.whileRunning("c", func() {
		for range 4 {
			f.must("space", "put", "result", "note", strings.Repeat("x", 4<<10), "--data", "c")
		}
	}, "--trace", "trace.jsonl", "--trace-bytes", "4KiB", "--trace-files", "3")
	files, err := filepath.Glob(filepath.Join(f.dir, "trace.jsonl*"))
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, file := range files {
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Less(t, info.Size(), int64(12<<10))
	}
}
