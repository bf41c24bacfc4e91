package page_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"leasehold/coordinator/database"
	rules "leasehold/shared/protocol/visit/policy"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/coordinator"
	"leasehold/coordinator/api"
	"leasehold/coordinator/page"
	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/protocol/schedule"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a coordinator with its page.
type fixture struct {
	*testing.T
	repo  space.Repository
	store catalog.Catalog
	page  *page.Page
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	db, err := database.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"), "value", rules.DefaultRules())
	require.NoError(t, err)
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	c, err := coordinator.New(t.Context(), coordinator.Config{
		Journal: &journal.Memory{}, Catalog: db.Catalog, Visits: db.Visits, Visit: visit.Policy{Timeout: time.Hour}, Log: quiet,
		Work: work.Policy{Task: task.Policy{MaxAttempts: 1, Backoff: time.Second}, LeaseTTL: time.Hour, QueueTTL: time.Minute, Ingest: time.Minute},
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- c.Run(ctx, func() { close(ready) }) }()
	<-ready
	t.Cleanup(func() { stop(); require.NoError(t, <-done); require.NoError(t, db.Close()) })
	repo, err := c.Connect(t.Context(), "worker", 0)
	require.NoError(t, err)
	h := &fixture{T: t, repo: repo, store: db.Catalog}
	h.page = page.New(page.Config{Repo: repo, Catalog: db.Catalog, Log: quiet})
	return h
}

// setState puts the state of the session.
func (h *fixture) setState(state string) {
	heart := status.NewHeartbeat(h.repo, time.Hour, map[string]int{"research": 2})
	heart.SetState(state)
	require.NoError(h, heart.Beat(h.Context()))
}

// fill adds rows to every section.
func (h *fixture) fill(title, reason string) {
	_, err := h.store.AddOrigin(h.Context(), models.Origin{ID: "o", Kind: models.API, URI: "api:", AddedAt: time.Now()})
	require.NoError(h, err)
	_, err = h.store.Curate(h.Context(), "o", time.Now(), catalog.Listing{
		Episodes: []models.Episode{{Recording: models.Recording{Name: "e", Title: title}}},
		Clips: []models.Clip{
			{Recording: models.Recording{Name: "c", Title: title}}, {Recording: models.Recording{Name: "t", Title: "The theme"}},
		},
		Problems: []models.Problem{{Item: "x", Reason: reason}},
	})
	require.NoError(h, err)
	e, c, long := models.NewID("o", "e"), models.NewID("o", "c"), models.NewID("o", "t")
	require.NoError(h, h.store.Ingest(h.Context(), models.Researched{
		Episode: e, Clips: []string{c, long}, ClipMedia: map[string]models.MediaRef{c: {}, long: {}},
		Findings: []models.Finding{{Episode: e, Clip: c, Occurrence: models.Occurrence{Offset: 77.19, Score: 0.97}}, {Episode: e, Clip: long, Occurrence: models.Occurrence{Offset: 70, Duration: 30, Score: 0.8, PartFrom: 1.25, PartTo: 31.25, Coverage: 0.7}}},
	}, time.Now()))
	tasks := task.Client{Repo: h.repo}
	_, err = tasks.Create(h.Context(), models.Task{Action: "research", Timeout: 60}, 0)
	require.NoError(h, err)
	claimed, err := tasks.Claim(h.Context(), "research")
	require.NoError(h, err)
	require.NoError(h, status.Spend(h.Context(), h.repo, models.Cost{Action: "research", How: "decoded", Tasks: 3, Wall: 6.25, CPU: 5, Windows: 71}))
	require.NoError(h, tasks.Fail(h.Context(), claimed, task.Failure{Reason: reason, GiveUp: true}))
}

func (h *fixture) get(path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.page.ServeHTTP(w, httptest.NewRequestWithContext(h.Context(), "GET", path, nil))
	return w
}

func TestThePageShowsEverythingWithoutAScript(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.setState("Working on: research 9c1e")
	h.fill("Monday", "no enclosure: not found")
	w := h.get("/")
	require.Equal(t, http.StatusOK, w.Code)
	for _, want := range []string{
		h.repo.Session(), "Working on: research 9c1e", "research × 2", "<code>task</code>", "1 dead letter", `<td class="bad">no enclosure</td>`, "Monday", "1:17.19", "0.970",
		"within The theme", "1.25–31.25 s", "<td>decoded</td>", "6.25",
	} {
		require.Contains(t, w.Body.String(), want)
	}
	require.Equal(t, http.StatusNotFound, h.get("/nothing").Code)
	require.Equal(t, http.StatusMethodNotAllowed, func() int {
		w := httptest.NewRecorder()
		h.page.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "/", nil))
		return w.Code
	}())
}

