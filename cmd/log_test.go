package cmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/api/types"
	"leasehold/shared/protocol/status"
)

func TestTheFollowedLogContinuesWithEachNewLine(t *testing.T) {
	t.Parallel()
	h := startCoordinator(t, t.Cleanup)
	put := func(message string) {
		require.NoError(t, status.Write(t.Context(), h.worker, status.Line{At: time.Now(), ID: "worker-9", Level: "error", Message: message}))
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
		require.Regexp(t, `^20\S+Z  error  worker-9  `+message+` \(written by `+h.worker.Session()+`\)$`, lines.Text())
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

func TestTheFollowedLogContinuesWhenTheCoordinatorIsBack(t *testing.T) {
	t.Parallel()
	h := startCoordinator(t, t.Cleanup)
	address := h.server.Listener.Addr().String()
	put := func(message string) {
		require.NoError(t, status.Write(t.Context(), h.worker, status.Line{At: time.Now(), ID: "w", Level: "warn", Message: message}))
	}
	put("first")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read, write := io.Pipe()
	errs, said := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- (&app{out: write, err: said}).run(ctx, []string{"log", "--follow", "--level", "warn", "--http", address})
	}()
	lines, warnings := bufio.NewScanner(read), bufio.NewScanner(errs)
	require.True(t, lines.Scan())
	h.server.Close()
	require.True(t, warnings.Scan())
	require.Regexp(t, "is unavailable: .*; trying again$", warnings.Text())
	put("second")
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	again := &httptest.Server{Listener: listener, Config: &http.Server{Handler: h.server.Config.Handler}}
	again.Start()
	defer again.Close()
	require.True(t, lines.Scan())
	require.Contains(t, lines.Text(), "second")
	cancel()
	require.True(t, warnings.Scan())
	require.Equal(t, 1, <-ended)
}

func TestTheLogIsPrintedInTheOrderOfItsTimes(t *testing.T) {
	t.Parallel()
	line := func(at, message string) (l types.Tuple) {
		for _, text := range []string{"log", at, "worker-1", "warn", message} {
			l.Fields = append(l.Fields, types.Field{Value: json.RawMessage(strconv.Quote(text))})
		}
		return l
	}
	var out bytes.Buffer
	err := (&app{out: &out}).printLog(logOptions{out: &output{form: asTable}, follow: true, level: "info"}, []types.Tuple{
		line("2026-11-22T14:51:32.5Z", "connected again"), line("2026-11-22T14:51:20.61Z", "connection lost"), line("2026-11-22T14:51:20.619Z", "retrying"),
	})
	require.NoError(t, err)
	require.Equal(t, "2026-11-22T14:51:20Z  warn   worker-1  connection lost\n"+
		"2026-11-22T14:51:20Z  warn   worker-1  retrying\n2026-11-22T14:51:32Z  warn   worker-1  connected again\n", out.String())
}

func TestOnlyTheLinesBehindTheLastOneAreNew(t *testing.T) {
	t.Parallel()
	lines := func(all ...string) (list []types.Tuple) {
		for _, l := range all {
			list = append(list, types.Tuple{Line: l})
		}
		return list
	}
	require.Equal(t, lines("c", "d"), newLines(lines("a", "b"), lines("a", "b", "c", "d")))
	require.Empty(t, newLines(lines("a", "b"), lines("a", "b")))
	require.Equal(t, lines("c"), newLines(lines("a", "b"), lines("b", "c")), "the oldest was dropped")
	require.Equal(t, lines("x", "y"), newLines(lines("a"), lines("x", "y")), "all were dropped, or the coordinator started again")
	require.Equal(t, lines("a"), newLines(nil, lines("a")))
}
