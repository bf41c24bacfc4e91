package coordinator_test

import (
	"context"
	"fmt"
	"leasehold/coordinator/database"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/coordinator"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	rules "leasehold/shared/protocol/visit/policy"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var policy = work.Policy{
	Task:     task.Policy{MaxAttempts: 3, Backoff: 30 * time.Second},
	LeaseTTL: time.Hour, QueueTTL: 30 * time.Minute, Ingest: time.Minute,
}

// bench is a coordinator that runs, with a catalog of two origins.
type bench struct {
	*coordinator.Coordinator
	t     *testing.T
	store catalog.Catalog
}

func inBubble(t *testing.T, f func(b *bench)) { inBubbleWith(t, rules.DefaultRules(), nil, f) }

// inBubbleWith is inBubble with rules of visits, and the sessions decorated, unless decorate is nil.
func inBubbleWith(t *testing.T, r rules.Rules, decorate func(space.Conn) space.Conn, f func(b *bench)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db, err := database.Open(t.Context(), database.Memory, "value", r)
		require.NoError(t, err)
		for _, id := range []string{"o1", "o2"} {
			_, err := db.Catalog.AddOrigin(t.Context(), models.Origin{ID: id, Kind: models.Media, URI: "/" + id, AddedAt: time.Now()})
			require.NoError(t, err)
		}
		c, err := coordinator.New(t.Context(), coordinator.Config{
			Journal: &journal.Memory{}, Catalog: db.Catalog, Visits: db.Visits, Work: policy, Visit: visit.Policy{Timeout: time.Hour},
			Decorate: decorate,
		})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(context.Background())
		ready, done := make(chan struct{}), make(chan error, 1)
		go func() { done <- c.Run(ctx, func() { close(ready) }) }()
		<-ready
		f(&bench{Coordinator: c, t: t, store: db.Catalog})
		stop()
		require.NoError(t, <-done)
		require.NoError(t, db.Close())
	})
}

// connect opens a session of a manager.
func (b *bench) connect(ttl time.Duration) space.Repository {
	repo, err := b.Connect(b.t.Context(), "manager", ttl)
	require.NoError(b.t, err)
	return repo
}

// idle reports whether nothing is left to do.
func (b *bench) idle(repo space.Repository) bool {
	idle, err := b.Idle(b.t.Context(), repo)
	require.NoError(b.t, err)
	return idle
}

// end ends the next visit with a status, and returns its origin.
func (b *bench) end(repo space.Repository, s models.Status) string {
	client := visit.Client{Repo: repo}
	v, err := client.Take(b.t.Context())
	require.NoError(b.t, err)
	require.NoError(b.t, client.End(b.t.Context(), models.Outcome{Visit: v.ID, Origin: v.Origin.ID, Status: s, At: time.Now()}))
	synctest.Wait()
	return v.Origin.ID
}

func TestEveryOriginIsVisitedAtTheStartAndItsOutcomeRecorded(t *testing.T) {
	inBubble(t, func(b *bench) {
		repo := b.connect(0)
		require.False(b.t, b.idle(repo), "visits wait")
		require.Equal(b.t, "o1", b.end(repo, models.Eventful))
		require.Equal(b.t, "o2", b.end(repo, models.Failed))
		for id, want := range map[string]models.Status{"o1": models.Eventful, "o2": models.Failed} {
			o, err := b.store.Origin(b.t.Context(), id)
			require.NoError(b.t, err)
			require.Equal(b.t, want, o.LastOutcome)
		}
		require.True(b.t, b.idle(repo))
	})
}

