package elastic_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code/elastic/opensearchtest"
)

// request is one request; IT stands for the name of an index with the alias IT-a.
type request struct{ method, path, body string }

// nested returns a query of so many bool queries in one another.
func nested(depth int) string {
	return strings.Repeat(`{"bool":{"filter":[`, depth) + `{"match_all":{}}` + strings.Repeat(`]}}`, depth)
}

// repeated returns a list of JSON with n times the same.
func repeated(one string, n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + "]"
}

// refusals are requests of the driver's kinds that servers refuse, and their neighbours that are
// accepted.
func refusals() []request {
	const created = `{"settings":{"index.translog.durability":"request","analysis":{"analyzer":{"trigrams":{"type":"custom","tokenizer":"whitespace"}}}},"mappings":{"dynamic":"strict","properties":{"id":{"type":"keyword"},"n":{"type":"long"},"tri":{"type":"text","analyzer":"trigrams","norms":false,"index_options":"docs"},"rest":{"type":"object","enabled":false}}},"aliases":{"IT-a":{}}}`
	write := func(action, index, id, document string) request {
		body := fmt.Sprintf("{%q:{\"_index\":%q,\"_id\":%q}}\n", action, index, id)
		if document != "" {
			body += document + "\n"
		}
		return request{"POST", "_bulk?require_alias=true", body}
	}
	search := func(body string) request { return request{"POST", "IT-a/_search", body} }
	query := func(q string) request { return search(`{"query":` + q + `}`) }
	composite := func(of string) request {
		return search(`{"query":{"match_all":{}},"size":0,"aggs":{"of":{"composite":{` + of + `}}}}`)
	}
	return []request{
		{"PUT", "IT", created},
		{"PUT", "IT", created}, // exists
		{"PUT", "IT-a", created},
		{"PUT", "IT-Upper", created},
		{"PUT", "IT-other", strings.Replace(created, `"keyword"`, `"text","analyzer":"absent"`, 1)},
		{"GET", "IT-absent", ""},
		{"GET", "_alias/IT-absent", ""},
		write("create", "IT-a", "a", `{"id":"a","n":1,"tri":"x y","rest":{"any":[1]}}`),
		write("create", "IT-a", "a", `{"id":"a"}`), // a conflict
		write("index", "IT-a", "a", `{"id":"a","n":2}`),
		write("delete", "IT-a", "absent", ""),
		write("create", "IT", "b", `{"id":"b"}`), // no alias
		write("create", "IT-absent", "b", `{"id":"b"}`),
		write("create", "IT-a", "b", `{"other":1}`),
		write("create", "IT-a", "b", `{"n":"many"}`),
		write("create", "IT-a", "b", `{"id":"`+strings.Repeat("x", 40_000)+`"}`),
		write("create", "IT-a", "b", `{`),
		write("create", "IT-a", strings.Repeat("i", 513), `{"id":"b"}`),
		{"POST", "_bulk?require_alias=true", `{"create":{"_index":"IT-a","_id":"a"}}`},
		{"POST", "IT-absent/_search", `{"query":{"match_all":{}}}`},
		{"POST", "IT-absent/_count", `{"query":{"match_all":{}}}`},
		{"POST", "IT-absent/_mget", `{"ids":["a"]}`},
		{"POST", "IT-absent/_refresh", ""},
		{"POST", "IT-a/_mget", `{"ids":[]}`},
		{"POST", "IT-a/_refresh", ""},
		{"POST", "IT-a/_search?pretty_please=true", `{"query":{"match_all":{}}}`},
		query(`{"unknown":{"id":"a"}}`),
		search(`{"query":{"match_all":{}},"size":10001}`),
		search(`{"query":{"match_all":{}},"surprise":3}`),
		search(`{"query":{"match_all":{}},"sort":[{"id":{"order":"asc"}}],"search_after":["a","b"]}`),
		query(nested(20)),
		query(`{"bool":{"filter":` + repeated(`{"term":{"id":"a"}}`, 1000) + `}}`),
		query(`{"bool":{"filter":` + repeated(`{"term":{"id":"a"}}`, 1025) + `}}`),
		query(`{"terms":{"id":` + repeated(`"a"`, 65_536) + `}}`),
		query(`{"terms":{"id":` + repeated(`"a"`, 65_537) + `}}`),
		query(`{"bool":{"filter":` + strings.Repeat(" ", 100<<20) + `[]}}`), // too large a body
		{"POST", "_aliases", `{"actions":[{"add":{"index":"IT-absent","alias":"IT-a"}}]}`},
		{"POST", "IT-a/_search", `{"query":{"match_all":{}},"_source":false}`},
		{"POST", "_aliases", `{"actions":[{"remove":{"index":"IT","alias":"IT-absent"}}]}`},
		{"GET", "IT-a,IT-absent?filter_path=*.aliases,*.settings.index.uuid,*.mappings._meta", ""},
		{"GET", "IT,IT-a?filter_path=*.aliases,*.settings.index.uuid,*.mappings._meta", ""},
		{"GET", "IT*?filter_path=*.aliases,*.settings.index.uuid,*.mappings._meta", ""},
		{"GET", "IT-absent-*?filter_path=*.aliases,*.settings.index.uuid,*.mappings._meta", ""},
		{"PUT", "IT/_mapping", `{"_meta":{"of":"b"}}`},
		{"PUT", "IT-absent/_mapping", `{"_meta":{"of":"b"}}`},
		{"PUT", "IT/_block/write", ""},
		{"PUT", "IT-absent/_block/write", ""},
		write("index", "IT-a", "c", `{"id":"c","n":9}`), // writes are refused
		{"POST", "IT-a/_refresh", ""},
		{"PUT", "IT/_settings", `{"index.blocks.write":null}`},
		{"PUT", "IT-absent/_settings", `{"index.blocks.write":null}`},
		write("index", "IT-a", "c", `{"id":"c","n":10}`),
		{"POST", "IT-a/_refresh", ""},
		search(`{"query":{"range":{"n":{"gte":2}}},"sort":[{"n":{"order":"asc"}}]}`), // 2 is before 10
		search(`{"query":{"range":{"n":{"gte":2}}},"sort":[{"n":{"order":"asc"}}],"search_after":[2]}`),
		composite(`"size":1,"sources":[{"id":{"terms":{"field":"id"}}}]`),
		composite(`"size":9,"sources":[{"id":{"terms":{"field":"id"}}}],"after":{"id":"a"}`),
		composite(`"size":9,"sources":[]`),
		{"DELETE", "IT-absent", ""},
		{"DELETE", "IT", ""},
		{"GET", "IT-a", ""},
	}
}

