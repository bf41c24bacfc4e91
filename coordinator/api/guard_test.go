package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/space"
)

func TestFault47ARequestOfATrickedBrowserIsRefused(t *testing.T) {
	t.Parallel()
	h := newFixtureWith(t, func(c *api.Config) { c.Hosts = []string{"leasehold.example.org"} })
	for name, c := range map[string]struct {
		method, host string
		header       [2]string
		want         int
	}{
		"a script of ours":       {"POST", "", [2]string{}, 400},
		"our own page":           {"POST", "", [2]string{"Sec-Fetch-Site", "same-origin"}, 400},
		"another site writes":    {"POST", "", [2]string{"Sec-Fetch-Site", "cross-site"}, 403},
		"an old browser writes":  {"POST", "", [2]string{"Origin", "https://evil.example"}, 403},
		"a form of another port": {"POST", "", [2]string{"Sec-Fetch-Site", "same-site"}, 403},
		"another site reads":     {"GET", "", [2]string{"Sec-Fetch-Site", "cross-site"}, 200},
		"a rebound name":         {"GET", "evil.example:7412", [2]string{}, 403},
		"a rebound name POST":    {"POST", "evil.example", [2]string{}, 403},
		"a name like ours":       {"GET", "localhost.evil.example", [2]string{}, 403},
		"localhost":              {"GET", "localhost:7412", [2]string{}, 200},
		"an address":             {"GET", "192.0.2.1:7412", [2]string{}, 200},
		"an address of six":      {"GET", "[::1]:7412", [2]string{}, 200},
		"a container":            {"GET", "coordinator:7412", [2]string{}, 200},
		"an allowed name":        {"GET", "Leasehold.example.org.:80", [2]string{}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), c.method, h.server.URL+v1+"/origins", strings.NewReader("{"))
			require.NoError(t, err)
			r.Host = c.host
			if c.header[0] != "" {
				r.Header.Set(c.header[0], c.header[1])
			}
			status, _ := h.send(r)
			require.Equal(t, c.want, status)
		})
	}
}

func TestAPathCanBeAddedOnlyFromThisMachine(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, c := range []struct {
		path, body, from string
		want             int
	}{
		{"/origins", `{"kind":"media","uri":"/srv/a"}`, "127.0.0.1:9", 201},
		{"/origins", `{"kind":"media","uri":"/srv/b"}`, "[::1]:9", 201},
		{"/origins", `{"kind":"media","uri":"/etc"}`, "192.0.2.1:9", 403},
		{"/origins", `{"kind":"feed","uri":"/etc/feed.xml"}`, "192.0.2.1:9", 403},
		{"/origins", `{"kind":"feed","uri":"https://example.org/feed.xml"}`, "192.0.2.1:9", 201},
		{"/catalog/origins", `{"priority":0,"id":"x","kind":"media","uri":"/etc"}`, "192.0.2.1:9", 403},
		{"/catalog/origins", `{"priority":0,"id":"x","kind":"media","uri":"/etc"}`, "", 403},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), "POST", "http://localhost"+v1+c.path, strings.NewReader(c.body))
		r.RemoteAddr = c.from
		h.server.Config.Handler.ServeHTTP(w, r)
		require.Equal(t, c.want, w.Code, "%+v: %s", c, w.Body)
	}
}

// An origin that another machine adds leads managers to no private address, as one that a feed lists.
func TestAnOriginOfAnotherMachineIsGuardedUntilTheOperatorAddsIt(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	add := func(path, body, from string) {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), "POST", "http://localhost"+v1+path, strings.NewReader(body))
		r.RemoteAddr = from
		h.server.Config.Handler.ServeHTTP(w, r)
		require.Less(t, w.Code, 300, "%s", w.Body)
	}
	const uri = "http://127.0.0.1:8080/feed.xml"
	id := models.NewID("feed", uri)
	isGuarded := func() bool {
		o, err := h.catalog.Origin(t.Context(), id)
		require.NoError(t, err)
		return o.Listed
	}
	for _, path := range []string{"/origins", "/catalog/origins"} {
		body := `{"kind":"feed","uri":"` + uri + `"}`
		if path == "/catalog/origins" {
			body = `{"id":"` + id + `","priority":0,"kind":"feed","uri":"` + uri + `"}`
		}
		add(path, body, "192.0.2.1:9")
		require.True(t, isGuarded(), path)
		add(path, body, "127.0.0.1:9")
		require.False(t, isGuarded(), path)
		add(path, body, "192.0.2.1:9")
		require.False(t, isGuarded(), "the operator has added it already")
		require.NoError(t, h.catalog.RemoveOrigin(t.Context(), id))
	}
}

