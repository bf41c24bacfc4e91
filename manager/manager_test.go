package manager_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/manager"
	managerclips "leasehold/manager/clips"
	"leasehold/models"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/spacetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ manager.Flow = (*managerclips.Flow)(nil)

// flow is a Flow of functions that a test provides.
type flow struct {
	visit func(ctx context.Context, o models.Origin) (models.Outcome, error)
	run   func(ctx context.Context, repo space.Repository) error
}

func (f flow) Visit(ctx context.Context, v models.Visit) (models.Outcome, error) {
	return f.visit(ctx, v.Origin)
}
func (f flow) Run(ctx context.Context, repo space.Repository) error {
	if f.run != nil {
		return f.run(ctx, repo)
	}
	<-ctx.Done()
	return nil
}

// bench is an engine with the visit protocol, inside a synctest bubble.
type bench struct {
	t      *testing.T
	engine *engine.Engine
	repo   space.Repository
	ended  chan error         // what the Run that was started last returns
	repos  []space.Repository // of the managers' sessions
	robots manager.Robots
	refuse bool // whether the managers' connections refuse calls
}

func inBubble(t *testing.T, f func(b *bench)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, err := engine.Open(t.Context(), engine.Config{
			Journal:    &journal.Memory{},
			Procedures: space.Join(status.Procedures(), visit.Policy{Timeout: time.Hour}.Procedures()),
		})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- e.Run(ctx) }()
		b := &bench{t: t, engine: e}
		b.repo, err = e.Session(t.Context(), "test-1", 0)
		require.NoError(t, err)
		for _, defs := range [][]space.Definition{status.Spaces(), lease.Spaces(), task.Spaces(), visit.Spaces()} {
			for _, d := range defs {
				require.NoError(t, b.repo.Create(t.Context(), d.Name, d.Options))
			}
		}
		f(b)
		stop()
		require.NoError(t, <-done)
	})
}

// run starts a manager; stop ends it and returns what Run returned.
func (b *bench) run(f manager.Flow) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	b.ended = done
	connect := func(ctx context.Context) (space.Repository, error) {
		conn, err := b.engine.Connect(ctx, "manager-"+string(rune('a'+len(b.repos))), 6*time.Second)
		if err != nil {
			return nil, err
		}
		if b.refuse {
			conn = spacetest.Refuse(conn, 7)
		}
		repo := space.Over(conn)
		b.repos = append(b.repos, repo)
		return repo, nil
	}
	go func() {
		done <- manager.Run(ctx, connect, manager.Config{
			Flows: map[models.FlowName]manager.Flow{models.ArchiveFlow: f}, Slots: 3, Robots: b.robots, Heartbeat: 2 * time.Second, Grace: time.Second,
			Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		})
	}()
	return func() error {
		cancel()
		return <-done
	}
}

func (b *bench) put(kind models.OriginKind) {
	b.putVisit("v1", models.Origin{ID: "o1", Kind: kind, URI: "/x"})
}

func (b *bench) putVisit(id string, o models.Origin) {
	require.NoError(b.t, visit.Client{Repo: b.repo}.Put(b.t.Context(), models.Visit{ID: id, Origin: o}))
}

// robots knows the Crawl-delay of some URLs, in seconds.
type robots map[string]int

func (r robots) CrawlDelay(_ context.Context, uri string) (time.Duration, bool) {
	n, known := r[uri]
	return time.Duration(n) * time.Second, known
}

func TestAnOutcomeHasTheCrawlDelayOfItsHost(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.robots = robots{"https://slow.example/": 20, "https://any.example/": 0, "https://busy.example/": 9, "/folder": 9}
		stop := b.run(flow{visit: func(_ context.Context, o models.Origin) (models.Outcome, error) {
			if o.ID == "busy" {
				return models.Outcome{RetryAfter: 60}, errors.New("busy")
			}
			return models.Outcome{Status: models.Eventful}, nil
		}})
		for id, uri := range map[string]string{
			"slow": "https://slow.example/", "any": "https://any.example/", "unknown": "https://unknown.example/", "busy": "https://busy.example/", "folder": "/folder",
		} {
			b.putVisit("v-"+id, models.Origin{ID: id, Kind: models.Feed, URI: uri})
		}
		<-time.After(time.Second)
		delays := map[string]models.Seconds{}
		for _, o := range b.outcomes() {
			if o.CrawlDelay != nil {
				delays[o.Origin] = *o.CrawlDelay
			}
		}
		require.Len(b.t, b.outcomes(), 5)
		require.Equal(b.t, map[string]models.Seconds{"slow": 20, "any": 0}, delays)
		require.NoError(b.t, stop())
	})
}

// outcomes returns the outcomes of visits.
func (b *bench) outcomes() []models.Outcome {
	found, err := b.repo.Space(task.Result).QueryAll(b.t.Context(), task.AnyResult(visit.Action))
	require.NoError(b.t, err)
	var all []models.Outcome
	for _, t := range found {
		var o models.Outcome
		require.NoError(b.t, json.Unmarshal([]byte(task.DecodeResult(t).Body), &o))
		all = append(all, o)
	}
	return all
}

func (b *bench) waiting() int {
	n, err := b.repo.Space(visit.Space).Count(b.t.Context(), visit.Any())
	require.NoError(b.t, err)
	return n
}

