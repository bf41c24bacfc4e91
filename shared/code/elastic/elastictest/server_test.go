package elastictest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code/elastic/elastictest"
)

const index = `{"settings":{"index.translog.durability":"request","analysis":{"analyzer":{"trigrams":{"type":"custom","tokenizer":"whitespace"}}}},
	"mappings":{"dynamic":"strict","properties":{"id":{"type":"keyword"},"n":{"type":"long"},"tri":{"type":"text","analyzer":"trigrams"},"rest":{"type":"object","enabled":false}}},
	"aliases":{"items":{},"shown":{"filter":{"terms":{"id":["a"]}}}}}`

// send sends a request and returns the status and the answer.
func send(t testing.TB, s *elastictest.Server, method, path, body string) (int, string) {
	r, err := http.NewRequestWithContext(t.Context(), method, "http://x/"+path, strings.NewReader(body))
	require.NoError(t, err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if strings.HasPrefix(path, "_bulk") {
		r.Header.Set("Content-Type", "application/x-ndjson")
	}
	answer, err := s.RoundTrip(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(data)
}

// write is the body of a _bulk request with one document.
func write(action, index, id, document string) string {
	return fmt.Sprintf("{%q:{\"_index\":%q,\"_id\":%q}}\n%s\n", action, index, id, document)
}

func TestASearchSeesRefreshedDocuments(t *testing.T) {
	t.Parallel()
	s := elastictest.New()
	status, answer := send(t, s, "PUT", "items-1", index)
	require.Equal(t, http.StatusOK, status, answer)
	for _, id := range []string{"a", "b"} {
		status, answer = send(t, s, "POST", "_bulk?require_alias=true", write("create", "items", id, fmt.Sprintf(`{"id":%q,"n":1,"tri":"x y","rest":{"any":[1]}}`, id)))
		require.Equal(t, http.StatusOK, status, answer)
		require.Contains(t, answer, `"status":201`)
	}
	const query = `{"query":{"bool":{"filter":[{"term":{"tri":"x"}},{"range":{"n":{"lt":2}}},{"exists":{"field":"id"}}],"must_not":[{"terms":{"id":["c"]}}]}}}`
	_, answer = send(t, s, "POST", "items/_count", query)
	require.Contains(t, answer, `"count":0`)
	_, answer = send(t, s, "POST", "items/_mget", `{"ids":["a","z"]}`)
	require.Contains(t, answer, `"found":true`)
	require.Contains(t, answer, `"found":false`)
	status, _ = send(t, s, "POST", "items/_refresh", "")
	require.Equal(t, http.StatusOK, status)
	_, answer = send(t, s, "POST", "items/_count", query)
	require.Contains(t, answer, `"count":2`)
	_, answer = send(t, s, "POST", "shown/_count", query)
	require.Contains(t, answer, `"count":1`, "an alias has a filter")
	_, answer = send(t, s, "POST", "_bulk?require_alias=true", write("create", "items", "a", `{"id":"a"}`))
	require.Contains(t, answer, `version_conflict_engine_exception`)
	require.Contains(t, answer, `"errors":true`)
	_, answer = send(t, s, "POST", "items/_search", `{"query":{"match_all":{}},"size":1,"_source":false}`)
	require.Contains(t, answer, `"_id":"a"`)
	require.NotContains(t, answer, `"_source"`)
	_, answer = send(t, s, "POST", "_bulk?require_alias=true", "{\"delete\":{\"_index\":\"items\",\"_id\":\"a\"}}\n")
	require.Contains(t, answer, `"status":200`)
	status, _ = send(t, s, "POST", "items/_refresh", "")
	require.Equal(t, http.StatusOK, status)
	require.Len(t, s.Documents("items"), 1)
}

func TestUnknownAndMalformedRequestsAreRefused(t *testing.T) {
	t.Parallel()
	s := elastictest.New()
	status, answer := send(t, s, "PUT", "items-1", index)
	require.Equal(t, http.StatusOK, status, answer)
	for _, r := range []struct {
		method, path, body string
		status             int
		kind               string
	}{
		{"GET", "items/_stats", "", 400, "illegal_argument_exception"},
		{"POST", "items/_search/scroll", "", 400, "illegal_argument_exception"},
		{"POST", "_search", "{}", 400, "illegal_argument_exception"},
		{"POST", "items/_search?pretty=true", `{"query":{"match_all":{}}}`, 400, "unrecognized parameter"},
		{"GET", "absent", "", 404, "index_not_found_exception"},
		{"GET", "_alias/absent", "", 404, "alias [absent] missing"},
		{"PUT", "items-1", index, 400, "resource_already_exists_exception"},
		{"PUT", "items", index, 400, "already exists as alias"},
		{"PUT", "Upper", index, 400, "invalid_index_name_exception"},
		{"PUT", "other", strings.Replace(index, `"keyword"`, `"text","analyzer":"absent"`, 1), 400, "mapper_parsing_exception"},
		{"PUT", "other", strings.Replace(index, `"dynamic"`, `"dinamic"`, 1), 400, "unknown field"},
		{"POST", "absent/_search", `{"query":{"match_all":{}}}`, 404, "index_not_found_exception"},
		{"POST", "items/_search", `{"query":{"match":{"id":"a"}}}`, 400, "unknown query [match]"},
		{"POST", "items/_search", `{"query":{"term":{"absent":"a"}}}`, 400, "No mapping found for [absent]"},
		{"POST", "items/_search", `{"query":{"term":{"rest":"a"}}}`, 400, "No mapping found for [rest]"},
		{"POST", "items/_search", `{"query":{"match_all":{}},"from":3}`, 400, "unknown field"},
		{"POST", "items/_search", `{"query":{"match_all":{}},"size":10001}`, 400, "Result window is too large"},
		{"POST", "items/_search", `{"query":{"match_all":{}},"sort":[{"tri":{"order":"asc"}}]}`, 400, "cannot be sorted"},
		{"POST", "items/_search", `{"query":{"match_all":{}},"sort":[{"id":{"order":"asc"}}],"search_after":["a","b"]}`, 400, "search_after has 2 value(s)"},
		{"POST", "items/_search", `{"query":{"bool":{"should":[{"match_all":{}}]}}}`, 400, "minimum_should_match"},
		{"POST", "items/_mget", `{"ids":[]}`, 400, "no documents to get"},
		{"POST", "_aliases", `{"actions":[{"add":{"index":"absent","alias":"shown"}}]}`, 404, "index_not_found_exception"},
		{"POST", "_aliases", `{"actions":[{"remove_index":{"index":"items-1"}}]}`, 400, "unknown field [remove_index]"},
		{"POST", "_bulk", write("create", "items", "a", "{}"), 400, "require_alias"},
		{"POST", "_bulk?require_alias=true", `{"create":{"_index":"items","_id":"a"}}`, 400, "terminated by a newline"},
		{"POST", "_bulk?require_alias=true", "{\"create\":{\"_index\":\"items\",\"_id\":\"a\"}}\n", 400, "no document"},
		{"POST", "_bulk?require_alias=true", write("create", "items-1", "a", "{}"), 200, "is not an alias"},
		{"POST", "_bulk?require_alias=true", write("upsert", "items", "a", "{}"), 200, "unknown action"},
		{"POST", "_bulk?require_alias=true", write("create", "items", "a", `{"other":1}`), 200, "strict_dynamic_mapping_exception"},
		{"POST", "_bulk?require_alias=true", write("create", "items", "a", `{"n":"many"}`), 200, "document_parsing_exception"},
		{"POST", "_bulk?require_alias=true", write("create", "items", "a", `{"id":"`+strings.Repeat("x", 40_000)+`"}`), 200, "immense term"},
		{"POST", "_bulk?require_alias=true", write("create", "items", "a", `{`), 200, "document_parsing_exception"},
	} {
		status, answer := send(t, s, r.method, r.path, r.body)
		require.Equal(t, r.status, status, "%s %s %s: %s", r.method, r.path, r.body, answer)
		require.Contains(t, answer, r.kind, "%s %s %s", r.method, r.path, r.body)
	}
	require.Empty(t, s.Documents("items"))
}