// counted are the counters of visits.
type counted visits.Facts

func (c counted) Facts(context.Context) (visits.Facts, error) { return visits.Facts(c), nil }

func TestThePageCountsTheItemsThatMayHaveBeenMissed(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.page = page.New(page.Config{Repo: h.repo, Catalog: h.store, Visits: counted{}, Log: slog.New(slog.DiscardHandler)})
	require.NotContains(t, h.get("/").Body.String(), "may have been missed")
	h.page = page.New(page.Config{Repo: h.repo, Catalog: h.store, Visits: counted{Overflows: 2, Missed: 12}, Log: slog.New(slog.DiscardHandler)})
	require.Contains(t, h.get("/").Body.String(), "12 items of feeds may have been missed before 2 visits.")
	h.page = page.New(page.Config{Repo: h.repo, Catalog: h.store, Visits: counted{Overflows: 1, Missed: 1}, Log: slog.New(slog.DiscardHandler)})
	require.Contains(t, h.get("/").Body.String(), "1 item of feeds may have been missed before 1 visit.")
}

func TestThePageShowsWhenSchedulesAreDue(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	require.Contains(t, h.get("/").Body.String(), "No schedules.")
	h = newFixture(t)
	client := schedule.Client{Repo: h.repo, Now: func() time.Time { return time.Date(2126, 11, 22, 12, 0, 0, 0, time.UTC) }}
	for name, s := range map[string]models.Schedule{
		"nightly": {Cron: "30 3 * * *", Zone: "Europe/Berlin", Task: models.ScheduledTask{Action: "import"}},
		"poll":    {Every: 900, Task: models.ScheduledTask{Action: "check"}},
		"off":     {Every: 60, Task: models.ScheduledTask{Action: "check"}},
	} {
		_, _, err := client.Set(t.Context(), name, s)
		require.NoError(t, err)
	}
	_, err := client.Pause(t.Context(), "off")
	require.NoError(t, err)
	body := h.get("/").Body.String()
	for _, want := range []string{
		"<td><code>nightly</code></td><td>import</td><td>30 3 * * * Europe/Berlin</td><td>11-23 02:30:00</td>",
		"<td><code>poll</code></td><td>check</td><td>every 15m0s</td><td>11-22 12:15:00</td>",
		"<td><code>off</code></td><td>check</td><td>every 1m0s</td><td>paused</td>",
	} {
		require.Contains(t, body, want)
	}
}

func TestFault47TextsOfForeignClientsAreEscapedAndThePageLoadsOnlyItsOwnFiles(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	const evil = `<script>alert(1)</script><img src=x onerror=alert(1)>`
	h.setState(evil)
	h.fill(evil, evil)
	w := h.get("/")
	require.NotContains(t, w.Body.String(), "<script>alert")
	require.NotContains(t, w.Body.String(), "<img")
	require.Contains(t, w.Body.String(), "&lt;script&gt;alert(1)")
	require.NotRegexp(t, `(?i)<[^>]*\son[a-z]+=|<style|style=|<script>`, w.Body.String(), "nothing is inline")
	csp := w.Header().Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
		require.Contains(t, csp, want)
	}
	require.NotContains(t, csp, "unsafe")
	require.Equal(t, "DENY", w.Header().Get("X-Frame-Options"))
	for _, asset := range []string{"page.js", "page.css", "icon.svg"} {
		require.Equal(t, http.StatusOK, h.get("/assets/"+asset).Code)
	}
}

