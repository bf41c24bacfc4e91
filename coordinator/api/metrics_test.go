package api

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/process/exposition"
	"leasehold/shared/process/histogram"
	schedule "leasehold/shared/protocol/visit/policy"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/tuple"
)

// collected returns the lines of the metrics that a function collects, without comments.
func collected(t *testing.T, c func(exposition.Sink)) (lines []string) {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(exposition.Collector(c))
	w := httptest.NewRecorder()
	exposition.Handler(registry).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
	require.Equal(t, 200, w.Code, w.Body)
	for line := range strings.Lines(w.Body.String()) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// fixedEngine has fixed figures and sessions; it refuses to open one.
type fixedEngine struct {
	Engine
	stats    engine.Stats
	sessions []engine.SessionInfo
}

func (e fixedEngine) Stats() engine.Stats            { return e.stats }
func (e fixedEngine) Sessions() []engine.SessionInfo { return e.sessions }
func (e fixedEngine) Health() error                  { return fault.ErrOverloaded }
func (e fixedEngine) OpenGateSession(context.Context, engine.Opening) (engine.GateSession, error) {
	return nil, fault.ErrClosed
}

func TestTheFiguresOfTheEngineAreMetrics(t *testing.T) {
	t.Parallel()
	stats := engine.Stats{Sessions: 1, Waiters: 2, Held: 3, Pending: 4, Operations: 5, Refused: 6, Commits: 7, Records: 21, CommitTime: 1500 * time.Millisecond, Memory: 8, MemoryLimit: 9}
	for i := range stats.CommitTimes {
		stats.CommitTimes[i] = uint64(i + 1)
	}
	s := &server{Config: Config{Engine: fixedEngine{stats: stats}}}
	lines := collected(t, s.collectEngine)
	for _, want := range []string{
		"leasehold_engine_sessions 1", "leasehold_engine_waiters 2", "leasehold_engine_holds 3", "leasehold_engine_queue_depth 4", "leasehold_engine_operations_total 5", "leasehold_engine_refused_total 6",
		"leasehold_engine_full 0", "leasehold_memory_used_bytes 8", "leasehold_memory_budget_bytes 9", "leasehold_journal_batch_records_sum 21", "leasehold_journal_batch_records_count 7",
		"leasehold_journal_commit_seconds_sum 1.5", "leasehold_journal_commit_seconds_count 7",
		fmt.Sprintf(`leasehold_journal_commit_seconds_bucket{le="%v"} 1`, engine.CommitBounds[0].Seconds()), fmt.Sprintf(`leasehold_journal_commit_seconds_bucket{le="%v"} 6`, engine.CommitBounds[2].Seconds()),
	} {
		require.Contains(t, lines, want)
	}
	stats.Full, stats.MemoryLimit = true, 0
	s.Engine = fixedEngine{stats: stats}
	require.Contains(t, collected(t, s.collectEngine), "leasehold_engine_full 1")
	require.NotContains(t, strings.Join(collected(t, s.collectEngine), " "), "leasehold_memory_budget_bytes", "there is none")
	s.Engine = nil
	require.Empty(t, collected(t, s.collectEngine))

	h := histogram.New(time.Second, 2*time.Second)
	h.Observe(1500 * time.Millisecond)
	s.Durations = []Durations{{Name: "x_seconds", Help: "help", Labels: []string{"a", "\xff", "b", "y"}, Histogram: h}}
	require.Equal(t, []string{
		`x_seconds_bucket{a="?",b="y",le="1"} 0`, `x_seconds_bucket{a="?",b="y",le="2"} 1`, `x_seconds_bucket{a="?",b="y",le="+Inf"} 1`, `x_seconds_sum{a="?",b="y"} 1.5`, `x_seconds_count{a="?",b="y"} 1`,
	}, collected(t, s.collectDurations))
}

func TestFewListersHaveSeriesOfTheirOwn(t *testing.T) {
	t.Parallel()
	m := visits.Metrics{Groups: map[visits.Group]int{}, Active: map[int32]int{}, Disabled: map[schedule.Reason]int{"gone": 2}, Pools: map[string]int{"first": 3}}
	for lister := range int32(6) {
		m.Groups[visits.Group{Lister: lister, Kind: "feed", Group: "A"}] = 10
		m.Groups[visits.Group{Lister: lister, Kind: "feed", Group: "B1", Never: true}] = 1
		m.Active[lister] = 100
	}
	m.Rates[0], m.Rates[47] = 4, 5
	lines := collected(t, func(to exposition.Sink) { collectGroups(m, to) })
	require.ElementsMatch(t, []string{
		`leasehold_visit_origins{group="A",kind="feed",lister="0",never="false"} 10`, `leasehold_visit_origins{group="A",kind="feed",lister="1",never="false"} 10`, `leasehold_visit_origins{group="A",kind="feed",lister="2",never="false"} 10`,
		`leasehold_visit_origins{group="B1",kind="feed",lister="0",never="true"} 1`, `leasehold_visit_origins{group="B1",kind="feed",lister="1",never="true"} 1`, `leasehold_visit_origins{group="B1",kind="feed",lister="2",never="true"} 1`,
		`leasehold_visit_origins{group="A",kind="feed",lister="-1",never="false"} 30`, `leasehold_visit_origins{group="B1",kind="feed",lister="-1",never="true"} 3`,
		`leasehold_visit_active{lister="0"} 100`, `leasehold_visit_active{lister="1"} 100`, `leasehold_visit_active{lister="2"} 100`, `leasehold_visit_active{lister="-1"} 300`,
		`leasehold_visit_disabled{reason="gone"} 2`, `leasehold_visit_waiting{pool="first"} 3`, `leasehold_visit_rates{rate="0.000244"} 4`, `leasehold_visit_rates{rate="100"} 5`,
	}, lines)
}

func TestTheCountsOfVisitsAreMetrics(t *testing.T) {
	t.Parallel()
	m := visits.Metrics{
		Facts:  visits.Facts{Eventful: 3, Uneventful: 1, Failed: 4, NotFound: 5, Lost: 6, Ignored: 7, Asked: 8, Granted: 9, Urgent: 10, Deferred: 11, Overflows: 12, Missed: 13},
		Shares: map[string]int64{"first": 12}, Picked: map[string]int64{"first": 13}, Refilled: map[string]int64{"known": 14},
		Position: map[models.OriginKind]int64{"git": 15}, Drift: map[models.OriginKind]int64{"git": 16}, Fresh: 0.5, OldestNew: new(int64),
		Took: visits.Distribution{Bounds: []float64{1, 2}, UpTo: []uint64{2, 3}, Count: 4, Sum: 5},
	}
	*m.OldestNew = 17
	lines := collected(t, func(to exposition.Sink) { collectVisitCounts(m, to); collectQueues(m, to); collectDistributions(m, to) })
	for _, want := range []string{
		`leasehold_visits_total{outcome="eventful"} 3`, `leasehold_visits_total{outcome="uneventful"} 1`, `leasehold_visits_total{outcome="failed"} 4`, `leasehold_visits_total{outcome="not_found"} 5`, `leasehold_visits_total{outcome="lost"} 6`,
		`leasehold_visits_total{outcome="ignored"} 7`, `leasehold_visit_slots_total{what="asked"} 8`, `leasehold_visit_slots_total{what="granted"} 9`, `leasehold_visit_slots_total{what="save-now"} 10`, "leasehold_visit_deferred_total 11",
		`leasehold_visit_shares_total{pools="first"} 12`, `leasehold_visit_picks_total{pool="first"} 13`, `leasehold_visit_refills_total{pool="known"} 14`, `leasehold_visit_queue_position{kind="git"} 15`, `leasehold_visit_drift_seconds{kind="git"} 16`,
		"leasehold_visit_useless_ratio 0.25", "leasehold_visit_overflows_total 12", "leasehold_visit_missed_items_total 13", "leasehold_visit_fresh_ratio 0.5", "leasehold_visit_oldest_new_seconds 17", `leasehold_visit_seconds_bucket{le="1"} 2`, `leasehold_visit_seconds_bucket{le="2"} 3`, `leasehold_visit_seconds_bucket{le="+Inf"} 4`, "leasehold_visit_seconds_sum 5", "leasehold_visit_seconds_count 4",
	} {
		require.Contains(t, lines, want)
	}
	require.Empty(t, collected(t, func(to exposition.Sink) { collectQueues(visits.Metrics{Fresh: math.NaN()}, to) }), "no origin exists")
	require.NoError(t, (&server{}).collectVisits(t.Context(), nil), "without a schedule there are none")
}

// emptySpaces are spaces without tuples.
type emptySpaces struct{ space.Repository }

func (emptySpaces) Space(string) space.Space { return emptySpace{} }

type emptySpace struct{ space.Space }

func (emptySpace) QueryAll(context.Context, tuple.Template) ([]tuple.Tuple, error) { return nil, nil }

func TestASessionThatWaitsForItsClientIsShownSo(t *testing.T) {
	t.Parallel()
	opened := time.Unix(1_800_000_000, 0)
	s := &server{Config: Config{Engine: fixedEngine{sessions: []engine.SessionInfo{
		{ID: "a", Opened: opened, TTL: 5 * time.Second, Holds: 2, Waits: 3, Process: space.Process{Mode: "worker", PID: 7}},
		{ID: "b", Opened: opened, Seen: opened.Add(time.Minute), Waiting: true},
	}}}, repo: emptySpaces{}}
	q := &request{values: map[string]any{"offset": 0, "limit": 9}}
	page, err := s.listOpenSessions(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, []types.OpenSession{
		{ID: "a", Mode: "worker", PID: 7, Opened: "2027-01-15T08:00:00Z", TTL: 5, Holds: 2, Waits: 3},
		{ID: "b", Opened: "2027-01-15T08:00:00Z", LastHeartbeat: "2027-01-15T08:01:00Z", State: "waits for its client to come back"},
	}, page.Items)
}

func TestASessionThatIsNotOpenedDoesNotCountForItsPeer(t *testing.T) {
	t.Parallel()
	s := newServer(Config{Engine: fixedEngine{}, Log: slog.New(slog.DiscardHandler)})
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
	r.RemoteAddr = "192.0.2.1:9"
	q := &request{Request: r}
	for range peerSessions + 1 {
		_, err := s.openSession(t.Context(), q, types.NewSession{})
		require.ErrorIs(t, err, fault.ErrClosed)
	}
	require.ErrorIs(t, s.ready(t.Context()), fault.ErrOverloaded, "the health of the engine")
}

func TestTheValuesOfANewSessionAreInRange(t *testing.T) {
	t.Parallel()
	q := &request{Request: httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)}
	long := strings.Repeat("x", space.MaxName)
	for name, c := range map[string]struct {
		most time.Duration
		n    types.NewSession
		ttl  time.Duration // 0: it is refused
	}{
		"the default":              {0, types.NewSession{}, 30 * time.Second},
		"a shorter maximum":        {20 * time.Second, types.NewSession{}, 20 * time.Second},
		"the maximum":              {0, types.NewSession{TTL: new(models.Seconds(60))}, time.Minute},
		"more":                     {0, types.NewSession{TTL: new(models.Seconds(60.5))}, 0},
		"a longer maximum":         {time.Hour, types.NewSession{TTL: new(models.Seconds(3600))}, time.Hour},
		"the minimum":              {0, types.NewSession{TTL: new(models.Seconds(1))}, time.Second},
		"less":                     {0, types.NewSession{TTL: new(models.Seconds(0.5))}, 0},
		"a maximum below a second": {500 * time.Millisecond, types.NewSession{TTL: new(models.Seconds(0.5))}, 500 * time.Millisecond},
		"long texts":               {0, types.NewSession{Name: long, Host: long, Version: long}, 30 * time.Second},
		"a longer host":            {0, types.NewSession{Host: long + "x"}, 0},
		"a control character":      {0, types.NewSession{Version: "\x01"}, 0},
		"a slot":                   {0, types.NewSession{Serves: []types.Served{{Action: "a", Slots: 1}, {Action: "b", Slots: 2}}}, 30 * time.Second},
		"no slot":                  {0, types.NewSession{Serves: []types.Served{{Action: "a", Slots: 1}, {Action: "b"}}}, 0},
		"an action with a space":   {0, types.NewSession{Serves: []types.Served{{Action: "a b", Slots: 1}}}, 0},
	} {
		s := &server{Config: Config{MaxTTL: c.most}}
		w, err := s.newWorker(q, c.n)
		if c.ttl == 0 {
			require.ErrorIs(t, err, fault.ErrInvalid, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.ttl, w.ttl, name)
		var actions []string
		for _, served := range c.n.Serves {
			actions = append(actions, served.Action)
		}
		require.Equal(t, actions, w.actions, name)
	}
	require.Equal(t, "192.0.2.1", hostOf("192.0.2.1:9"))
	require.Empty(t, hostOf("192.0.2.1"))
	for id, mode := range map[string]string{"worker-1": "worker", "a-b-1": "a-b", "worker": "", "-1": "", "": ""} {
		require.Equal(t, mode, modeOf(id), id)
	}
}

func TestANameOfTheCoordinatorIsAnAddressOrHasNoDotOrIsAllowed(t *testing.T) {
	t.Parallel()
	names := []string{"Mill.example"}
	for host, ok := range map[string]bool{
		"": false, ":80": false, ".": false, "localhost": true, "LOCALHOST.:80": true, "x.localhost": true, "localhost.x": false, "mill": true, "mill:80": true, "mill.example": true, "mill.example.:80": true, "x.mill.example": false,
		"192.0.2.1": true, "192.0.2.1:80": true, "[::1]": true, "[::1]:80": true, "::1": true, "192.0.2.1.example": false,
	} {
		require.Equal(t, ok, AllowsHost(host, names), host)
	}
	require.True(t, AllowsHost("any.example", []string{"*"}))
}

func TestOnlyThisMachineMayNameAPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, uri string
		ok        bool
	}{
		{"127.0.0.1:9", "/a", true}, {"[::1]:9", "/a", true}, {"[::ffff:127.0.0.1]:9", "/a", true}, {"192.0.2.1:9", "/a", false}, {"", "/a", false}, {"127.0.0.1", "/a", false},
		{"192.0.2.1:9", "https://a.example", true}, {"", "https://a.example", true}, {"192.0.2.1:9", `C:\a`, false}, {"192.0.2.1:9", `C:/a`, false}, {"192.0.2.1:9", `\\server\share`, false}, {"192.0.2.1:9", "a", true},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
		r.RemoteAddr = c.from
		err := requireLocal(r, c.uri)
		require.Equal(t, c.ok, err == nil, "%+v", c)
		if !c.ok {
			require.ErrorIs(t, err, fault.ErrForbidden)
		}
	}
}

