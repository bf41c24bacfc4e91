package clips

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/store"
	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/tuple"
)

// bench is the spaces and the catalog that flows work on, in a bubble of fake
// time.
type bench struct {
	*testing.T
	engine *engine.Engine
	store  catalog.Catalog
	repo   space.Repository // of a worker that serves research with 2 slots
	log    bytes.Buffer
	refuse bool // whether the flows' connections refuse calls
}

func inBubble(t *testing.T, f func(b *bench)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		policy := work.Policy{
			Task:     task.Policy{MaxAttempts: 1, Backoff: 30 * time.Second},
			LeaseTTL: time.Hour, QueueTTL: 30 * time.Minute, Ingest: time.Minute,
		}
		e, err := engine.Open(t.Context(), engine.Config{
			Journal:    &journal.Memory{},
			Procedures: space.Join(status.Procedures(), lease.Procedures(), policy.Task.Procedures(), policy.Procedures()),
		})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		t.Cleanup(func() { stop(); require.NoError(t, <-done) })
		b := &bench{T: t, engine: e}
		b.store, err = store.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, b.store.Close()) })
		b.repo, err = e.Session(t.Context(), "worker-1", 0)
		require.NoError(t, err)
		for _, d := range slices.Concat(status.Spaces(), lease.Spaces(), task.Spaces()) {
			require.NoError(t, b.repo.Create(t.Context(), d.Name, d.Options))
		}
		require.NoError(t, status.NewHeartbeat(b.repo, time.Second, map[string]int{models.ActionResearch: 2}).Beat(t.Context()))
		_, err = b.store.AddOrigin(t.Context(), models.Origin{ID: "o", Kind: models.Media, URI: "/o", AddedAt: time.Now()})
		require.NoError(t, err)
		f(b)
	})
}

// curate lists one episode and so many clips.
func (b *bench) curate(clips int) {
	l := catalog.Listing{Episodes: []models.Episode{{Recording: models.Recording{Name: "e", Media: models.MediaRef{URI: "file:///e"}}}}}
	for i := range clips {
		l.Clips = append(l.Clips, models.Clip{Recording: models.Recording{Name: fmt.Sprint("c", i), Media: models.MediaRef{URI: "file:///c"}}})
	}
	_, err := b.store.Curate(b.Context(), "o", time.Now(), l)
	require.NoError(b, err)
}

// manage starts a flow over a catalog.
func (b *bench) manage(name string, c catalog.Catalog) (ended <-chan error) {
	f := NewFlow(Flow{Catalog: c, ClipLimit: 2, Timeout: 10 * time.Minute, Look: 5 * time.Second, Log: slog.New(slog.NewTextHandler(&b.log, nil))})
	conn, err := b.engine.Connect(b.Context(), name, 0)
	require.NoError(b, err)
	if b.refuse {
		conn = spacetest.Refuse(conn, 7)
	}
	repo := space.Retrying(space.Over(conn), &retry.Loop{Message: "repeating calls", Log: f.Log}) // as status.Reconnect does
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		err := f.Run(ctx, repo)
		_ = repo.Close(context.Background())
		done <- err
		close(done)
	}()
	b.Cleanup(func() { stop(); <-done })
	return done
}

// claim takes the next work-item as the worker.
func (b *bench) claim() (task.Item, models.Research) {
	i, err := task.Client{Repo: b.repo}.Claim(b.Context(), models.ActionResearch)
	require.NoError(b, err)
	var r models.Research
	require.NoError(b, json.Unmarshal(i.Data, &r))
	return i, r
}

// report reports that a clip of a work-item does not occur.
func (b *bench) report(i task.Item, r models.Research, n int) {
	clip := r.Clips[n]
	err := task.Client{Repo: b.repo}.Report(b.Context(), i, clip.ID, n == len(r.Clips)-1, models.Researched{
		Episode: r.Episode.ID, Clips: []string{clip.ID}, EpisodeMedia: r.Episode.Media,
		ClipMedia: map[string]models.MediaRef{clip.ID: clip.Media},
	})
	require.NoError(b, err)
}

func (b *bench) totals() catalog.Totals {
	synctest.Wait()
	t, err := b.store.Totals(b.Context())
	require.NoError(b, err)
	return t
}

