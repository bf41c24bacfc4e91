package transaction_test

import (
	"context"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pebble"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/space/transaction"
	"leasehold/shared/space/transaction/transactiontest"
	"leasehold/shared/space/wire"
	"leasehold/shared/tuple"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run runs an engine until the test ends.
func run(t testing.TB, j journal.Journal, p space.Procedures) *engine.Engine {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Config{Journal: j, Procedures: p})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	t.Cleanup(func() { stop(); require.NoError(t, <-done) })
	return e
}

func TestConformance(t *testing.T) {
	t.Parallel()
	transactiontest.Exercise(t, func(t *testing.T, p space.Procedures) spacetest.Open {
		return run(t, &journal.Memory{}, p).Session
	})
}

func TestConformanceOnDisk(t *testing.T) {
	t.Parallel()
	transactiontest.Exercise(t, func(t *testing.T, p space.Procedures) spacetest.Open {
		j, err := pebble.Open(pebble.Config{Dir: "journal", FS: vfs.NewMem()})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, j.Close()) })
		return run(t, j, p).Session
	})
}

func TestConformanceThroughTheEncoder(t *testing.T) {
	t.Parallel()
	transactiontest.Exercise(t, func(t *testing.T, p space.Procedures) spacetest.Open {
		e := run(t, &journal.Memory{}, p)
		return func(ctx context.Context, id string, ttl time.Duration) (space.Repository, error) {
			c, err := e.Connect(ctx, id, ttl)
			if err != nil {
				return nil, err
			}
			return space.Over(wire.Loopback(c)), nil
		}
	})
}

// FuzzOperations passes arbitrary bytes as operations to the procedures.
func FuzzOperations(f *testing.F) {
	f.Add(tuple.Match("coin").Append(tuple.New(int64(transaction.KindGet), "a", int64(0)).Append(nil)))
	f.Add(tuple.New("coin").Append(tuple.New(int64(transaction.KindPut), "a", int64(time.Minute)).Append(nil)))
	e := run(f, &journal.Memory{}, transaction.Procedures())
	repo, err := e.Session(f.Context(), "fuzz-1", 0)
	require.NoError(f, err)
	require.NoError(f, repo.Create(f.Context(), "a", space.Options{Capacity: 100, Overflow: space.DropOldest}))
	f.Fuzz(func(t *testing.T, ops []byte) {
		reply, err := repo.Call(t.Context(), space.OpID{}, "transaction.run", tuple.New(false, ops))
		if err != nil {
			require.NotContains(t, err.Error(), "panicked")
			return
		}
		require.Len(t, reply, 3)
	})
}
