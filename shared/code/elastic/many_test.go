package elastic_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
	"leasehold/shared/code/elastic"
	"leasehold/shared/code/elastic/elastictest"
	"leasehold/shared/code/elastic/opensearchtest"
)

var manyRepos = flag.Int("many.repos", 0, "measure an index with so many repositories on a real server")

// meter is an http.RoundTripper that measures what it sends.
type meter struct {
	http.RoundTripper

	mu       sync.Mutex // guards all below
	requests []string   // methods and paths
	bytes    int
	largest  int // bytes of a body
}

func (m *meter) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	m.mu.Lock()
	m.requests = append(m.requests, r.Method+" "+r.URL.Path)
	m.bytes += len(body)
	m.largest = max(m.largest, len(body))
	m.mu.Unlock()
	return m.RoundTripper.RoundTrip(r)
}

// usage is what some operations took.
type usage struct {
	requests []string // of the last one
	bytes    int      // of the last one
	median   time.Duration
}

// measure does an operation several times.
func (m *meter) measure(t *testing.T, times int, do func(i int) error) usage {
	var u usage
	var all []time.Duration
	for i := range times {
		m.mu.Lock()
		m.requests, m.bytes = nil, 0
		m.mu.Unlock()
		began := time.Now()
		require.NoError(t, do(i))
		all = append(all, time.Since(began))
		u.requests, u.bytes = m.requests, m.bytes
	}
	slices.Sort(all)
	u.median = all[len(all)/2]
	return u
}

// TestPublicationsAndSearchesCostTheSameWithManyRepositories has repositories of one file each.
func TestPublicationsAndSearchesCostTheSameWithManyRepositories(t *testing.T) {
	t.Parallel()
	repos, m := 300, &meter{RoundTripper: elastictest.New()}
	var x *elastic.Index
	if *manyRepos == 0 {
		x = open(t, nil, elastic.Config{Transport: m})
	} else {
		url := opensearchtest.URL(t, "many repositories")
		if url == "" {
			return
		}
		repos, m.RoundTripper = *manyRepos, http.DefaultTransport
		x = openReal(t, url, elastic.Config{Transport: m})
	}
	word := func(i int) string { return string(code.OIDOf(fmt.Append(nil, i))) } // words that share no trigrams to speak of
	publish := func(x *elastic.Index, i int) error {
		return put(x, fmt.Sprintf("r%06d", i), word(i))
	}
	search := func(int) error {
		q, err := code.Parse(word(7))
		require.NoError(t, err)
		stats, err := x.Search(t.Context(), q, code.Options{Timeout: time.Hour}, func(code.Match) bool { return true })
		require.Equal(t, 1, stats.Matches)
		return err
	}
	const times = 20
	require.NoError(t, publish(x, 0))
	first := m.measure(t, times, func(i int) error { return publish(x, 1+i) })
	search1 := m.measure(t, times, search)
	began := time.Now()
	for i := 1 + times; i < repos-times; i++ {
		require.NoError(t, publish(x, i))
		if *manyRepos > 0 && i%5000 == 0 {
			fmt.Printf("%d repositories after %s\n", i, time.Since(began).Round(time.Second))
		}
	}
	last := m.measure(t, times, func(i int) error { return publish(x, repos-times+i) })
	search2 := m.measure(t, times, search)
	require.Equal(t, first.requests, last.requests)
	require.InDelta(t, first.bytes, last.bytes, 100, "numbers have more digits")
	require.Equal(t, search1.requests, search2.requests)
	require.InDelta(t, search1.bytes, search2.bytes, 100)
	require.Less(t, m.largest, 10_000, "no request lists all repositories")
	if *manyRepos > 0 {
		fmt.Printf("of %d repositories, the last of the first %d and the last of all (ms)\n\n| | first | last | ratio |\n|---|---|---|---|\n", repos, times)
		for _, row := range []struct {
			what string
			a, b usage
		}{{"publish", first, last}, {"search", search1, search2}} {
			fmt.Printf("| %s | %.1f | %.1f | %.2f |\n", row.what, ms(row.a.median), ms(row.b.median), ms(row.b.median)/ms(row.a.median))
		}
	}
}