// TestTheServerInMemoryRefusesWhatARealOneRefuses sends requests that the driver's suite does not
// send to both.
func TestTheServerInMemoryRefusesWhatARealOneRefuses(t *testing.T) {
	t.Parallel()
	url := opensearchtest.URL(t, "the comparison of refusals")
	if url == "" {
		return
	}
	name := "leasehold-test-" + strings.ToLower(rand.Text()[:10])
	t.Cleanup(func() { opensearchtest.RemoveIndices(t, url, name) })
	servers := newBoth(t)
	for _, r := range refusals() {
		r.path, r.body = strings.ReplaceAll(r.path, "IT", name), strings.ReplaceAll(r.body, "IT", name)
		sent, err := http.NewRequestWithContext(context.Background(), r.method, url+"/"+r.path, strings.NewReader(r.body))
		require.NoError(t, err)
		if strings.HasPrefix(r.path, "_bulk") {
			sent.Header.Set("Content-Type", "application/x-ndjson")
		} else if r.body != "" {
			sent.Header.Set("Content-Type", "application/json")
		}
		answer, err := servers.RoundTrip(sent)
		require.NoError(t, err, "%s %s %.300s", r.method, r.path, r.body)
		_, err = io.Copy(io.Discard, answer.Body)
		require.NoError(t, err)
	}
	for _, kind := range []string{"PUT INDEX 400", "POST _bulk 200", "POST _bulk 400", "POST _search 400", "POST _search 404", "POST _search 413", "POST _mget 400", "GET INDEX 404", "PUT _mapping 200", "PUT _settings 200", "DELETE INDEX 200", "DELETE INDEX 404"} {
		require.Contains(t, servers.requestKinds(), kind)
	}
}