func (b *bench) leases() map[string]int64 {
	totals, err := lease.Totals(b.Context(), b.repo)
	require.NoError(b, err)
	return totals
}

func TestResearchFinishesAlthoughTheSpacesRefuseCalls(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.refuse = true
		b.curate(9)
		ended := b.manage("m1", b.store)
		for range 5 { // work-items of at most two clips
			i, r := b.claim()
			for n := range r.Clips {
				b.report(i, r, n)
			}
		}
		<-time.After(time.Minute)
		_, _, err := b.store.Select(b.Context(), nil, catalog.Limits{Clips: 1})
		require.ErrorIs(b, err, fault.ErrNotFound, "everything is researched")
		require.Empty(b, ended)
	})
}

func TestTwoManagersHaveEachPairResearchedOnce(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.curate(7)
		b.manage("manager-1", b.store)
		b.manage("manager-2", b.store)
		seen := map[string]int{}
		for range 4 { // two clips each, the last one has one
			i, r := b.claim()
			for n, c := range r.Clips {
				seen[c.ID]++
				b.report(i, r, n)
			}
			synctest.Wait()
		}
		require.Len(b, seen, 7)
		require.Equal(b, 7, b.totals().Researched)
		require.EqualValues(b, 4, b.leases()[lease.Granted])
		require.EqualValues(b, 4, b.leases()[lease.Revoked], "also when a final result overtook another")
	})
}

// slowSelect is a catalog whose Select returns only after let is closed.
type slowSelect struct {
	catalog.Catalog
	let chan struct{}
}

func (c slowSelect) Select(ctx context.Context, busy []catalog.Busy, l catalog.Limits) (models.Research, int64, error) {
	r, priority, err := c.Catalog.Select(ctx, busy, l)
	<-c.let
	return r, priority, err
}

func TestWhatAnotherManagerHadDoneMeanwhileIsNotIssuedAgain(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.curate(2)
		c := slowSelect{b.store, make(chan struct{})}
		b.manage("manager-1", c)
		synctest.Wait() // it has selected, and not issued
		b.manage("manager-2", b.store)
		i, r := b.claim()
		b.report(i, r, 0)
		b.report(i, r, 1)
		require.Equal(b, 2, b.totals().Researched)
		require.EqualValues(b, 1, b.leases()[lease.Revoked], "no lease blocks it")
		close(c.let)
		<-time.After(6 * time.Second)
		synctest.Wait()
		require.EqualValues(b, 1, b.leases()[lease.Granted])
	})
}

func TestALeaseThatASelectionDoesNotKnowOfDoesNotMakeAManagerSpin(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.curate(1)
		_, err := b.repo.Call(b.Context(), space.OpID{}, "lease.grant", tuple.New(models.NewID("o", "e"), "", int64(60_000)))
		require.NoError(b, err)
		b.manage("manager-1", b.store)
		synctest.Wait() // which returns only if the manager waits
		require.EqualValues(b, 1, b.leases()[lease.Granted])
		<-time.After(66 * time.Second)
		i, r := b.claim()
		b.report(i, r, 0)
		require.Equal(b, 1, b.totals().Researched)
	})
}

func TestNoMoreIsIssuedThanTheFleetIsLarge(t *testing.T) {
	inBubble(t, func(b *bench) {
		var l catalog.Listing
		for i := range 10 {
			l.Episodes = append(l.Episodes, models.Episode{Recording: models.Recording{Name: fmt.Sprint("e", i), Media: models.MediaRef{URI: "file:///e"}}})
		}
		_, err := b.store.Curate(b.Context(), "o", time.Now(), l)
		require.NoError(b, err)
		b.curate(2)
		b.manage("manager-1", b.store)
		b.manage("manager-2", b.store)
		synctest.Wait()
		waiting, err := b.repo.Space(task.Space).Count(b.Context(), task.AnyOf(models.ActionResearch))
		require.NoError(b, err)
		require.Equal(b, 3, waiting, "as many as slots, and one more")
	})
}

