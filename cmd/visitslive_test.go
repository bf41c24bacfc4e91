//go:build linux

package cmd

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
)

var visitsLive = flag.Duration("visits.live", 0, "how long 200 feeds and 60 repositories are visited; above 0 the delays are checked too")

// The rules of the live run. No host may get more than liveSlots requests at once.
const (
	liveHosts, liveFeeds, liveRepositories = 40, 5, 60 // feeds of each host

	liveSlots    = 2
	liveCooldown = 10 * time.Second
)

// liveHost serves feeds and repositories that change all the time, at an address of its own.
type liveHost struct {
	mu        sync.Mutex
	url       string
	now, most int                  // requests
	visits    map[string]int       // by path
	changed   map[string]time.Time // the first change that was not seen; none is in the map
	version   map[string]int
	delays    []time.Duration
	lead      string // to which all requests of feeds are redirected; empty: to none
}

func (h *liveHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.now++
	h.most = max(h.most, h.now)
	h.mu.Unlock()
	<-time.After(10 * time.Millisecond) // so that requests meet
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now--
	path := r.URL.Path
	if h.lead != "" {
		h.visits[path]++
		http.Redirect(w, r, h.lead+"/redirected"+path+"?of="+strings.TrimPrefix(h.url, "http://"), http.StatusFound)
		return
	}
	h.visits[path]++
	if at, ok := h.changed[path]; ok {
		h.delays = append(h.delays, time.Since(at))
		delete(h.changed, path)
	}
	switch {
	case strings.HasSuffix(path, "/info/refs"):
		hash := fmt.Sprintf("%040x", h.version[path]+1)
		fmt.Fprintf(w, "001e# service=git-upload-pack\n0000%04x%s refs/heads/main\n0000", 4+len(hash)+len(" refs/heads/main\n"), hash)
	case path == "/robots.txt":
		http.NotFound(w, r)
	default:
		fmt.Fprintf(w, `<rss version="2.0"><channel><title>t</title><item><guid>%d</guid><enclosure url="%s/a.mp3" type="audio/mpeg"/></item></channel></rss>`, h.version[path], h.url)
	}
}

// change changes a document, unless a change of it was not seen yet.
func (h *liveHost) change(path string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, unseen := h.changed[path]; !unseen {
		h.version[path]++
		h.changed[path] = time.Now()
	}
}

func (h *liveHost) seen(path string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.visits[path]
}

// newLiveHost serves a host at 127.0.1.N.
func newLiveHost(t *testing.T, n int) *liveHost {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.1.%d:0", n+1))
	require.NoError(t, err)
	h := &liveHost{visits: map[string]int{}, changed: map[string]time.Time{}, version: map[string]int{}}
	h.url = "http://" + l.Addr().String()
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}}
	s.Start()
	t.Cleanup(s.Close)
	return h
}

// post sends a document to the API.
func post(t *testing.T, c *coordinatorProcess, path, doc string) {
	t.Helper()
	answer, err := http.Post("http://"+c.at.HTTP+"/api/v1"+path, "application/json", strings.NewReader(doc))
	require.NoError(t, err)
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, 2, answer.StatusCode/100, string(said))
}

// In a live run of real processes no host gets more requests at once than its limit, also behind redirects, nothing
// starves, and a change that is reported is visited though its cooldown is a day.
func TestLiveVisitsArePoliteAndSeeChangesSoon(t *testing.T) {
	t.Parallel()
	dir, program := t.TempDir(), filepath.Join(realBinary(t), "leasehold")
	var hosts []*liveHost
	type document struct {
		host *liveHost
		path string
	}
	var documents []document
	var feeds, repositories []string
	for n := range liveHosts {
		h := newLiveHost(t, n)
		hosts = append(hosts, h)
		for f := range liveFeeds {
			feeds = append(feeds, fmt.Sprintf("%s/%d.xml", h.url, f))
			documents = append(documents, document{h, fmt.Sprintf("/%d.xml", f)})
		}
	}
	for _, h := range hosts[:5] {
		h.lead = hosts[len(hosts)-1].url
	}
	for n := range liveRepositories {
		h := hosts[5+n%(liveHosts-5)]
		repositories = append(repositories, fmt.Sprintf("%s/%d.git", h.url, n))
		documents = append(documents, document{h, fmt.Sprintf("/%d.git/info/refs", n)})
	}
	told := newLiveHost(t, liveHosts)
	rules := fmt.Sprintf("cooldown=%s,longest-cooldown=0s,rest-share=0,host-gap=100ms,host-slots=%d,told-gap=1s", liveCooldown, liveSlots)
	c := startCoordinatorProcess(t, dir, program, "coordinator", "--data", "c", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0",
		"--visit-rules", rules)
	start(t, dir, program, "manager", "--data", "m", "--host", c.at.Gate, "--allow-private", "127.0.0.0/8")
	add := func(kind models.OriginKind, uris []string, every string) {
		for _, uri := range uris {
			post(t, c, "/origins", fmt.Sprintf(`{"kind":%q,"uri":%q%s}`, kind, uri, every))
		}
	}
	add(models.Feed, []string{told.url + "/told.xml"}, `,"every_s":86400`)
	add(models.Feed, feeds, "")
	add(models.Git, repositories, "")

	visited := func(h *liveHost, path string, n int) {
		t.Helper()
		c.await(func() (string, bool) { return c.text(), h.seen(path) >= n }, fmt.Sprintf("visit %d of %s%s", n, h.url, path))
	}
	visited(told, "/told.xml", 1)
	told.change("/told.xml")
	post(t, c, "/origins/"+models.NewID("feed", told.url+"/told.xml")+"/changed", "")
	visited(told, "/told.xml", 2)

	for end := time.Now().Add(*visitsLive); time.Now().Before(end); <-time.After(time.Second) {
		for n, d := range documents {
			if (n+int(time.Now().Unix()))%20 == 0 {
				d.host.change(d.path)
			}
		}
	}
	var delays []time.Duration
	for _, d := range documents {
		visited(d.host, d.path, 2)
	}
	for _, h := range hosts {
		h.mu.Lock()
		require.LessOrEqual(t, h.most, liveSlots, h.url)
		delays = append(delays, h.delays...)
		h.mu.Unlock()
	}
	if *visitsLive == 0 {
		return
	}
	slices.Sort(delays)
	p95 := delays[len(delays)*95/100]
	t.Logf("%d changes seen, p95 after %s", len(delays), p95)
	require.LessOrEqual(t, p95, liveCooldown*3/2)
}