func TestAnOriginThatNoManagerCouldVisitIsRefused(t *testing.T) {
	t.Parallel()
	every := func(s models.Seconds) *models.Seconds { return &s }
	for name, c := range map[string]struct {
		o       types.NewOrigin
		refused error // nil: accepted
	}{
		"a feed":                {types.NewOrigin{Kind: models.Feed, URI: "https://a.example"}, nil},
		"a path":                {types.NewOrigin{Kind: models.Media, URI: "/srv"}, nil},
		"a folder at a URL":     {types.NewOrigin{Kind: models.Media, URI: "https://a.example"}, fault.ErrConflict},
		"of a program":          {types.NewOrigin{Kind: "svn", URI: "svn://a.example"}, nil},
		"of a program, a path":  {types.NewOrigin{Kind: "svn", URI: "/srv"}, fault.ErrConflict},
		"an unknown kind":       {types.NewOrigin{Kind: "No Kind", URI: "https://a.example"}, fault.ErrInvalid},
		"a long URL":            {types.NewOrigin{Kind: models.Feed, URI: "https://a.example/" + strings.Repeat("x", 4096-18)}, nil},
		"a longer URL":          {types.NewOrigin{Kind: models.Feed, URI: "https://a.example/" + strings.Repeat("x", 4097-18)}, fault.ErrInvalid},
		"once a day":            {types.NewOrigin{Kind: models.Feed, URI: "https://a.example", Every: every(86400)}, nil},
		"each second":           {types.NewOrigin{Kind: models.Feed, URI: "https://a.example", Every: every(1)}, fault.ErrInvalid},
		"a branch":              {types.NewOrigin{Kind: models.Git, URI: "https://a.example/x.git", Branches: []string{"main"}}, nil},
		"a branch of a feed":    {types.NewOrigin{Kind: models.Feed, URI: "https://a.example", Branches: []string{"main"}}, fault.ErrConflict},
		"a branch with a space": {types.NewOrigin{Kind: models.Git, URI: "https://a.example/x.git", Branches: []string{"a b"}}, fault.ErrInvalid},
		"no branches of a feed": {types.NewOrigin{Kind: models.Feed, URI: "https://a.example", Branches: []string{}}, nil},
	} {
		err := checkOrigin(c.o)
		if c.refused == nil {
			require.NoError(t, err, name)
		} else {
			require.ErrorIs(t, err, c.refused, name)
		}
	}
}

