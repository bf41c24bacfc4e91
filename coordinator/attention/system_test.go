package attention_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator"
	"leasehold/models"
	"leasehold/shared/code"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/tuple"
)

func TestASpaceNearItsBoundAndThenFullIsShown(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		require.NoError(f, f.admin.Create(f.Context(), "small", space.Options{Capacity: 10}))
		s := f.admin.Space("small")
		put := func(n int) {
			for range n {
				require.NoError(f, s.Put(f.Context(), tuple.New("x"), 0))
			}
		}
		put(7)
		require.Empty(f, f.items(models.CauseNearBound))
		put(1)
		i := f.only(models.CauseNearBound)
		require.Equal(f, models.ToKnow, i.Severity)
		require.Equal(f, "Space small is nearly full: it holds 8 of 10 tuples", i.Text)
		put(2)
		require.Empty(f, f.items(models.CauseNearBound))
		i = f.only(models.CauseRefused)
		require.Equal(f, models.StopsWork, i.Severity)
		require.Equal(f, "small", i.About)
		_, err := s.Get(f.Context(), tuple.Match("x"))
		require.NoError(f, err)
		require.Empty(f, f.items(models.CauseRefused))
	})
}

func TestMemoryNearItsBoundAndThenFullIsShown(t *testing.T) {
	t.Parallel()
	budget := memory.New(8 << 20)
	inBubble(t, func(c *coordinator.Config) { c.Memory = budget }, func(f *fixture) {
		f.create("resize", 1)
		require.Empty(f, f.items(models.CauseNearBound))
		budget.Add(5 << 20)
		i := f.only(models.CauseNearBound)
		require.Equal(f, "memory", i.About)
		require.Contains(f, i.Detail, "Action resize has the most tasks")
		budget.Add(2 << 20)
		i = f.only(models.CauseRefused)
		require.Equal(f, "memory", i.About)
		budget.Add(-7 << 20)
		require.Empty(f, f.items(models.CauseRefused))
	})
}

// brokenDisk is a journal whose commits fail, or that is full.
type brokenDisk struct {
	journal.Memory
	fails, full atomic.Bool
}

func (d *brokenDisk) Commit(ctx context.Context, expected journal.Position, records []journal.Record) error {
	if d.fails.Load() {
		return errors.New("input/output error")
	}
	return d.Memory.Commit(ctx, expected, records)
}

func (d *brokenDisk) Full() bool { return d.full.Load() }

func TestADiskThatIsFullOrCannotBeWrittenStopsWork(t *testing.T) {
	t.Parallel()
	disk := &brokenDisk{}
	inBubble(t, func(c *coordinator.Config) { c.Journal = disk }, func(f *fixture) {
		disk.full.Store(true)
		i := f.only(models.CauseRefused)
		require.Equal(f, "disk", i.About)
		require.Equal(f, models.StopsWork, i.Severity)
		disk.full.Store(false)
		require.Empty(f, f.items(models.CauseRefused))

		disk.fails.Store(true)
		ctx, cancel := context.WithTimeout(f.Context(), time.Second)
		defer cancel()
		_, err := f.tasks.Create(ctx, models.Task{Action: "resize", Timeout: 60}, 0)
		require.Error(f, err)
		disk.fails.Store(false)
		i = f.only(models.CauseNotWritable)
		require.Equal(f, "journal", i.About)
		f.wait(time.Minute)
		require.Empty(f, f.items(models.CauseNotWritable))
	})
}

func TestACatalogThatCannotBeWrittenStopsWork(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	inBubble(t, func(c *coordinator.Config) {
		c.Attention.Health = func() error {
			if broken.Load() {
				return errors.New("the database cannot be written since 02:00: disk I/O error")
			}
			return nil
		}
	}, func(f *fixture) {
		require.Empty(f, f.items(models.CauseNotWritable))
		broken.Store(true)
		i := f.only(models.CauseNotWritable)
		require.Equal(f, models.StopsWork, i.Severity)
		require.Contains(f, i.Detail, "disk I/O error")
		broken.Store(false)
		require.Empty(f, f.items(models.CauseNotWritable))
	})
}

func TestMissingAuthenticationIsShownUntilItIsDismissed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(c *coordinator.Config) { c.Attention.Open = "0.0.0.0:7411" }, func(f *fixture) {
		i := f.only(models.CauseOpen)
		require.Contains(f, i.Text, "0.0.0.0:7411")
		require.NoError(f, f.c.Watcher().Dismiss(i.Remedy.Params["item"]))
		require.Empty(f, f.items(models.CauseOpen))
	})
}

// lacking is an index that lacks files of repositories.
type lacking struct {
	repos atomic.Pointer[[]code.RepoInfo]
	waits atomic.Pointer[error] // nil: for nothing
}

func (l *lacking) Waits() (since time.Time, err error) {
	if why := l.waits.Load(); why != nil {
		return time.Now(), *why
	}
	return since, nil
}

func (l *lacking) Cluster() string { return "cluster-1" }

func (l *lacking) Lacks() (code.Lack, error) { return code.Lack{Repos: *l.repos.Load()}, nil }

func (l *lacking) set(repos ...code.RepoInfo) { l.repos.Store(&repos) }

func TestAnIncompleteIndexIsShown(t *testing.T) {
	t.Parallel()
	index := &lacking{}
	index.set()
	inBubble(t, func(c *coordinator.Config) { c.Attention.Index = index }, func(f *fixture) {
		require.Empty(f, f.items(models.CauseIndex))
		index.set(code.RepoInfo{ID: "3f2a9c1d7e45", Repo: "https://bob:pw@example.org/a.git"})
		f.wait(5 * time.Second)
		i := f.only(models.CauseIndex)
		require.Equal(f, "requestVisit", i.Remedy.Operation)
		require.JSONEq(f, `{"origin":"3f2a9c1d7e45"}`, string(i.Remedy.Body))
		require.NotContains(f, i.Text+i.Remedy.Label, "bob")
		index.set()
		f.wait(5 * time.Second)
		require.Empty(f, f.items(models.CauseIndex))
	})
}

func TestASearchServerThatIsAwayIsShown(t *testing.T) {
	t.Parallel()
	index := &lacking{}
	index.set()
	inBubble(t, func(c *coordinator.Config) { c.Attention.Index = index }, func(f *fixture) {
		require.Empty(f, f.items(models.CauseSearchServer))
		why := errors.New("POST _bulk: the search server answers 429")
		index.waits.Store(&why)
		f.wait(5 * time.Second)
		i := f.only(models.CauseSearchServer)
		require.Equal(f, models.StopsWork, i.Severity)
		require.Contains(f, i.Detail, "429")
		require.Equal(f, "cluster-1", f.c.Watcher().Attention().SearchCluster)
		index.waits.Store(nil)
		f.wait(5 * time.Second)
		require.Empty(f, f.items(models.CauseSearchServer))
	})
}
