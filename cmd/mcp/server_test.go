package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/cmd/mcp"
)

func server() mcp.Server {
	return mcp.Server{Name: "test", Version: "1", Tools: []mcp.Tool{{
		Name: "echo", Description: "return the text", Schema: map[string]any{"type": "object"},
		Call: func(_ context.Context, arguments json.RawMessage) (string, error) {
			var a struct{ Text string }
			if err := json.Unmarshal(arguments, &a); err != nil {
				return "", err
			}
			if a.Text == "" {
				return "", errors.New("text is empty")
			}
			return a.Text, nil
		},
	}}}
}

func answers(t testing.TB, input string) []string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, server().Serve(t.Context(), strings.NewReader(input), &out))
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func TestEachMessageHasItsAnswer(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}`:          `{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"tools":{}},"protocolVersion":"2024-11-05","serverInfo":{"name":"test","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1999-01-01"}}`:          `{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"tools":{}},"protocolVersion":"2025-06-18","serverInfo":{"name":"test","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`:                                            ``,
		`{"jsonrpc":"2.0","id":"a","method":"ping"}`:                                                        `{"jsonrpc":"2.0","id":"a","result":{}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`:                                                    `{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"echo","description":"return the text","inputSchema":{"type":"object"}}]}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}`: `{"jsonrpc":"2.0","id":3,"result":{"content":[{"text":"hi","type":"text"}],"isError":false}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo"}}`:                           `{"jsonrpc":"2.0","id":3,"result":{"content":[{"text":"text is empty","type":"text"}],"isError":true}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"rm"}}`:                             `{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"unknown tool \"rm\""}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":[]}`:                                        `{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"want the name and the arguments of a tool"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"resources/list"}`:                                                `{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"unknown method \"resources/list\"; use initialize, ping, tools/list or tools/call"}}`,
		`nonsense`: `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"want one JSON-RPC 2.0 request a line"}}`,
		`[1]`:      `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"want one JSON-RPC 2.0 request a line"}}`,
		`{"id":6}`: `{"jsonrpc":"2.0","id":6,"error":{"code":-32600,"message":"want \"jsonrpc\": \"2.0\" and a method"}}`,
	} {
		require.Equal(t, []string{want}, answers(t, request+"\n"), request)
		require.Equal(t, []string{want}, answers(t, "\n"+request), "without a line feed at the end")
	}
}

func TestALongMessageIsSkipped(t *testing.T) {
	t.Parallel()
	got := answers(t, strings.Repeat("x", 3<<20)+"\n"+`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	require.Len(t, got, 2)
	require.Contains(t, got[0], "at most 1048576 bytes")
	require.Contains(t, got[1], `"result":{}`)
}

func FuzzServe(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}`))
	f.Add([]byte("{}\n[]\nnull"))
	f.Fuzz(func(t *testing.T, input []byte) {
		for _, line := range answers(t, string(input)) {
			require.True(t, line == "" || json.Valid([]byte(line)), "%q", line)
		}
	})
}

func ExampleServer() {
	hello := mcp.Tool{Name: "hello", Schema: map[string]any{"type": "object"}, Call: func(context.Context, json.RawMessage) (string, error) { return "hello", nil }}
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hello"}}`)
	if err := (mcp.Server{Tools: []mcp.Tool{hello}}).Serve(context.Background(), in, os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output: {"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"hello","type":"text"}],"isError":false}}
}