func TestARecordingHasANameAndAURL(t *testing.T) {
	t.Parallel()
	const uri = "https://a.example/1.mp3"
	got, err := checkRecording(types.NewRecording{Name: "n", Title: "t", URI: uri, Priority: 3, Type: "audio/mpeg", Version: "1", Hash: "h"})
	require.NoError(t, err)
	require.Equal(t, models.Recording{Name: "n", Title: "t", Priority: 3, Media: models.MediaRef{URI: uri, Type: "audio/mpeg", Version: "1", Hash: "h"}}, got)
	for n, ok := range map[int]bool{0: false, 1: true, 1024: true, 1025: false} {
		_, err := checkRecording(types.NewRecording{Name: strings.Repeat("n", n), URI: uri})
		require.Equal(t, ok, err == nil, n)
	}
	for n, ok := range map[int]bool{0: true, 4096: true, 4097: false} {
		_, err := checkRecording(types.NewRecording{Name: "n", Title: strings.Repeat("t", n), URI: uri})
		require.Equal(t, ok, err == nil, n)
	}
	_, err = checkRecording(types.NewRecording{Name: "n", URI: "/srv/1.mp3"})
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestAKeyIsVisibleTextAndItsFingerprintIsOfTheRequest(t *testing.T) {
	t.Parallel()
	read := func(key, method, path, body string) (*request, error) {
		r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
		r.Body = &bodyInMemory{strings.NewReader(body), []byte(body)}
		if key != "none" {
			r.Header.Set(keyHeader, key)
		}
		q := &request{}
		return q, q.readKey(r)
	}
	q, err := read("none", "POST", "/a", "b")
	require.NoError(t, err)
	require.Empty(t, q.key+q.fingerprint)
	require.Equal(t, space.Repository(nil), q.idempotent(nil))
	require.Nil(t, q.keyed)
	_, err = read("", "POST", "/a", "b")
	require.ErrorIs(t, err, fault.ErrInvalid)
	var all []string
	for _, c := range [][3]string{{"POST", "/a", "b"}, {"PUT", "/a", "b"}, {"POST", "/a?x=1", "b"}, {"POST", "/a", "c"}} {
		q, err := read("k", c[0], c[1], c[2])
		require.NoError(t, err)
		require.Equal(t, "k", q.key)
		require.Len(t, q.fingerprint, 64)
		again, err := read("other", c[0], c[1], c[2])
		require.NoError(t, err)
		require.Equal(t, q.fingerprint, again.fingerprint)
		all = append(all, q.fingerprint)
	}
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(all))), 4)
	q, err = read("k", "POST", "/a", "b")
	require.NoError(t, err)
	require.NotNil(t, q.idempotent(nil))
	require.Equal(t, []string{"k", q.fingerprint}, []string{q.keyed.Key, q.keyed.Fingerprint})
}

func TestAPanicThatAbortsAResponseIsPassedOn(t *testing.T) {
	t.Parallel()
	s := newServer(Config{Log: slog.New(slog.DiscardHandler)})
	w := httptest.NewRecorder()
	func() {
		defer s.recoverPanic(w, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
	}()
	require.Equal(t, 200, w.Code)
	require.Empty(t, w.Body.String(), "nothing panicked")
	require.PanicsWithValue(t, http.ErrAbortHandler, func() {
		defer s.recoverPanic(w, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
		panic(http.ErrAbortHandler)
	})
	require.Empty(t, w.Body.String())
}