func TestABackupWantsAnAbsolutePathAndAClientOnThisMachine(t *testing.T) {
	t.Parallel()
	var made []string
	with := newFixtureWith(t, func(c *api.Config) {
		c.Backup = func(_ context.Context, path string) error { made = append(made, path); return nil }
	})
	without := newFixture(t)
	for _, c := range []struct {
		h          *fixture
		path, from string
		want       int
		says       string
	}{
		{with, "backups/a", "127.0.0.1:9", 400, "want an absolute path"},
		{with, "", "127.0.0.1:9", 400, "want an absolute path"},
		{with, "/backups/b", "192.0.2.1:9", 403, `/backups/b\": forbidden: it is a folder on the coordinator's machine`},
		{without, "/backups/c", "127.0.0.1:9", 403, "makes no backups"},
		{with, "/backups/d", "127.0.0.1:9", 201, "/backups/d"},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), "POST", "http://localhost"+v1+"/backups", strings.NewReader(marshal(t, types.Backup{Path: c.path})))
		r.RemoteAddr = c.from
		c.h.server.Config.Handler.ServeHTTP(w, r)
		require.Equal(t, c.want, w.Code, "%+v: %s", c, w.Body)
		require.Contains(t, w.Body.String(), c.says)
	}
	require.Equal(t, []string{"/backups/d"}, made)
	broken := newFixtureWith(t, func(c *api.Config) {
		c.Backup = func(context.Context, string) error { return fault.ErrOverloaded }
	})
	broken.refuses("overloaded", "POST", v1+"/backups", `{"path":"/backups/e"}`)
}

// faultyCatalog panics or waits when clips are listed.
type faultyCatalog struct {
	catalog.Catalog
	clips func(context.Context) ([]models.Clip, error)
}

func (c faultyCatalog) Clips(ctx context.Context) ([]models.Clip, error) { return c.clips(ctx) }

func TestARequestThatPanicsFailsAloneAndIsCounted(t *testing.T) {
	t.Parallel()
	h := newFixtureWith(t, func(c *api.Config) {
		c.Catalog = faultyCatalog{c.Catalog, func(context.Context) ([]models.Clip, error) { panic("a secret") }}
	})
	status, v := h.call("GET", v1+"/clips", "")
	require.Equal(t, http.StatusInternalServerError, status)
	require.Equal(t, "internal", v["code"])
	require.NotContains(t, fmt.Sprint(v), "secret")
	h.ok("GET", v1+"/episodes", "")
	require.Contains(t, h.text("/metrics"), "leasehold_http_panics_total 1\n")
}

func TestConcurrentRequestsAreBounded(t *testing.T) {
	t.Parallel()
	begun, free := make(chan struct{}, api.MaxInFlight), make(chan struct{})
	h := newFixtureWith(t, func(c *api.Config) {
		c.Catalog = faultyCatalog{c.Catalog, func(context.Context) ([]models.Clip, error) {
			begun <- struct{}{}
			<-free
			return nil, nil
		}}
	})
	done := make(chan int, api.MaxInFlight)
	for range api.MaxInFlight {
		go func() {
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost"+v1+"/clips", nil)
			r.RemoteAddr = "127.0.0.1:1"
			h.server.Config.Handler.ServeHTTP(w, r)
			done <- w.Code
		}()
	}
	for range api.MaxInFlight {
		<-begun
	}
	h.refuses("overloaded", "GET", v1+"/origins", "")
	require.Equal(t, "ok\n", h.text("/healthz"), "health is not limited")
	close(free)
	for range api.MaxInFlight {
		require.Equal(t, http.StatusOK, <-done)
	}
	h.ok("GET", v1+"/origins", "")
}