func TestTwoWorkersDoNotDecodeANewEpisodeAtOnceWhenClipsArriveAfterIt(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.curate(1)
		b.manage("manager-1", b.store)
		first, r := b.claim()
		b.curate(4)
		<-time.After(time.Minute)
		synctest.Wait()
		tasks := func() int {
			n, err := b.repo.Space(task.Space).Count(b.Context(), task.AnyOf(models.ActionResearch))
			require.NoError(b, err)
			return n
		}
		require.Zero(b, tasks(), "the episode is being decoded")
		b.report(first, r, 0)
		synctest.Wait()
		require.Equal(b, 2, tasks(), "its fingerprints are known, so the other clips are searched for at once")
	})
}

func TestWhatAnotherManagerCuratedIsSeenAtTheNextTick(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.manage("manager-1", b.store)
		synctest.Wait() // it has found nothing, and waits
		b.curate(1)
		<-time.After(6 * time.Second)
		i, r := b.claim()
		b.report(i, r, 0)
		require.Equal(b, 1, b.totals().Researched)
	})
}

func TestADeadTaskBecomesAProblemOfItsPairs(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.curate(2)
		b.manage("manager-1", b.store)
		for range 2 {
			i, _ := b.claim()
			require.NoError(b, task.Client{Repo: b.repo}.Release(b.Context(), i, "the disk is on fire"))
			<-time.After(31 * time.Second)
		}
		require.Equal(b, 1, b.totals().Problems, "one cause")
		problems, err := b.store.Problems(b.Context())
		require.NoError(b, err)
		require.Equal(b, 2, problems[0].Clips)
		require.Contains(b, problems[0].Reason, "the disk is on fire")
		_, _, err = b.store.Select(b.Context(), nil, catalog.Limits{Clips: 1})
		require.Error(b, err, "it is not selected again")
	})
}

func TestAResultThatCannotBeReadIsDroppedAndTheOthersGoOn(t *testing.T) {
	for name, body := range map[string]any{
		"no document":          "what?",
		"of another episode":   models.Researched{Episode: "other"},
		"without its versions": models.Researched{Episode: models.NewID("o", "e"), Clips: []string{"x"}},
		"a dead task's garbage": models.Failure{Problem: "p", Task: &models.Task{
			ID: "t", Data: json.RawMessage(`"garbage"`),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				b.curate(2)
				b.manage("manager-1", b.store)
				i, r := b.claim()
				require.NoError(b, task.Client{Repo: b.repo}.Report(b.Context(), i, "x", false, body))
				b.report(i, r, 0)
				b.report(i, r, 1)
				require.Equal(b, 2, b.totals().Researched)
				require.Contains(b, b.log.String(), "a result is dropped")
				left, err := b.repo.Space(task.Result).Count(b.Context(), task.AnyResult(models.ActionResearch))
				require.NoError(b, err)
				require.Zero(b, left)
			})
		})
	}
}

// broken is a catalog that cannot be written until it is repaired.
type broken struct {
	catalog.Catalog
	mu       sync.Mutex
	repaired bool
}

func (c *broken) Ingest(ctx context.Context, r models.Researched, at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.repaired {
		return errors.New("disk full")
	}
	return c.Catalog.Ingest(ctx, r, at)
}

func TestAResultIsKeptUntilTheCatalogHasIt(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.curate(1)
		c := &broken{Catalog: b.store}
		ended := b.manage("manager-1", c)
		i, r := b.claim()
		b.report(i, r, 0)
		require.ErrorContains(b, <-ended, "disk full")
		require.Zero(b, b.totals().Researched)
		require.Zero(b, b.leases()[lease.Revoked], "the hold did not end")

		c.repaired = true
		b.manage("manager-2", c)
		require.Equal(b, 1, b.totals().Researched)
		require.EqualValues(b, 1, b.leases()[lease.Revoked])
	})
}

// away is a catalog whose coordinator is unreachable for the first selects selections and the first ingests
// results.
type away struct {
	catalog.Catalog
	selects, ingests int
}

func (c *away) Select(ctx context.Context, busy []catalog.Busy, l catalog.Limits) (models.Research, int64, error) {
	if c.selects--; c.selects >= 0 {
		return models.Research{}, 0, fmt.Errorf("no connection: %w", fault.ErrUnavailable)
	}
	return c.Catalog.Select(ctx, busy, l)
}

