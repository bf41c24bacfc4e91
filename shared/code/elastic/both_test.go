package elastic_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code/elastic/elastictest"
)

// both is an http.RoundTripper that sends each request to the server in memory and to a real one,
// and fails the test if their answers differ in what the driver reads. The answer is the real one's.
type both struct {
	testing.TB
	memory *elastictest.Server

	mu    sync.Mutex     // held for each request, so that both servers get them in one order
	kinds map[string]int // how many requests of each kind both have answered, by method, action and status
}

func newBoth(t testing.TB) *both {
	return &both{TB: t, memory: elastictest.New(), kinds: map[string]int{}}
}

// RoundTrip implements http.RoundTripper. A real server refreshes indices when it likes to; the indices
// that it creates here are refreshed by requests only, so that searches see the same on both.
func (b *both) RoundTrip(r *http.Request) (*http.Response, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	again := func(body []byte) *http.Request {
		c := r.Clone(r.Context())
		c.Body, c.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return c
	}
	forReal := body
	if r.Method == http.MethodPut {
		forReal = bytes.Replace(body, []byte(`"settings":{`), []byte(`"settings":{"index.refresh_interval":"-1",`), 1)
	}
	answer, err := http.DefaultTransport.RoundTrip(again(forReal))
	if err != nil {
		return nil, err
	}
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	require.NoError(b, answer.Body.Close())
	answer.Body = io.NopCloser(bytes.NewReader(got))
	imitated, err := b.memory.RoundTrip(again(body))
	if err != nil {
		return nil, err
	}
	want, err := io.ReadAll(imitated.Body)
	require.NoError(b, err)
	action := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	if !strings.HasPrefix(action, "_") {
		action = "INDEX"
	}
	b.kinds[r.Method+" "+action+" "+answer.Status[:3]]++
	real, inMemory := read(b, answer.StatusCode, got), read(b, imitated.StatusCode, want)
	if real != inMemory {
		b.Errorf("%s %s: answers differ:\nreal:      %.2000s\nin memory: %.2000s\nrequest:   %.2000s\nreal, whole: %.2000s", r.Method, r.URL, real, inMemory, body, got)
	}
	return answer, nil
}

// contents are the keys of answers whose values are compared as they are; those of frames are
// compared key by key. All others, such as versions and durations, differ between servers, and the
// driver reads none of them.
var (
	contents = []string{"_id", "found", "_source", "sort", "fields", "key", "doc_count", "sum_other_doc_count", "count", "acknowledged", "filter", "durability", "number_of_shards", "number_of_replicas",
		"dynamic", "properties", "deleted", "version_conflicts", "failed", "status", "errors", "type"}
	frames = []string{"error", "items", "create", "index", "delete", "docs", "hits", "aggregations", "buckets", "_shards", "failures", "aliases", "mappings",
		"settings", "translog"}
)

// toldApart are the types of errors that the driver treats in different ways.
var toldApart = []string{"index_not_found_exception", "resource_already_exists_exception"}

// read returns the status of an answer and what the driver reads of its body.
func read(t testing.TB, status int, body []byte) string {
	var v any
	if len(body) > 0 {
		require.NoError(t, json.Unmarshal(body, &v), "%.200s", body)
	}
	text, err := json.Marshal(reduced(v, false))
	require.NoError(t, err)
	return fmt.Sprintf("%d %s", status, text)
}

// reduced returns a value of JSON without the keys that are not compared. If named is true, the keys are
// names that the driver has chosen.
func reduced(v any, named bool) any {
	switch v := v.(type) {
	case []any:
		all := []any{}
		for _, one := range v {
			all = append(all, reduced(one, false))
		}
		return all
	case map[string]any:
		kept := map[string]any{}
		for key, value := range v {
			switch {
			case key == "_shards" && v["_id"] != nil: // of one write, whose status tells
			case key == "type" && !slices.Contains(toldApart, fmt.Sprint(value)): // the driver reads the status
			case key == "index" && value != nil && reflect.TypeOf(value).Kind() == reflect.String: // of an error
			case named, slices.Contains(frames, key), strings.HasPrefix(key, "leasehold-"):
				kept[key] = reduced(value, key == "aggregations" || key == "aliases")
			case slices.Contains(contents, key):
				kept[key] = value
			}
		}
		return kept
	}
	return v
}

// requestKinds returns what both have answered.
func (b *both) requestKinds() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.kinds))
}
