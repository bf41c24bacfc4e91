package clips

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/store"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// newFlow returns a flow over a new catalog that has these origins. Its lister trusts none of them yet.
func newFlow(t *testing.T, origins ...models.Origin) *Flow {
	t.Helper()
	store, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	for _, o := range origins {
		_, err := store.AddOrigin(t.Context(), o)
		require.NoError(t, err)
	}
	return NewFlow(Flow{Catalog: store, Lister: lister(t)})
}

// Only what the catalog has makes it right not to list an origin.
func TestTheKnownStateOfAVisitCountsOnlyIfTheCatalogHasItsResult(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"a.wav": "a"})
	o := originAt(models.Media, dir)
	f := newFlow(t, o)
	v := models.Visit{Origin: o}
	visit := func() models.Outcome {
		outcome, err := f.Visit(t.Context(), v)
		require.NoError(t, err)
		return outcome
	}
	first := visit()
	require.Equal(t, models.Eventful, first.Status)
	require.Len(t, f.curated, 1, "Run is woken")
	v.Known.Digest = first.Digest
	again := visit()
	require.Equal(t, 1, again.Items, "no outcome is recorded, so the listing may be lost")
	require.Equal(t, models.Uneventful, again.Status)
	first.Origin, first.At = o.ID, time.Now()
	require.NoError(t, f.Catalog.RecordOutcome(t.Context(), first))
	same := visit()
	require.Zero(t, same.Items)
	require.Equal(t, first.Digest, same.Digest)
	_, err := f.Catalog.SetOriginPriority(t.Context(), o.ID, 9)
	require.NoError(t, err)
	require.Equal(t, 1, visit().Items, "the recordings have another priority")
	episodes, err := f.Catalog.Episodes(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 9, episodes[0].Priority)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.wav"), []byte("b"), 0o600))
	require.Equal(t, models.Eventful, visit().Status)
	require.Len(t, f.curated, 1, "it was woken before, and the visit does not wait")
	<-f.curated
	visit()
	require.Empty(t, f.curated, "nothing has changed")
}

func TestAVisitOfWhatTheOperatorDidNotNameIsRefused(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	t.Cleanup(s.Close)
	named, relative := originAt(models.Feed, s.URL), originAt(models.Media, "relative")
	listed := named
	listed.ID, listed.Listed = "listed", true
	f := newFlow(t, named, relative, listed)
	for _, v := range []models.Visit{{Origin: relative}, {Origin: listed}, {Origin: named, Listed: true}} {
		outcome, err := f.Visit(t.Context(), v)
		require.ErrorIs(t, err, fault.ErrInvalid)
		require.ErrorContains(t, err, v.Origin.URI)
		require.Zero(t, outcome)
	}
	outcome, err := f.Visit(t.Context(), models.Visit{Origin: named})
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.Equal(t, models.Outcome{RetryAfter: 30}, outcome)
}

// refusing is a catalog whose writes fail: the first ones of Ingest with the errors of a list, and all of Curate.
type refusing struct {
	catalog.Catalog
	ingests []error
}

func (c *refusing) Curate(context.Context, string, time.Time, catalog.Listing) (catalog.Curated, error) {
	return catalog.Curated{New: 1}, fault.ErrCorrupt
}

func (c *refusing) Ingest(context.Context, models.Researched, time.Time) error {
	if len(c.ingests) == 0 {
		return nil
	}
	err := c.ingests[0]
	c.ingests = c.ingests[1:]
	return err
}

func TestAVisitWhoseListingCannotBeStoredFails(t *testing.T) {
	t.Parallel()
	o := originAt(models.Media, tree(t, map[string]string{"a.wav": "a"}))
	f := newFlow(t, o)
	f.Catalog = &refusing{Catalog: f.Catalog}
	outcome, err := f.Visit(t.Context(), models.Visit{Origin: o})
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.Zero(t, outcome)
	require.Empty(t, f.curated)
}

// answering is a repository whose calls all return one error; it counts them.
type answering struct {
	space.Repository
	err   error
	calls int
}

func (r *answering) Call(context.Context, space.OpID, string, tuple.Tuple) (tuple.Tuple, error) {
	r.calls++
	return nil, r.err
}

