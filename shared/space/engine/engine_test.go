package engine_test

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/space/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quiet is a log for tests in which the engine warns.
var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// run runs an engine until the test ends.
func run(t testing.TB, c engine.Config) *engine.Engine {
	t.Helper()
	e, stop := restartable(t, c)
	t.Cleanup(func() { require.NoError(t, stop()) })
	return e
}

// restartable runs an engine until stop, which returns Run's error.
func restartable(t testing.TB, c engine.Config) (e *engine.Engine, stop func() error) {
	t.Helper()
	if c.Journal == nil {
		c.Journal = &journal.Memory{}
	}
	if c.Procedures == nil {
		c.Procedures = spacetest.Procedures()
	}
	c.Log = quiet
	e, err := engine.Open(t.Context(), c)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- e.Run(ctx) }()
	return e, func() error { cancel(); return <-done }
}

// session opens a session at e.
func session(t testing.TB, e *engine.Engine, id string, ttl time.Duration) space.Repository {
	t.Helper()
	r, err := e.Session(context.Background(), id, ttl)
	require.NoError(t, err)
	return r
}

func TestConformance(t *testing.T) {
	t.Parallel()
	spacetest.Exercise(t, func(t *testing.T, p space.Procedures) spacetest.Open {
		return run(t, engine.Config{Procedures: p}).Session
	})
}

func TestConformanceThroughTheEncoder(t *testing.T) {
	t.Parallel()
	spacetest.Exercise(t, func(t *testing.T, p space.Procedures) spacetest.Open {
		e := run(t, engine.Config{Procedures: p})
		return func(ctx context.Context, id string, ttl time.Duration) (space.Repository, error) {
			c, err := e.Connect(ctx, id, ttl)
			if err != nil {
				return nil, err
			}
			return space.Over(wire.Loopback(c)), nil
		}
	})
}

// overtaken is a connection on which the first put arrives after more operations with
// higher numbers than a window holds.
type overtaken struct {
	space.Conn
	once sync.Once
}

// Do lets more operations than a window follow before the first put, which then has an old
// number.
func (o *overtaken) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	var err error
	if r.Verb == space.VerbPut {
		o.once.Do(func() {
			for n := 0; n < 2*space.Window && err == nil; n++ {
				_, err = wire.Loopback(o.Conn).Do(ctx, space.Request{Verb: space.VerbCall, Procedure: "test.token"})
			}
		})
	}
	if err != nil {
		return space.Reply{}, err
	}
	return o.Conn.Do(ctx, r)
}

func TestWhatIsOvertakenOnItsWayIsNotTooOld(t *testing.T) {
	t.Parallel()
	c, err := run(t, engine.Config{}).Connect(t.Context(), "client", 0)
	require.NoError(t, err)
	r := space.Over(wire.Loopback(&overtaken{Conn: c}))
	require.NoError(t, r.Create(t.Context(), "s", space.Options{}))
	require.NoError(t, r.Space("s").Put(t.Context(), item("a", 1), 0))
}

func TestAcknowledgedGets(t *testing.T) {
	t.Parallel()
	spacetest.ExerciseAcknowledged(t, func(t *testing.T, p space.Procedures) spacetest.Dial {
		return run(t, engine.Config{Procedures: p}).Connect
	})
}

func TestAcknowledgedGetsThroughTheEncoder(t *testing.T) {
	t.Parallel()
	spacetest.ExerciseAcknowledged(t, func(t *testing.T, p space.Procedures) spacetest.Dial {
		e := run(t, engine.Config{Procedures: p})
		return func(ctx context.Context, id string, ttl time.Duration) (space.Conn, error) {
			c, err := e.Connect(ctx, id, ttl)
			if err != nil {
				return nil, err
			}
			return wire.Loopback(c), nil
		}
	})
}