// event reads the next event of a stream: its name and its data.
func event(t *testing.T, r *bufio.Reader) (name, data string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		require.NoError(t, err)
		switch line = strings.TrimSuffix(line, "\n"); {
		case line == "" && name != "":
			return name, data
		case strings.HasPrefix(line, "event: "):
			name = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			data += line[len("data: "):]
		}
	}
}

func TestTheStreamSendsSectionsThatChange(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.setState("idle")
	server := httptest.NewServer(h.page)
	defer server.Close()
	ctx, leave := context.WithCancel(t.Context())
	defer leave() // because the server waits for the stream
	r, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/events", nil)
	require.NoError(t, err)
	resp, err := server.Client().Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
	stream := bufio.NewReader(resp.Body)
	for _, want := range []string{"status", "spaces", "schedules", "attention", "findings"} {
		name, _ := event(t, stream)
		require.Equal(t, want, name)
	}
	h.setState("Working on: research 9c1e")
	name, data := event(t, stream)
	require.Equal(t, "status", name)
	require.Contains(t, data, "Working on: research 9c1e")
}

// pipes is a listener whose connections have no buffer.
type pipes struct{ conns chan net.Conn }

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { close(p.conns); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func TestFault37AVisitorThatNeverReadsIsDisconnectedAndOthersAreNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, neverReads)
}

func neverReads(t *testing.T) {
	h := newFixture(t)
	h.setState("idle")
	ended := make(chan string, 2)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.page.ServeHTTP(w, r)
		ended <- r.Header.Get("Name")
	})
	ln := pipes{make(chan net.Conn)}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- api.Serve(ctx, ln, handler) }()
	dial := func(name string) net.Conn {
		ours, theirs := net.Pipe()
		ln.conns <- theirs
		_, err := fmt.Fprintf(ours, "GET /events HTTP/1.1\r\nHost: localhost\r\nName: %s\r\n\r\n", name)
		require.NoError(t, err)
		return ours
	}
	reader := dial("reader")
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	silent := dial("silent")
	require.Equal(t, "silent", <-ended)
	stop() // ends the stream of the other visitor
	require.Equal(t, "reader", <-ended)
	require.NoError(t, <-served)
	require.NoError(t, silent.Close())
	require.NoError(t, reader.Close())
}

// At the limit of followers, further ones are refused at once, and those that follow see a
// change as soon as before.
func TestFollowersPastTheLimitAreRefusedAndDelayNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		h.setState("idle")
		ln := pipes{make(chan net.Conn)}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- api.Serve(ctx, ln, h.page) }()
		follow := func() (net.Conn, *http.Response) {
			ours, theirs := net.Pipe()
			ln.conns <- theirs
			_, err := io.WriteString(ours, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
			require.NoError(t, err)
			resp, err := http.ReadResponse(bufio.NewReader(ours), nil)
			require.NoError(t, err)
			return ours, resp
		}
		var conns []net.Conn
		const limit, surplus = 200, 100
		changed := make(chan time.Time, limit)
		for range limit {
			c, resp := follow()
			require.Equal(t, http.StatusOK, resp.StatusCode)
			conns = append(conns, c)
			go func() {
				for stream := bufio.NewReader(resp.Body); ; {
					line, err := stream.ReadString('\n')
					if strings.Contains(line, "Working on: research 9c1e") {
						changed <- time.Now()
					}
					if err != nil {
						return
					}
				}
			}()
		}
		for range surplus {
			c, resp := follow()
			require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
			require.NotEmpty(t, resp.Header.Get("Retry-After"))
			conns = append(conns, c)
		}
		began := time.Now()
		h.setState("Working on: research 9c1e")
		for range limit {
			require.LessOrEqual(t, (<-changed).Sub(began), 2*time.Second)
		}
		stop()
		require.NoError(t, <-served)
		for _, c := range conns {
			require.NoError(t, c.Close())
		}
	})
}

func TestThePageFailsIfTheCatalogCannotBeRead(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	// Only the page reads this catalog: the coordinator would end without its own.
	closed, err := database.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"), "value", rules.DefaultRules())
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	h.page = page.New(page.Config{Repo: h.repo, Catalog: closed.Catalog, Log: slog.New(slog.DiscardHandler)})
	require.Equal(t, http.StatusServiceUnavailable, h.get("/").Code)
}
