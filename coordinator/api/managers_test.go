package api

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/peer"
	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
)

var errFixed = errors.New("the catalog's own error")

// fixedCatalog keeps the arguments of calls, and returns fixed answers with an error.
type fixedCatalog struct {
	catalog.Catalog
	got []any
}

func (c *fixedCatalog) keep(args ...any) error { c.got = args; return errFixed }
func (c *fixedCatalog) RecordOutcome(_ context.Context, o models.Outcome) error {
	return c.keep(o.Origin)
}
func (c *fixedCatalog) Curate(_ context.Context, origin string, at time.Time, l catalog.Listing) (catalog.Curated, error) {
	return catalog.Curated{New: 1}, c.keep(origin, at, l.Complete)
}
func (c *fixedCatalog) AudioToCheck(_ context.Context, origin string, limit int) ([]models.Audio, error) {
	return []models.Audio{{}, {}}, c.keep(origin, limit)
}
func (c *fixedCatalog) AudioChecked(_ context.Context, at time.Time, checked []models.Audio) (int, error) {
	return 7, c.keep(at, len(checked))
}
func (c *fixedCatalog) Select(_ context.Context, busy []catalog.Busy, l catalog.Limits) (models.Research, int64, error) {
	return models.Research{Episode: models.ResearchItem{ID: "e"}}, 8, c.keep(len(busy), l.Clips)
}
func (c *fixedCatalog) Ingest(_ context.Context, r models.Researched, at time.Time) error {
	return c.keep(r.Episode, at)
}
func (c *fixedCatalog) Lift(_ context.Context, episode string, clips []string) error {
	return c.keep(episode, len(clips))
}
func (c *fixedCatalog) EpisodesOf(_ context.Context, f catalog.EpisodeFilter, p catalog.Part) ([]catalog.EpisodeProgress, int, error) {
	return make([]catalog.EpisodeProgress, 2), 9, c.keep(f, p)
}
func (c *fixedCatalog) FindingsOf(_ context.Context, a catalog.About, p catalog.Part) ([]catalog.Finding, int, error) {
	return make([]catalog.Finding, 2), 9, c.keep(a, p)
}
func (c *fixedCatalog) ProblemsOf(_ context.Context, a catalog.About, p catalog.Part) ([]catalog.Problem, int, error) {
	return make([]catalog.Problem, 2), 9, c.keep(a, p)
}
func (c *fixedCatalog) Totals(context.Context) (catalog.Totals, error) {
	return catalog.Totals{Clips: 5}, c.keep()
}

func TestAManagerReachesTheMethodsOfTheCatalogAndGetsTheirErrors(t *testing.T) {
	t.Parallel()
	c := &fixedCatalog{}
	s, ctx, at := &server{Config: Config{Catalog: c}}, t.Context(), time.Unix(1_800_000_000, 0)
	q := &request{values: map[string]any{"origin": "o", "episode": "e", "clip": "c", "title": "t", "limit": 3, "offset": 4}}
	part := catalog.Part{Offset: 4, Limit: 3}
	for name, x := range map[string]struct {
		call func() (any, error)
		got  []any
		want any
	}{
		"outcome": {func() (any, error) {
			return s.catalogOutcome(ctx, q, models.Outcome{Origin: "o", Status: models.Failed, At: at})
		}, []any{"o"}, none{}},
		"curate": {func() (any, error) {
			return s.catalogCurate(ctx, q, types.Listing{Origin: "o", At: at, Listing: catalog.Listing{Complete: true}})
		}, []any{"o", at, true}, catalog.Curated{New: 1}},
		"audio": {func() (any, error) { return s.catalogAudio(ctx, q) }, []any{"o", 3}, types.Audio{Items: make([]models.Audio, 2)}},
		"checked": {func() (any, error) {
			return s.catalogAudioChecked(ctx, q, types.Audio{At: at, Items: make([]models.Audio, 2)})
		}, []any{at, 2}, types.Replaced{Replaced: 7}},
		"ingest": {func() (any, error) {
			return s.catalogIngest(ctx, q, types.Ingestion{Result: models.Researched{Episode: "e"}, At: at})
		}, []any{"e", at}, none{}},
		"lift":     {func() (any, error) { return s.catalogLift(ctx, q, catalog.Busy{Episode: "e", Clips: []string{"c"}}) }, []any{"e", 1}, none{}},
		"episodes": {func() (any, error) { return s.listEpisodes(ctx, q) }, []any{catalog.EpisodeFilter{Origin: "o", Title: "t"}, part}, types.Page[catalog.EpisodeProgress]{Items: make([]catalog.EpisodeProgress, 2), Total: 9}},
		"findings": {func() (any, error) { return s.listFindings(ctx, q) }, []any{catalog.About{Episode: "e", Clip: "c"}, part}, types.Page[catalog.Finding]{Items: make([]catalog.Finding, 2), Total: 9}},
		"problems": {func() (any, error) { return s.listProblems(ctx, q) }, []any{catalog.About{Origin: "o", Episode: "e", Clip: "c"}, part}, types.Page[catalog.Problem]{Items: make([]catalog.Problem, 2), Total: 9}},
		"totals":   {func() (any, error) { return s.getTotals(ctx, q) }, nil, catalog.Totals{Clips: 5}},
		"select": {func() (any, error) {
			return s.catalogSelect(ctx, q, types.Selection{Busy: make([]catalog.Busy, 1), Limits: catalog.Limits{Clips: 2}})
		}, []any{1, 2}, types.Selected{Research: models.Research{Episode: models.ResearchItem{ID: "e"}}, Priority: 8}},
	} {
		answer, err := x.call()
		require.ErrorIs(t, err, errFixed, name)
		require.Equal(t, x.want, answer, name)
		require.Equal(t, x.got, c.got, name)
	}
}

