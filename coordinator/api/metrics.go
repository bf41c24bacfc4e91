package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"leasehold/shared/process/exposition"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/space/engine"
)

// maxSeries limits the values of a label that clients choose, such as the name of a space;
// the values past it are summed up as "other".
const maxSeries = 50

// metrics are the metrics of the HTTP server and the process. Requests are counted by the
// pattern of their route, because clients choose the path.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	panics   prometheus.Counter
}

// newMetrics returns the metrics that last: of requests, panics and the process. The others are
// read at each scrape.
func newMetrics() *metrics {
	m := &metrics{
		registry: exposition.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "leasehold_http_request_seconds", Help: "This is the duration of requests, by route and status, without those that wait or stream.",
			Buckets: []float64{.001, .005, .025, .1, .5, 2.5, 10, 30},
		}, []string{"route", "status"}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{Name: "leasehold_http_panics_total", Help: "This counts the requests whose handler panicked."}),
	}
	m.registry.MustRegister(m.requests, m.panics)
	return m
}

type innerKey struct{}

// Inner marks the requests that the page makes within the process, which the metrics of requests do not count.
func Inner(ctx context.Context) context.Context { return context.WithValue(ctx, innerKey{}, true) }

// measure returns next with a measurement of each request: its duration, by route and status. Streams of events are not
// measured, because they last as long as the reader wants.
func (m *metrics) measure(route string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(innerKey{}) != nil {
			next.ServeHTTP(w, r)
			return
		}
		began := time.Now()
		recorded := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			if recorded.Header().Get("Content-Type") == "text/event-stream" {
				return
			}
			m.requests.WithLabelValues(route, strconv.Itoa(recorded.status)).Observe(time.Since(began).Seconds())
		}()
		next.ServeHTTP(recorded, r)
	})
}

// statusWriter records the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap gives http.ResponseController the connection's writer.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// serveMetrics serves /metrics. The metrics of the spaces, the catalog, the visits and
// the engine are read for each scrape; those that cannot be read are left out, and
// leasehold_complete is 0.
func (s *server) serveMetrics(w http.ResponseWriter, r *http.Request) {
	if err := takeSlot(s.scrapes); err != nil {
		s.fail(w, r, err)
		return
	}
	defer func() { <-s.scrapes }()
	ctx, cancel := context.WithTimeout(r.Context(), healthTimeout)
	defer cancel()
	scrape := prometheus.NewRegistry()
	scrape.MustRegister(exposition.Collector(func(to exposition.Sink) {
		complete := 1.0
		if err := errors.Join(s.collectSpaces(ctx, to), s.collectActions(ctx, to), s.collectSessions(ctx, to), s.collectCatalog(ctx, to), s.collectVisits(ctx, to)); err != nil {
			complete = 0
			s.Log.Warn("api: some metrics could not be read", "error", err)
		}
		s.collectAttention(to)
		s.collectEngine(to)
		s.collectDurations(to)
		to.Gauge("leasehold_complete", "This is 1 if all metrics could be read, and 0 if some are missing.", complete)
	}))
	exposition.Handler(s.metrics.registry, scrape).ServeHTTP(w, r)
}

// collectSpaces gives the first maxSeries spaces by name series of their own, so that these
// change only when spaces are created; the others are summed up as "other". List returns the
// spaces by name. It collects the totals of leases too.
func (s *server) collectSpaces(ctx context.Context, to exposition.Sink) error {
	infos, err := s.repo.List(ctx)
	if err != nil {
		return err
	}
	visible, held := map[string]float64{}, map[string]float64{}
	for i, info := range infos {
		name := strings.ToValidUTF8(info.Name, "?")
		if i >= maxSeries {
			name = "other"
		}
		visible[name] += float64(info.Visible)
		held[name] += float64(info.Held)
	}
	for name := range visible {
		to.Gauge("leasehold_space_tuples", "This is the number of tuples in a space, by whether a session holds them.", visible[name], "space", name, "state", "visible")
		to.Gauge("leasehold_space_tuples", "This is the number of tuples in a space, by whether a session holds them.", held[name], "space", name, "state", "held")
	}
	totals, err := lease.Totals(ctx, s.repo)
	if err != nil {
		return err
	}
	for _, name := range []string{lease.Granted, lease.Extended, lease.Revoked, lease.Expired} {
		to.Counter("leasehold_leases_total", "This counts the events of leases since the spaces were created.", float64(totals[name]), "event", strings.TrimPrefix(name, "leases "))
	}
	to.Counter("leasehold_results_late_total", "This counts the results that were ingested without a valid lease since the spaces were created.", float64(totals[lease.Late]))
	return nil
}

