package trace_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space/trace"
)

// written opens the log at path, writes n events and closes it.
func written(t *testing.T, path string, n int) {
	t.Helper()
	f, err := trace.Open(path, trace.Limits{}, nil)
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
		_, err := trace.Open(path, trace.Limits{}, nil)
		require.ErrorContains(t, err, path)
		kept, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text, string(kept))
	}
	_, err := trace.Open(t.TempDir(), trace.Limits{}, nil)
	require.Error(t, err)
}

func TestALogThatCannotBeWrittenSaysSoOnceAndAtTheEnd(t *testing.T) {
	t.Parallel()
	var told []error
	f, err := trace.Open("/dev/full", trace.Limits{Bytes: 1}, func(err error) { told = append(told, err) })
	require.NoError(t, err)
	for i := range 3 {
		f.Write(trace.Event{Seq: uint64(i + 1)})
	}
	require.Len(t, told, 1)
	require.ErrorContains(t, told[0], "event 1 ")
	require.ErrorContains(t, f.Close(), "no space left")
}

// filesOf returns how many files the log at path has.
func filesOf(t *testing.T, path string) int {
	t.Helper()
	all, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	return len(all)
}

// readAll returns the numbers of the events of the log at path with its earlier files.
func readAll(t *testing.T, path string) (seqs []uint64) {
	t.Helper()
	log, err := trace.OpenAll(path)
	require.NoError(t, err)
	defer log.Close()
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		var e trace.Event
		require.NoError(t, json.Unmarshal(lines.Bytes(), &e))
		seqs = append(seqs, e.Seq)
	}
	require.NoError(t, lines.Err())
	return seqs
}

// numbers returns the numbers from first to last.
func numbers(first, last int) (all []uint64) {
	for n := first; n <= last; n++ {
		all = append(all, uint64(n))
	}
	return all
}

// Three processes write one log. Once its first files are removed it can be read only from a
// reload on, since that tells which tuples are there.
func TestALogIsRotatedAndItsOldestFilesAreRemoved(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	limits := trace.Limits{Bytes: 1000, Files: 3}
	process := func(events int) {
		f, err := trace.Open(path, limits, func(err error) { require.NoError(t, err) })
		require.NoError(t, err)
		for n := range events {
			operation := "put"
			if n == 0 {
				operation = trace.Reload
			}
			f.Write(trace.Event{Seq: uint64(n + 1), Operation: operation, Tuple: strings.Repeat("x", 50)})
		}
		require.NoError(t, f.Close())
	}
	process(10)
	require.Equal(t, numbers(1, 10), readAll(t, path))
	process(5) // events 11 to 15
	require.Equal(t, 2, filesOf(t, path))
	require.Equal(t, numbers(1, 15), readAll(t, path), "all files are one log")
	process(12) // events 16 to 27
	require.Equal(t, 3, filesOf(t, path), "the oldest was removed")
	require.Equal(t, numbers(11, 27), readAll(t, path), "it begins at the first reload that is left")
	for _, file := range glob(t, path+"*") {
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Less(t, info.Size(), int64(1200))
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	process(100)
	_, err := trace.OpenAll(path)
	require.ErrorContains(t, err, "no reload behind it")
	require.ErrorContains(t, err, "trace-files")
}

func TestALogWithoutEventsIsAnError(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	for _, file := range []string{path, path + ".000000000004"} {
		require.NoError(t, os.WriteFile(file, nil, 0o600))
	}
	_, err := trace.OpenAll(path)
	require.ErrorContains(t, err, "the log has no events")
}

// glob returns the files that a pattern matches, sorted.
func glob(t *testing.T, pattern string) []string {
	t.Helper()
	all, err := filepath.Glob(pattern)
	require.NoError(t, err)
	return all
}

// A process may be killed after it has renamed the file, before it has made a new one.
func TestARotationThatWasInterruptedContinuesTheNumbers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	written(t, path, 3)
	require.NoError(t, os.Rename(path, path+".000000000003"))
	for _, other := range []string{path + ".old", path + ".7", path + ".000000000009x"} { // of another program
		require.NoError(t, os.WriteFile(other, []byte("milk"), 0o600))
	}
	written(t, path, 2)
	require.Equal(t, numbers(1, 5), readAll(t, path))
}

func TestARotationThatFailsEndsTheLogOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "gone")
	require.NoError(t, os.Mkdir(dir, 0o700))
	var told []error
	f, err := trace.Open(filepath.Join(dir, "trace.jsonl"), trace.Limits{Bytes: 1, Files: 2}, func(err error) { told = append(told, err) })
	require.NoError(t, err)
	f.Write(trace.Event{Seq: 1})
	require.NoError(t, os.RemoveAll(dir))
	for n := range 3 {
		f.Write(trace.Event{Seq: uint64(n + 2)})
	}
	require.Len(t, told, 1)
	require.ErrorContains(t, told[0], "event 2 ")
	require.ErrorIs(t, f.Close(), os.ErrNotExist)
}