// deadlines records those of a connection.
type deadlines struct {
	*httptest.ResponseRecorder
	read, write time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error  { d.read = t; return nil }
func (d *deadlines) SetWriteDeadline(t time.Time) error { d.write = t; return nil }

// The context of a handler and the deadlines of its connection end after the time of its route.
func TestARequestMayTakeTheTimeOfItsRoute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(Config{})
		slow := on("getTotals", "GET", "/slow", "", func(ctx context.Context, _ *request) (none, error) { <-ctx.Done(); return none{}, ctx.Err() })
		for want, rt := range map[time.Duration]route{callTimeout: slow, bulkTimeout: slow.bulk()} {
			began, w := time.Now(), &deadlines{ResponseRecorder: httptest.NewRecorder()}
			s.serve(rt).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/slow", nil))
			require.Equal(t, want, time.Since(began))
			require.Equal(t, want, w.read.Sub(began))
			require.Equal(t, want+answerSlack, w.write.Sub(began), "the refusal is written after it")
			require.Equal(t, 503, w.Code)
		}
	})
}

// beats counts the calls of a connection to status.beat.
type beats struct {
	space.Conn
	at    []time.Duration // since began
	began time.Time
}

func (c *beats) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	if r.Procedure == "status.beat" {
		c.at = append(c.at, time.Since(c.began))
	}
	return c.Conn.Do(ctx, r)
}

func TestAClaimThatWaitsGivesThreeSignsOfLifeInEachTTL(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn := &beats{Conn: claimable(t), began: time.Now()}
		repo := space.Over(conn)
		w := &worker{ttl: 9 * time.Second, heartbeat: status.NewHeartbeat(repo, 9*time.Second, nil)}
		claimed, err := w.claim(t.Context(), task.Client{Repo: repo}, 1, 10*time.Second, []string{"count"})
		require.NoError(t, err)
		require.Empty(t, claimed)
		require.Equal(t, 10*time.Second, time.Since(conn.began))
		require.Equal(t, []time.Duration{3 * time.Second, 6 * time.Second, 9 * time.Second}, conn.at)
		ended, end := context.WithCancel(t.Context())
		end()
		_, err = w.claim(ended, task.Client{Repo: repo}, 1, 10*time.Second, []string{"count"})
		require.ErrorIs(t, err, context.Canceled)
		stopping := context.WithValue(t.Context(), drainKey{}, ended)
		began := time.Now()
		claimed, err = w.claim(stopping, task.Client{Repo: repo}, 1, 10*time.Second, []string{"count"})
		require.NoError(t, err)
		require.Empty(t, claimed)
		require.Equal(t, began, time.Now(), "the server stops")
	})
}

// endingSession is a session that ends when its channel is closed.
type endingSession struct {
	engine.GateSession
	ended chan struct{}
}

func (s endingSession) Ended() <-chan struct{} { return s.ended }
func (s endingSession) Session() string        { return "s" }

func TestASessionThatHasEndedIsForgottenWhenAnotherIsOpened(t *testing.T) {
	t.Parallel()
	all := &workers{peers: peer.NewQuota("sessions", 2), open: map[string]*worker{}}
	p := peer.OfText("192.0.2.1:9", nil)
	open := func(id string) chan struct{} {
		require.NoError(t, all.peers.Take(p))
		s := endingSession{ended: make(chan struct{})}
		all.add(&worker{GateSession: s, peer: p, ttl: time.Second}, id, []types.Served{{Action: "a", Slots: 1}})
		return s.ended
	}
	first := open("first")
	open("second")
	require.Len(t, all.open, 2)
	require.Error(t, all.peers.Take(p))
	close(first)
	require.Error(t, all.peers.Take(p), "until another one is opened")
	other := peer.OfText("192.0.2.2:9", nil)
	require.NoError(t, all.peers.Take(other))
	all.add(&worker{GateSession: endingSession{ended: make(chan struct{})}, peer: other, ttl: time.Second}, "third", nil)
	require.NotContains(t, all.open, "first")
	require.Len(t, all.open, 2)
	require.NotNil(t, all.open["third"].repo)
	require.NotNil(t, all.open["third"].heartbeat)
	require.NoError(t, all.peers.Take(p))
	require.Error(t, all.peers.Take(p), "the second one lives")
}

// flushes is a response that counts its lines at each flush.
type flushes struct {
	*httptest.ResponseRecorder
	lines []int
}

func (w *flushes) Flush() { w.lines = append(w.lines, strings.Count(w.Body.String(), "\n")) }

func TestTheLinesOfAStreamAreSentInGroups(t *testing.T) {
	t.Parallel()
	w := &flushes{ResponseRecorder: httptest.NewRecorder()}
	q := &request{Request: httptest.NewRequestWithContext(t.Context(), "GET", "/", nil), status: 200}
	(&server{}).writeLines(w, q, func(send func(any) error) error {
		for n := range 120 {
			if err := send(n); err != nil {
				return err
			}
		}
		return nil
	})
	require.Equal(t, []int{50, 100}, w.lines)
	require.Equal(t, 120, strings.Count(w.Body.String(), "\n"))
	require.Equal(t, linesType, w.Header().Get("Content-Type"))
}

func TestAnInvalidEndIsNamedByItsPlace(t *testing.T) {
	t.Parallel()
	good := types.Finish{Task: "t1", Resolve: &types.Resolution{Token: 1}}
	_, _, err := finishTasks(t.Context(), task.Client{}, []types.Finish{good, {Task: "t2"}}, 1, nil)
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, `finish 2, task "t2"`)
}