func (c *away) Ingest(ctx context.Context, r models.Researched, at time.Time) error {
	if c.ingests--; c.ingests >= 0 {
		return fmt.Errorf("no connection: %w", fault.ErrUnavailable)
	}
	return c.Catalog.Ingest(ctx, r, at)
}

func TestACatalogThatIsAwayForAWhileIsOnlyADelay(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.curate(1)
		ended := b.manage("manager-1", &away{Catalog: b.store, selects: 10, ingests: 10})
		i, r := b.claim()
		b.report(i, r, 0)
		<-time.After(20 * time.Second)
		require.Equal(b, 1, b.totals().Researched)
		require.Empty(b, ended)
		require.Contains(b, b.log.String(), "the coordinator is unreachable")
	})
}

// replacing is a catalog for which some audio was replaced.
type replacing struct {
	checks
	replaced int
}

func (c *replacing) AudioChecked(context.Context, time.Time, []models.Audio) (int, error) {
	return c.replaced, nil
}

// A line for each visit would hide those that matter.
func TestTheFleetIsToldWhatChangedAndWhatCouldNotBeResearched(t *testing.T) {
	inBubble(t, func(b *bench) {
		forwarder := status.NewForwarder()
		ctx, stop := context.WithCancel(b.Context())
		go forwarder.Run(ctx)
		defer stop()
		_, err := forwarder.Over(func(context.Context) (space.Repository, error) { return b.repo, nil })(ctx)
		require.NoError(b, err)
		f := NewFlow(Flow{Catalog: b.store, Lister: &Lister{}, Log: forwarder.Logger(slog.New(slog.DiscardHandler))})
		o := models.Origin{ID: "o", URI: "/o"}
		seen := observed{Listing: catalog.Listing{Episodes: []models.Episode{{Recording: models.Recording{Name: "e"}}}}}
		for range 2 { // the second changes nothing
			_, err := f.curate(ctx, o, seen)
			require.NoError(b, err)
		}
		for _, replaced := range []int{0, 2} {
			f.Catalog = &replacing{checks{list: []models.Audio{{URI: "http://["}}}, replaced} // no server is asked
			_, err := f.checkAudio(ctx, o)
			require.NoError(b, err)
		}
		f.Catalog = &refusing{ingests: []error{nil, nil, fault.ErrInvalid}}
		for _, problem := range []string{"", "too long", "refused by the catalog"} {
			body := models.Researched{Episode: "e", Problem: problem, Scope: models.ScopeEpisode}
			require.NoError(b, f.ingest(ctx, work.Client{Repo: &answering{}}, held(b.T, "e", body)))
		}
		require.NoError(b, f.ingest(ctx, work.Client{Repo: &answering{}}, held(b.T, "c", models.Swept{Clip: "c", Episodes: map[string]models.MediaRef{}})))
		synctest.Wait()
		lines, err := status.Lines(ctx, b.repo)
		require.NoError(b, err)
		var told []string
		for _, l := range lines {
			if l.Level != "error" && l.Message != "session joined" {
				told = append(told, l.ID+" "+l.Level+" "+l.Message)
			}
		}
		session := b.repo.Session()
		require.ElementsMatch(b, []string{
			session + " info curated /o: 1 new, 0 changed, 0 gone", session + " info audio of 2 episodes of /o was replaced or can be fetched now: they are researched again",
			"worker-1 warn research of episode e: too long",
		}, told)
	})
}

func TestAVisitGoesWhereTheCatalogSaysAndNowhereElse(t *testing.T) {
	t.Parallel()
	store, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"))
	require.NoError(t, err)
	defer store.Close()
	origin := originAt(models.Media, tree(t, map[string]string{"a.wav": "a"}))
	_, err = store.AddOrigin(t.Context(), origin)
	require.NoError(t, err)
	f := NewFlow(Flow{Catalog: store, Lister: lister(t, origin)})

	forged := origin
	forged.URI = tree(t, map[string]string{"secret.wav": "s", "another.wav": "t"})
	outcome, err := f.Visit(t.Context(), models.Visit{Origin: forged})
	require.NoError(t, err)
	require.Equal(t, 1, outcome.Items)

	forged.ID = "unknown"
	_, err = f.Visit(t.Context(), models.Visit{Origin: forged})
	require.ErrorIs(t, err, fault.ErrNotFound)
}