func TestAVisitEndsWithItsOutcome(t *testing.T) {
	inBubble(t, func(b *bench) {
		stop := b.run(flow{visit: func(context.Context, models.Origin) (models.Outcome, error) {
			<-time.After(3 * time.Second)
			return models.Outcome{Status: models.Eventful, Items: 5}, nil
		}})
		b.put(models.Media)
		<-time.After(4 * time.Second)
		got := b.outcomes()
		require.Len(b.t, got, 1)
		require.Equal(b.t, models.Eventful, got[0].Status)
		require.Equal(b.t, 5, got[0].Items)
		require.Equal(b.t, "v1", got[0].Visit)
		require.Equal(b.t, "o1", got[0].Origin)
		require.InDelta(b.t, 3, float64(got[0].Took), 1e-9)
		require.NoError(b.t, stop())
	})
}

func TestVisitsEndAlthoughTheSpacesRefuseCalls(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.refuse = true
		stop := b.run(flow{visit: func(context.Context, models.Origin) (models.Outcome, error) {
			return models.Outcome{Status: models.Eventful}, nil
		}})
		b.put(models.Media)
		<-time.After(time.Minute)
		require.Len(b.t, b.outcomes(), 1)
		require.Len(b.t, b.repos, 1, "no session was lost")
		require.NoError(b.t, stop())
	})
}

func TestAVisitThatCannotBeDoneFailsWithTheReason(t *testing.T) {
	for name, kind := range map[string]models.OriginKind{"no such folder": models.Media, `kind "git"`: models.Git} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				stop := b.run(flow{visit: func(context.Context, models.Origin) (models.Outcome, error) {
					return models.Outcome{}, errors.New("no such folder")
				}})
				b.put(kind)
				synctest.Wait()
				got := b.outcomes()
				require.Len(b.t, got, 1)
				require.Equal(b.t, models.Failed, got[0].Status)
				require.Contains(b.t, got[0].Error, name)
				require.NoError(b.t, stop())
			})
		})
	}
}

func TestAVisitThatHangsKeepsOnlyItsSlot(t *testing.T) {
	inBubble(t, func(b *bench) {
		release := make(chan struct{})
		stop := b.run(flow{visit: func(_ context.Context, o models.Origin) (models.Outcome, error) {
			if o.ID == "hangs" {
				<-release
			}
			return models.Outcome{Status: models.Uneventful}, nil
		}})
		synctest.Wait()
		free, err := visit.Client{Repo: b.repo}.Capacity(b.t.Context())
		require.NoError(b.t, err)
		require.Equal(b.t, 4, free, "three slots, and one visit in advance")
		put := func(id string) {
			v := models.Visit{ID: "visit-" + id, Origin: models.Origin{ID: id, Kind: models.Media, URI: "/" + id}}
			require.NoError(b.t, visit.Client{Repo: b.repo}.Put(b.t.Context(), v))
		}
		for _, id := range []string{"hangs", "a", "b", "c", "d"} {
			put(id)
		}
		synctest.Wait()
		require.Len(b.t, b.outcomes(), 4, "all but the one that hangs")
		close(release)
		synctest.Wait()
		require.Len(b.t, b.outcomes(), 5)
		require.NoError(b.t, stop())
	})
}

func TestAManagerThatStopsHandsItsVisitBack(t *testing.T) {
	inBubble(t, func(b *bench) {
		stop := b.run(flow{visit: func(ctx context.Context, _ models.Origin) (models.Outcome, error) {
			<-ctx.Done()
			return models.Outcome{}, ctx.Err()
		}})
		b.put(models.Media)
		synctest.Wait()
		require.Zero(b.t, b.waiting())
		require.NoError(b.t, stop())
		require.Equal(b.t, 1, b.waiting())
		require.Empty(b.t, b.outcomes())
	})
}

func TestALostSessionOfAManagerIsReplaced(t *testing.T) {
	inBubble(t, func(b *bench) {
		stop := b.run(flow{visit: func(context.Context, models.Origin) (models.Outcome, error) {
			return models.Outcome{Status: models.Uneventful}, nil
		}})
		synctest.Wait()
		require.NoError(b.t, b.repos[0].Close(b.t.Context()), "without the manager")
		<-time.After(5 * time.Second)
		b.put(models.Media)
		synctest.Wait()
		require.Len(b.t, b.outcomes(), 1)
		require.Len(b.t, b.repos, 2)
		require.NoError(b.t, stop())
	})
}

func TestTheErrorOfAFlowIsReturned(t *testing.T) {
	inBubble(t, func(b *bench) {
		broken := errors.New("the catalog is broken")
		err := manager.Run(b.t.Context(), func(ctx context.Context) (space.Repository, error) {
			return b.engine.Session(ctx, "manager-x", 6*time.Second)
		}, manager.Config{
			Flows:     map[models.FlowName]manager.Flow{models.ArchiveFlow: flow{run: func(context.Context, space.Repository) error { return broken }}},
			Heartbeat: time.Second, Grace: time.Second,
		})
		require.ErrorIs(b.t, err, broken)
	})
}

func TestAManagerThatIsToldToDrainHandsItsVisitBackAndEnds(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.run(flow{visit: func(ctx context.Context, _ models.Origin) (models.Outcome, error) {
			<-ctx.Done()
			return models.Outcome{}, ctx.Err()
		}})
		b.put(models.Media)
		synctest.Wait()
		require.NoError(b.t, status.Drain(b.t.Context(), b.repo, "manager-a"))
		require.NoError(b.t, <-b.ended)
		require.Equal(b.t, 1, b.waiting())
		require.Len(b.t, b.repos, 1, "it does not come back")
	})
}
