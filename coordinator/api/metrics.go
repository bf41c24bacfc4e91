package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"leasehold/models"
	"leasehold/shared/lease"
	"leasehold/shared/status"
)

// maxSeries bounds the values of a label that strangers choose, such as a space's
// name; the rest is summed up as "other".
const maxSeries = 50

// metrics counts requests by route: the pattern, not the path.
type metrics struct {
	panics atomic.Int64

	mu    sync.Mutex // guards calls
	calls map[call]tally
}

type call struct {
	route  string
	status int
}

type tally struct {
	count   int64
	seconds float64
}

func newMetrics() *metrics { return &metrics{calls: map[call]tally{}} }

// count counts the requests that next answers.
func (m *metrics) count(route string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		watched := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			c := call{route, watched.status}
			t := m.calls[c]
			m.calls[c] = tally{t.count + 1, t.seconds + time.Since(began).Seconds()}
		}()
		next.ServeHTTP(watched, r)
	})
}

// statusWriter notes the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController find what is beneath.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// serveMetrics is /metrics in the text format of Prometheus.
func (s *server) serveMetrics(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), healthTimeout)
	defer cancel()
	var e exposition
	err := errors.Join(s.exposeSpaces(ctx, &e), s.exposeSessions(ctx, &e), s.exposeCatalog(ctx, &e), s.exposeVisits(ctx, &e))
	s.exposeEngine(&e)
	s.metrics.expose(&e)
	up := 1.0
	if err != nil {
		up = 0
		s.Log.Warn("api: some metrics could not be read", "error", err)
	}
	e.family("leasehold_complete", "gauge", "Whether all metrics could be read.")
	e.sample("leasehold_complete", up)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(e.Bytes())
}

func (s *server) exposeSpaces(ctx context.Context, e *exposition) error {
	infos, err := s.repo.List(ctx)
	if err != nil {
		return err
	}
	visible, held := map[string]float64{}, map[string]float64{}
	for i, info := range infos {
		name := info.Name
		if i >= maxSeries {
			name = "other"
		}
		visible[name] += float64(info.Visible)
		held[name] += float64(info.Held)
	}
	e.family("leasehold_space_tuples", "gauge", "Tuples in a space.")
	for _, name := range slices.Sorted(maps.Keys(visible)) {
		e.sample("leasehold_space_tuples", visible[name], "space", name, "state", "visible")
		e.sample("leasehold_space_tuples", held[name], "space", name, "state", "held")
	}
	totals, err := lease.Totals(ctx, s.repo)
	if err != nil {
		return err
	}
	e.family("leasehold_leases_total", "counter", "Leases by what happened to them, since the spaces were created.")
	for _, what := range []string{lease.Granted, lease.Extended, lease.Revoked, lease.Expired} {
		e.sample("leasehold_leases_total", float64(totals[what]), "event", strings.TrimPrefix(what, "leases "))
	}
	e.family("leasehold_results_late_total", "counter", "Results that were ingested and moved no lease, since the spaces were created.")
	e.sample("leasehold_results_late_total", float64(totals[lease.Late]))
	return nil
}

func (s *server) exposeSessions(ctx context.Context, e *exposition) error {
	states, err := s.repo.Space(status.Space).QueryAll(ctx, status.AnyState())
	if err != nil {
		return err
	}
	sessions := map[string]float64{"coordinator": 0, "manager": 0, "worker": 0}
	for _, t := range states {
		mode := modeOf(status.DecodeState(t).ID)
		if _, known := sessions[mode]; !known {
			mode = "other"
		}
		sessions[mode]++
	}
	if err := s.exposeCosts(ctx, e); err != nil {
		return err
	}
	e.family("leasehold_sessions", "gauge", "Sessions that show what they do.")
	for _, mode := range slices.Sorted(maps.Keys(sessions)) {
		e.sample("leasehold_sessions", sessions[mode], "mode", mode)
	}
	return nil
}

func (s *server) exposeCosts(ctx context.Context, e *exposition) error {
	costs, err := Costs(ctx, s.repo)
	for _, f := range []struct {
		name, help string
		of         func(models.Cost) float64
	}{
		{"leasehold_cost_tasks_total", "Tasks that told what they cost.", func(c models.Cost) float64 { return float64(c.Tasks) }},
		{"leasehold_cost_wall_seconds_total", "How long they took.", func(c models.Cost) float64 { return float64(c.Wall) }},
		{"leasehold_cost_cpu_seconds_total", "Processor time that they took.", func(c models.Cost) float64 { return float64(c.CPU) }},
		{"leasehold_cost_windows_total", "Windows of kept sound that they read.", func(c models.Cost) float64 { return float64(c.Windows) }},
	} {
		e.family(f.name, "counter", f.help)
		for _, c := range costs {
			e.sample(f.name, f.of(c), "action", c.Action, "how", c.How)
		}
	}
	return err
}

func (s *server) exposeCatalog(ctx context.Context, e *exposition) error {
	t, err := s.Catalog.Totals(ctx)
	if err != nil {
		return err
	}
	e.family("leasehold_catalog", "gauge", "What the catalog holds.")
	for _, x := range []struct {
		what string
		n    int
	}{
		{"origins", t.Origins}, {"episodes", t.Episodes}, {"clips", t.Clips},
		{"findings", t.Findings}, {"problems", t.Problems}, {"researched", t.Researched},
	} {
		e.sample("leasehold_catalog", float64(x.n), "what", x.what)
	}
	return nil
}

func (m *metrics) expose(e *exposition) {
	m.mu.Lock()
	calls := maps.Clone(m.calls)
	m.mu.Unlock()
	keys := slices.SortedFunc(maps.Keys(calls), func(a, b call) int {
		return cmp.Or(strings.Compare(a.route, b.route), cmp.Compare(a.status, b.status))
	})
	e.family("leasehold_http_request_seconds", "summary", "Requests by route and status, and how long they took.")
	for _, k := range keys {
		labels := []string{"route", k.route, "status", strconv.Itoa(k.status)}
		e.sample("leasehold_http_request_seconds_count", float64(calls[k].count), labels...)
		e.sample("leasehold_http_request_seconds_sum", calls[k].seconds, labels...)
	}
	e.family("leasehold_http_panics_total", "counter", "Requests that panicked.")
	e.sample("leasehold_http_panics_total", float64(m.panics.Load()))
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	e.family("go_goroutines", "gauge", "Goroutines.")
	e.sample("go_goroutines", float64(runtime.NumGoroutine()))
	e.family("go_memstats_heap_inuse_bytes", "gauge", "Bytes of the heap in use.")
	e.sample("go_memstats_heap_inuse_bytes", float64(mem.HeapInuse))
}

// exposition writes metrics as text.
type exposition struct{ bytes.Buffer }

func (e *exposition) family(name, kind, help string) {
	fmt.Fprintf(e, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

func (e *exposition) sample(name string, value float64, labels ...string) {
	_, _ = io.WriteString(e, name)
	for i := 0; i < len(labels); i += 2 {
		open := ","
		if i == 0 {
			open = "{"
		}
		fmt.Fprintf(e, `%s%s="%s"`, open, labels[i], labelEscapes.Replace(strings.ToValidUTF8(labels[i+1], "?")))
	}
	if len(labels) > 0 {
		e.WriteByte('}')
	}
	fmt.Fprintf(e, " %s\n", strconv.FormatFloat(value, 'g', -1, 64))
}