func TestAnOriginIsVisitedAgainOnlyWhenItsRestIsOver(t *testing.T) {
	r := rules.DefaultRules()
	r.Cooldown = 12 * time.Minute // in hours the loops of the coordinator turn too often
	inBubbleWith(t, r, nil, func(b *bench) {
		repo := b.connect(0)
		b.end(repo, models.Eventful)
		b.end(repo, models.Uneventful)
		visits := func() int {
			n, err := repo.Space(visit.Space).Count(b.t.Context(), visit.Any())
			require.NoError(b.t, err)
			return n
		}
		<-time.After(11 * time.Minute)
		synctest.Wait()
		require.Zero(b.t, visits())
		require.NoError(b.t, b.Visits.SaveNow(b.t.Context(), time.Now(), "o2"))
		<-time.After(time.Second)
		require.Equal(b.t, "o2", b.end(repo, models.Uneventful), "unless a visit is requested")
		<-time.After(time.Minute + 10*time.Second)
		synctest.Wait()
		require.Equal(b.t, 1, visits())
		require.Equal(b.t, "o1", b.end(repo, models.Uneventful))
	})
}

func TestVisitsArePutForTheSlotsThatServeThem(t *testing.T) {
	inBubble(t, func(b *bench) {
		repo := b.connect(0)
		for i := range 8 {
			o := models.Origin{ID: fmt.Sprint("m", i), Kind: models.Media, URI: fmt.Sprint("/m", i), AddedAt: time.Now()}
			_, err := b.store.AddOrigin(b.t.Context(), o)
			require.NoError(b.t, err)
		}
		count := func() int {
			<-time.After(2 * time.Second)
			synctest.Wait()
			n, err := repo.Space(visit.Space).Count(b.t.Context(), visit.Any())
			require.NoError(b.t, err)
			return n
		}
		require.Equal(b.t, 1, count(), "one for a manager that reports no slots")
		require.NoError(b.t, status.NewHeartbeat(repo, time.Hour, map[string]int{visit.Action: 3}).Beat(b.t.Context()))
		require.Equal(b.t, 4, count(), "one for each slot, and one more")
		_, err := visit.Client{Repo: repo}.Take(b.t.Context())
		require.NoError(b.t, err)
		require.Equal(b.t, 3, count())
	})
}

func TestALostVisitIsRepeatedButNotForEver(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.end(b.connect(0), models.Uneventful) // o1
		for range 4 {
			_, err := visit.Client{Repo: b.connect(6 * time.Second)}.Take(b.t.Context())
			require.NoError(b.t, err)
			<-time.After(7 * time.Second) // its session is lost
			synctest.Wait()
		}
		require.True(b.t, b.idle(b.connect(0)))
		o, err := b.store.Origin(b.t.Context(), "o2")
		require.NoError(b.t, err)
		require.Equal(b.t, models.Lost, o.LastOutcome)
	})
}

func TestAVisitThatOutlivedACoordinatorIsNotPutAgain(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprintf("database lost %v", lost), func(t *testing.T) {
			t.Parallel()
			outlive(t, lost)
		})
	}
}

// outlive has three coordinators in a row, one after another, host the spaces in
// which a visit waits, and then is held; each has a new database if it was lost.
func outlive(t *testing.T, lost bool) {
	synctest.Test(t, func(t *testing.T) {
		open := func() *database.Database {
			db, err := database.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"), "value", rules.DefaultRules())
			require.NoError(t, err)
			_, err = db.Catalog.AddOrigin(t.Context(), models.Origin{ID: "o1", Kind: models.Media, URI: "/o1", AddedAt: time.Now()})
			require.NoError(t, err)
			return db
		}
		db := open()
		defer func() { require.NoError(t, db.Close()) }()
		spaces := &journal.Memory{}
		for _, take := range []bool{false, true, false} {
			if lost {
				require.NoError(t, db.Close())
				db = open()
			}
			c, err := coordinator.New(t.Context(), coordinator.Config{
				Journal: spaces, Catalog: db.Catalog, Visits: db.Visits, Work: policy, Visit: visit.Policy{Timeout: time.Hour},
			})
			require.NoError(t, err)
			ctx, stop := context.WithCancel(context.Background())
			ready, done := make(chan struct{}), make(chan error, 1)
			go func() { done <- c.Run(ctx, func() { close(ready) }) }()
			<-ready
			repo, err := c.Connect(t.Context(), "manager", time.Hour)
			require.NoError(t, err)
			<-time.After(2 * time.Second)
			synctest.Wait()
			infos, err := repo.List(t.Context())
			require.NoError(t, err)
			for _, i := range infos {
				if i.Name == visit.Space {
					require.Equal(t, 1, i.Visible+i.Held)
				}
			}
			if take {
				_, err := visit.Client{Repo: repo}.Take(t.Context())
				require.NoError(t, err)
			}
			stop()
			require.NoError(t, <-done)
		}
	})
}