// collectSessions counts the sessions by mode, 0 included, and collects the costs of tasks. An unknown mode
// counts as "other".
func (s *server) collectSessions(ctx context.Context, to exposition.Sink) error {
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
	for mode, n := range sessions {
		to.Gauge("leasehold_sessions", "This is the number of sessions that have a status, by mode.", n, "mode", mode)
	}
	costs, err := Costs(ctx, s.repo)
	for _, c := range costs {
		for _, x := range []struct {
			name, help string
			value      float64
		}{
			{"leasehold_cost_tasks_total", "This counts the tasks that reported their cost.", float64(c.Tasks)},
			{"leasehold_cost_wall_seconds_total", "This is the total duration of these tasks.", float64(c.Wall)},
			{"leasehold_cost_cpu_seconds_total", "This is the total processor time of these tasks.", float64(c.CPU)},
			{"leasehold_cost_windows_total", "This counts the windows of kept audio that these tasks read.", float64(c.Windows)},
		} {
			to.Counter(x.name, x.help, x.value, "action", c.Action, "how", c.How)
		}
	}
	return err
}

// collectCatalog collects the totals of the catalog.
func (s *server) collectCatalog(ctx context.Context, to exposition.Sink) error {
	t, err := s.Catalog.Totals(ctx)
	if err != nil {
		return err
	}
	for what, n := range map[string]int{
		"origins": t.Origins, "episodes": t.Episodes, "clips": t.Clips, "findings": t.Findings, "problems": t.Problems, "researched": t.Researched,
	} {
		to.Gauge("leasehold_catalog", "This is the number of rows in the catalog, by what they describe.", float64(n), "what", what)
	}
	return nil
}

// collectDurations collects the histograms of the configuration.
func (s *server) collectDurations(to exposition.Sink) {
	for _, d := range s.Durations {
		to.Histogram(d.Name, d.Help, d.Histogram, d.Labels...)
	}
}

// collectEngine collects the engine's figures. None has a label whose values a client
// could choose.
func (s *server) collectEngine(to exposition.Sink) {
	if s.Engine == nil {
		return
	}
	s.collectRealm(to)
	stats := s.Engine.Stats()
	full := 0.0
	if stats.Full {
		full = 1
	}
	to.Gauge("leasehold_engine_sessions", "This is the number of sessions that are alive.", float64(stats.Sessions))
	to.Gauge("leasehold_engine_waiters", "This is the number of calls that wait for a tuple.", float64(stats.Waiters))
	to.Gauge("leasehold_engine_holds", "This is the number of tuples that are held, or taken and not acknowledged.", float64(stats.Held))
	to.Gauge("leasehold_engine_queue_depth", "This is the number of transactions that wait to be committed.", float64(stats.Pending))
	to.Gauge("leasehold_engine_full", "This is 1 while puts are refused because the disk is full or the memory budget is used up.", full)
	to.Gauge("leasehold_memory_used_bytes", "This is the estimated number of bytes that are used of the memory budget.", float64(stats.Memory))
	if stats.MemoryLimit > 0 {
		to.Gauge("leasehold_memory_budget_bytes", "This is the memory budget (--memory), and absent without one; puts and new clients are refused at three quarters of it.", float64(stats.MemoryLimit))
	}
	to.Counter("leasehold_engine_operations_total", "This counts the transactions that succeeded.", float64(stats.Operations))
	to.Counter("leasehold_engine_refused_total", "This counts the requests that were refused because a limit was reached.", float64(stats.Refused))
	to.Mean("leasehold_journal_batch_records", "This is the number of records that one commit writes.", stats.Commits, float64(stats.Records))
	buckets, n := map[float64]uint64{}, uint64(0)
	for i, bound := range engine.CommitBounds {
		n += stats.CommitTimes[i]
		buckets[bound.Seconds()] = n
	}
	to.Distribution("leasehold_journal_commit_seconds", "This is the duration of commits, including sync.", stats.Commits, stats.CommitTime.Seconds(), buckets)
}
