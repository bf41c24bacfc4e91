package trace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/trace"
)

// written opens the log at path, writes n events and closes it.
func written(t *testing.T, path string, n int) {
	t.Helper()
	f, err := trace.Open(path, nil)
	require.NoError(t, err)
	for i := range n {
		f.Write(trace.Event{Seq: uint64(i + 1), Operation: "put"})
	}
	require.NoError(t, f.Close())
}

// length is how many events the log at path has, without a gap.
func length(t *testing.T, path string) (n int) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, trace.Read(f, func(trace.Event) error { n++; return nil }))
	return n
}

func TestALogGoesOnWhereItWasLeftWhereverACrashToreIt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	written(t, path, 3)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for size := range len(whole) + 1 {
		require.NoError(t, os.WriteFile(path, whole[:size], 0o600))
		written(t, path, 2)
		require.Equal(t, 2+strings.Count(string(whole[:size]), "\n"), length(t, path))
	}
}

func TestWhatIsNoLogIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notes.txt")
	for _, text := range []string{"milk and eggs\n", "milk", "{}\n", `{"seq":1}` + "\nmilk\n"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := trace.Open(path, nil)
		require.ErrorContains(t, err, path)
		kept, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text, string(kept))
	}
	_, err := trace.Open(t.TempDir(), nil)
	require.Error(t, err)
}

func TestALogThatCannotBeWrittenSaysSoOnceAndAtTheEnd(t *testing.T) {
	t.Parallel()
	var told []error
	f, err := trace.Open("/dev/full", func(err error) { told = append(told, err) })
	require.NoError(t, err)
	for i := range 3 {
		f.Write(trace.Event{Seq: uint64(i + 1)})
	}
	require.Len(t, told, 1)
	require.ErrorContains(t, told[0], "event 1 ")
	require.ErrorContains(t, f.Close(), "no space left")
}