// text requests a path, and returns the body.
func (h *fixture) text(path string) string {
	h.Helper()
	resp, err := h.server.Client().Get(h.server.URL + path)
	require.NoError(h, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(h, err)
	require.Equal(h, http.StatusOK, resp.StatusCode, "%s", data)
	return string(data)
}

func TestHealthAndMetrics(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	require.Equal(t, "ok\n", h.text("/healthz"))
	require.Equal(t, "ok\n", h.text("/readyz"))
	h.ok("GET", v1+"/origins", "")
	metrics := h.text("/metrics")
	for _, line := range []string{
		`leasehold_space_tuples{space="task",state="visible"} 0`,
		`leasehold_sessions{mode="worker"} 0`,
		`leasehold_leases_total{event="granted"} 0`,
		`leasehold_results_late_total 0`,
		`leasehold_catalog{what="findings"} 0`,
		`leasehold_http_request_seconds_count{route="GET /api/v1/origins",status="200"} 1`,
		`leasehold_complete 1`,
		`leasehold_engine_full 0`,
		`leasehold_engine_queue_depth 0`,
		`leasehold_memory_used_bytes 0`,
		`leasehold_engine_refused_total 0`,
		`leasehold_http_request_seconds_bucket{route="GET /api/v1/origins",status="200",le="+Inf"} 1`,
		"# TYPE leasehold_journal_commit_seconds histogram",
		"# TYPE go_goroutines gauge",
		"# TYPE go_memstats_heap_inuse_bytes gauge",
	} {
		require.Contains(t, metrics, line+"\n")
	}
	commits := regexp.MustCompile(`leasehold_journal_commit_seconds_(?:count|bucket{le="\+Inf"}) (\d+)`).FindAllStringSubmatch(metrics, -1)
	require.Len(t, commits, 2)
	require.NotEqual(t, "0", commits[0][1])
	require.Equal(t, commits[0][1], commits[1][1])
	require.NotContains(t, metrics, `leasehold_journal_commit_seconds_bucket{le="1"} 0`, "commits of a test take less than a second")
	require.Contains(t, h.text(v1+"/openapi.yaml"), "openapi: 3.1.0")

	require.NoError(t, h.catalog.Close())
	resp, err := h.server.Client().Get(h.server.URL + "/readyz")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	require.Contains(t, h.text("/metrics"), "leasehold_complete 0\n")
}

func TestFault12AFullDiskShowsAtReadyzAndInTheMetrics(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.disk.full.Store(true)
	resp, err := h.server.Client().Get(h.server.URL + "/readyz")
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	require.Contains(t, string(body), "the disk")
	h.refuses("overloaded", "POST", v1+"/spaces/result/put", `{"tuple":"a"}`)
	metrics := h.text("/metrics")
	require.Contains(t, metrics, "leasehold_engine_full 1\n")
	require.Contains(t, metrics, "leasehold_engine_refused_total 1\n")
	require.Equal(t, "ok\n", h.text("/healthz"), "a restart would not help")
	h.disk.full.Store(false)
	require.Equal(t, "ok\n", h.text("/readyz"))
}

func TestFault55NamesThatClientsChooseMakeFewSeries(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for n := range 300 {
		require.NoError(t, h.repo.Create(t.Context(), fmt.Sprintf("queue-%03d\"\n", n), space.Options{}))
		_, _ = h.call("GET", fmt.Sprintf("%s/spaces/%d", v1, n), "")
	}
	metrics := h.text("/metrics")
	require.Less(t, strings.Count(metrics, "\nleasehold_space_tuples{"), 103, "two of each name, and of the others")
	require.Less(t, strings.Count(metrics, "\n"), 500)
	require.Contains(t, metrics, `leasehold_space_tuples{space="other",state="visible"}`)
	require.Contains(t, metrics, `leasehold_http_request_seconds_count{route="GET /api/v1/spaces/{space}",status="404"} 300`)
	require.Contains(t, metrics, `space="queue-000\"\n"`)
}

func TestServeLetsRequestsFinishAndEndsStreams(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	begun, served := make(chan struct{}), make(chan error, 1)
	go func() {
		served <- api.Serve(ctx, ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			close(begun)
			<-api.Draining(r.Context())
			require.NoError(t, r.Context().Err(), "a request in progress may finish")
			_, _ = io.WriteString(w, "bye")
		}))
	}()
	answer := make(chan string, 1)
	go func() {
		resp, err := http.Get("http://" + ln.Addr().String())
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		data, _ := io.ReadAll(resp.Body)
		answer <- string(data)
	}()
	<-begun
	stop()
	require.NoError(t, <-served)
	require.Equal(t, "bye", <-answer)
	http.DefaultClient.CloseIdleConnections()
}

func TestFault36AConnectionThatSendsNothingIsClosed(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- api.Serve(ctx, ln, http.NotFoundHandler()) }()
	conn, err := net.Dial("tcp", ln.Addr().String())
	require.NoError(t, err)
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: ")
	require.NoError(t, err)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	_, err = bufio.NewReader(conn).ReadString(0)
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, conn.Close())
	stop()
	require.NoError(t, <-served)
}

func TestServeReturnsTheErrorOfItsListener(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, ln.Close())
	require.ErrorIs(t, api.Serve(t.Context(), ln, http.NotFoundHandler()), net.ErrClosed)
}