// held is a result with a body.
func held(t *testing.T, subject string, body any) *work.Held {
	t.Helper()
	text, err := json.Marshal(body)
	require.NoError(t, err)
	return &work.Held{ResultTuple: task.ResultTuple{Subject: subject, Worker: "worker-1", Body: string(text)}}
}

func TestAResultEndsItsHoldOnceTheCatalogHasAllOfItOrRefusesIt(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	swept := models.Swept{Clip: "c", Episodes: map[string]models.MediaRef{"e": {}, "f": {}}}
	for name, c := range map[string]struct {
		ingests []error
		call    error
		want    error
		calls   int // that end the hold
	}{
		"stored":              {nil, nil, nil, 1},
		"the first fails":     {[]error{full}, nil, full, 0},
		"the second fails":    {[]error{nil, full}, nil, full, 0},
		"the first is bad":    {[]error{fault.ErrInvalid, full}, nil, nil, 1},
		"too large":           {[]error{fault.ErrTooLarge}, nil, nil, 1},
		"damaged":             {[]error{nil, fault.ErrCorrupt}, nil, nil, 1},
		"the hold has ended":  {nil, fault.ErrStaleToken, nil, 1},
		"the spaces are lost": {nil, fault.ErrClosed, fault.ErrClosed, 1},
	} {
		f := NewFlow(Flow{Catalog: &refusing{ingests: c.ingests}, Log: slog.New(slog.DiscardHandler)})
		repo := &answering{err: c.call}
		err := f.ingest(t.Context(), work.Client{Repo: repo}, held(t, "c", swept))
		require.ErrorIs(t, err, c.want, name)
		require.Equal(t, c.calls, repo.calls, name)
	}
}

func TestAResultOfAnotherSubjectIsInvalid(t *testing.T) {
	t.Parallel()
	f := NewFlow(Flow{})
	for name, h := range map[string]*work.Held{
		"episode": held(t, "e", models.Researched{Episode: "other"}), "sweep": held(t, "c", models.Swept{Clip: "other", Episodes: map[string]models.MediaRef{}}),
		"no JSON": {}, "no sweep": held(t, "c", map[string]any{"swept": map[string]any{"x": 1}}), "no result": held(t, "e", map[string]any{"episode": 1}),
		"a result with a part that cannot be read": held(t, "e", map[string]any{"episode": "e", "clips": 1}),
		"a sweep with a part that cannot be read":  held(t, "c", map[string]any{"clip": "c", "swept": map[string]any{"e": 1}}),
		"no task": held(t, "e", models.Failure{Task: &models.Task{Data: json.RawMessage(`"x"`)}}),
	} {
		_, err := f.decodeResults(h)
		require.ErrorIs(t, err, fault.ErrInvalid, name)
	}
}

func TestTheClipsThatAreNotSweptAgainAreBounded(t *testing.T) {
	t.Parallel()
	f := NewFlow(Flow{})
	sweep := func(clip string, less bool) {
		results, err := f.decodeResults(held(t, clip, models.Swept{Clip: clip, Episodes: map[string]models.MediaRef{"e": {}}, Less: less}))
		require.NoError(t, err)
		require.Len(t, results, 1)
	}
	for i := range maxUnswept + 2 {
		for range 2 { // the second is the same clip
			sweep(fmt.Sprint(i), true)
		}
	}
	sweep("known", false)
	require.Len(t, f.unswept, maxUnswept)
	require.Equal(t, "2", f.unswept[0], "the oldest are forgotten")
	require.Equal(t, fmt.Sprint(maxUnswept+1), f.unswept[maxUnswept-1])
}

func TestASweepHasAtLeastOneEpisode(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.researchedAs(strings.Repeat("x", sweepBytes+1000), 16)
		b.manage("manager-1", b.store)
		_, r := b.claim()
		require.Len(b, r.Episodes, 1)
	})
}

func TestASweepWithTooMuchDataIsHalved(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.researchedAs(strings.Repeat("x", sweepBytes/20), 40)
		b.manage("manager-1", b.store)
		i, r := b.claim()
		require.Len(b, r.Episodes, 10)
		require.LessOrEqual(b, len(i.Data), sweepBytes)
	})
}
