package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

func TestATransactionIsOneRequest(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, name := range []string{"stock", "orders"} {
		require.NoError(t, h.repo.Create(t.Context(), name, space.Options{}))
	}
	const order = `{"operations":[
		{"kind":"absent","space":"orders","template":"blocked"},
		{"kind":"get","space":"stock","template":"tea ?int64"},
		{"kind":"put","space":"orders","tuple":"alice tea","ttl_s":60}]`
	h.refuses("conflict", "POST", v1+"/transactions", order+`}`)
	require.NoError(t, h.repo.Space("stock").Put(t.Context(), tuple.New("tea", int64(7)), 0))
	found := h.ok("POST", v1+"/transactions", order+`}`)["tuples"].([]any)
	require.Len(t, found, 3)
	require.Equal(t, "tea 7", found[1].(map[string]any)["line"])
	require.Empty(t, found[2].(map[string]any)["line"])
	n, err := h.repo.Space("orders").Count(t.Context(), tuple.Match("alice", "tea"))
	require.NoError(t, err)
	require.Equal(t, 1, n)

	h.refuses("conflict", "POST", v1+"/transactions", order+`,"wait_s":0.01}`)
	put := make(chan error, 1)
	go func() { put <- h.repo.Space("stock").Put(t.Context(), tuple.New("tea", int64(8)), 0) }()
	found = h.ok("POST", v1+"/transactions", order+`,"wait_s":20}`)["tuples"].([]any)
	require.NoError(t, <-put)
	require.Equal(t, "tea 8", found[1].(map[string]any)["line"])
}

func TestInvalidTransactionsAreRefused(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for body, code := range map[string]string{
		`{"operations":[]}`: "invalid",
		`{"operations":[{"kind":"take","space":"log","template":"x"}]}`:                     "invalid",
		`{"operations":[{"kind":"get","space":"log","template":"x ..."}]}`:                  "invalid",
		`{"operations":[{"kind":"get","space":"log","tuple":"x"}]}`:                         "invalid",
		`{"operations":[{"kind":"get","space":"log","template":"x","ttl_s":1}]}`:            "invalid",
		`{"operations":[{"kind":"put","space":"log","template":"x"}]}`:                      "invalid",
		`{"operations":[{"kind":"put","space":"log","tuple":"?string"}]}`:                   "invalid",
		`{"operations":[{"kind":"put","space":"log","tuple":"x","ttl_s":-1}]}`:              "invalid",
		`{"operations":[{"kind":"get","space":"log","template":"x"}],"wait_s":26}`:          "invalid",
		`{"operations":[{"kind":"get","space":"nowhere","template":"x"}]}`:                  "not_found",
		`{"operations":[{"kind":"put","space":"task","tuple":"x"}]}`:                        "forbidden",
		`{"operations":[{"kind":"get","space":"result","template":"?string"}]}`:             "forbidden",
		`{"operations":[{"kind":"absent","space":"lease","template":"no such thing"}]}`:     "",
		`{"operations":[{"kind":"query","space":"lease","template":"no such thing at a"}]}`: "conflict",
	} {
		if code == "" {
			h.ok("POST", v1+"/transactions", body)
			continue
		}
		h.refuses(code, "POST", v1+"/transactions", body)
	}
}
