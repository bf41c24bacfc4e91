package cmd

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/apitypes"
	"leasehold/shared/status"
	"leasehold/shared/tuple"
)

func TestTheFollowedLogContinuesWithEachNewLine(t *testing.T) {
	t.Parallel()
	h := startCoordinator(t, t.Cleanup)
	put := func(message string) {
		line := tuple.New("log", time.Now().UTC().Format(time.RFC3339Nano), "worker-9", "error", message)
		require.NoError(t, h.worker.Space(status.Log).PutP(t.Context(), line, 0))
	}
	put("first")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read, write := io.Pipe()
	var said bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- (&app{out: write, err: &said}).run(ctx, []string{"log", "--follow", "--level", "error", "--http", h.server.Listener.Addr().String()})
	}()
	lines := bufio.NewScanner(read)
	for _, message := range []string{"first", "second", "third"} {
		require.True(t, lines.Scan())
		require.Regexp(t, `^20\S+Z  error  worker-9  `+message+`$`, lines.Text())
		switch message {
		case "first":
			put("second")
		case "second":
			put("third")
		}
	}
	cancel()
	require.Equal(t, 1, <-ended)
	require.Equal(t, "leasehold: interrupted\n", said.String())
}

func TestOnlyTheLinesBehindTheLastOneAreNew(t *testing.T) {
	t.Parallel()
	lines := func(all ...string) (list []apitypes.Tuple) {
		for _, l := range all {
			list = append(list, apitypes.Tuple{Line: l})
		}
		return list
	}
	require.Equal(t, lines("c", "d"), newLines(lines("a", "b"), lines("a", "b", "c", "d")))
	require.Empty(t, newLines(lines("a", "b"), lines("a", "b")))
	require.Equal(t, lines("c"), newLines(lines("a", "b"), lines("b", "c")), "the oldest was dropped")
	require.Equal(t, lines("x", "y"), newLines(lines("a"), lines("x", "y")), "all were dropped, or the coordinator started again")
	require.Equal(t, lines("a"), newLines(nil, lines("a")))
}
