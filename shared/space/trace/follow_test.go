package trace_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space/trace"
)

func TestALogIsFollowedOverRenamedFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	f, err := trace.Open(path, trace.Limits{Bytes: 500, Files: 4}, nil)
	require.NoError(t, err)
	seq := uint64(0)
	write := func(n int) {
		for range n {
			seq++
			f.Write(trace.Event{Seq: seq, Operation: trace.Reload, Tuple: strings.Repeat("x", 100)})
		}
	}
	write(7) // two files
	ctx, stop := context.WithCancel(t.Context())
	log, err := trace.Follow(ctx, path)
	require.NoError(t, err)
	lines := bufio.NewReader(log)
	read := func(from, to uint64) {
		t.Helper()
		for n := from; n <= to; n++ {
			line, err := lines.ReadBytes('\n')
			require.NoError(t, err)
			var e trace.Event
			require.NoError(t, json.Unmarshal(line, &e))
			require.Equal(t, n, e.Seq)
		}
	}
	read(1, 7)
	write(2)
	read(8, 9)
	write(9) // the file is renamed, and the one after it
	read(10, 18)
	stop()
	_, err = lines.ReadByte()
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, errors.Join(log.Close(), f.Close()))

	_, err = trace.Follow(t.Context(), filepath.Join(t.TempDir(), "none"))
	require.Error(t, err)
}

func TestALogIsFollowedFromItsLastReload(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	follow := func() (next func() trace.Event) {
		t.Helper()
		ctx, stop := context.WithCancel(t.Context())
		log, err := trace.FollowLatest(ctx, path)
		require.NoError(t, err)
		t.Cleanup(func() { stop(); require.NoError(t, log.Close()) })
		lines := bufio.NewReader(log)
		return func() (e trace.Event) {
			line, err := lines.ReadBytes('\n')
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(line, &e))
			return e
		}
	}
	f, err := trace.Open(path, trace.Limits{Bytes: 1000, Files: 2}, nil)
	require.NoError(t, err)
	for n, operation := range []string{trace.Reload, "put", trace.Reload, "put"} {
		f.Write(trace.Event{Seq: uint64(n + 1), Operation: operation, Tuple: `{"seq":1,"operation":"reload","space":""}`})
	}
	next := follow()
	require.Equal(t, uint64(3), next().Seq)
	require.Equal(t, uint64(4), next().Seq)
	for n := 5; n < 12; n++ {
		f.Write(trace.Event{Seq: uint64(n), Operation: "put", Tuple: strings.Repeat("x", 100)})
	}
	next = follow()
	f.Write(trace.Event{Seq: 12, Operation: "put"})
	require.Equal(t, uint64(12), next().Seq, "the current file has no reload")
	require.NoError(t, f.Close())
}