func TestWhatCouldBeSelectedIsNotIdle(t *testing.T) {
	inBubble(t, func(b *bench) {
		repo := b.connect(0)
		_, err := b.store.Curate(b.t.Context(), "o1", time.Now(), catalog.Listing{
			Episodes: []models.Episode{{Recording: models.Recording{Name: "e"}}},
			Clips:    []models.Clip{{Recording: models.Recording{Name: "c"}}},
		})
		require.NoError(b.t, err)
		b.end(repo, models.Eventful)
		b.end(repo, models.Eventful)
		require.False(b.t, b.idle(repo))
	})
}

func TestALeaseOrATaskInHandIsNotIdle(t *testing.T) {
	inBubble(t, func(b *bench) {
		repo := b.connect(0)
		b.end(repo, models.Eventful)
		b.end(repo, models.Eventful)
		require.True(b.t, b.idle(repo))
		issued, err := work.Client{Repo: repo}.Issue(b.t.Context(), work.InProgress{}, models.Task{Action: "a", Subject: "s", Timeout: 60}, 0)
		require.NoError(b.t, err)
		require.True(b.t, issued)
		require.False(b.t, b.idle(repo))
		claimed, err := task.Client{Repo: repo}.Claim(b.t.Context(), "a")
		require.NoError(b.t, err)
		require.False(b.t, b.idle(repo))
		require.NoError(b.t, task.Client{Repo: repo}.Report(b.t.Context(), claimed, "", true, nil))
		require.False(b.t, b.idle(repo), "a result waits")
		step, err := work.Client{Repo: repo}.Next(b.t.Context(), "a", false)
		require.NoError(b.t, err)
		require.False(b.t, b.idle(repo), "a result is held")
		require.NoError(b.t, work.Client{Repo: repo}.Ingested(b.t.Context(), step.Result))
		require.True(b.t, b.idle(repo))
	})
}

func TestFault23AQueueTTLThatOutlivesTheLeaseIsRefused(t *testing.T) {
	t.Parallel()
	p := policy
	p.QueueTTL = p.LeaseTTL
	_, err := coordinator.New(t.Context(), coordinator.Config{Journal: &journal.Memory{}, Work: p})
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "queue TTL (1h0m0s)")
}

func TestFault13ACoordinatorWhoseJournalBreaksEndsWithThatError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db, err := database.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"), "value", rules.DefaultRules())
		require.NoError(t, err)
		m := &journal.Memory{}
		c, err := coordinator.New(t.Context(), coordinator.Config{
			Journal: m, Catalog: db.Catalog, Visits: db.Visits, Work: policy, Visit: visit.Policy{Timeout: time.Hour}, Log: slog.New(slog.DiscardHandler),
		})
		require.NoError(t, err)
		ready, done := make(chan struct{}), make(chan error, 1)
		go func() { done <- c.Run(context.Background(), func() { close(ready) }) }()
		<-ready
		repo, err := c.Connect(t.Context(), "manager", 0)
		require.NoError(t, err)
		m.Before = func(context.Context, []journal.Record) error { return journal.ErrBroken }
		require.ErrorIs(t, repo.Space(task.Result).Put(t.Context(), tuple.New("a"), 0), fault.ErrUnavailable)
		require.ErrorIs(t, <-done, journal.ErrBroken)
		require.NoError(t, db.Close())
	})
}
