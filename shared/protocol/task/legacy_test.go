package task_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pebble"
	"leasehold/shared/tuple"
)

// factsOfLegacy returns what a journal holds that a coordinator of commit dbe7dc9 wrote
// before it was killed. It had a task in each state that the version knew: t8 waits, t7 is
// held by a worker, t6 is in its back-off, and t1 is a dead letter.
func factsOfLegacy(t *testing.T) (facts []journal.Fact, standing journal.Standing) {
	dir := t.TempDir()
	f, err := os.Open("testdata/dbe7dc9.tar.gz")
	require.NoError(t, err)
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	require.NoError(t, err)
	files := tar.NewReader(unzipped)
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		path := filepath.Join(dir, filepath.Clean("/"+h.Name))
		if h.FileInfo().IsDir() {
			require.NoError(t, os.MkdirAll(path, 0o700))
			continue
		}
		data, err := io.ReadAll(files)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, data, 0o600))
	}
	j, err := pebble.Open(pebble.Config{Dir: filepath.Join(dir, "journal")})
	require.NoError(t, err)
	standing, err = j.Load(t.Context(), func(f journal.Fact) error { facts = append(facts, f); return nil })
	require.NoError(t, err)
	require.NoError(t, j.Close())
	return facts, standing
}

func TestTasksOfAnEarlierVersionAreFinished(t *testing.T) {
	t.Parallel()
	facts, standing := factsOfLegacy(t)
	synctest.Test(t, func(t *testing.T) {
		memory := &journal.Memory{}
		require.NoError(t, memory.Commit(t.Context(), 0, []journal.Record{{Clock: standing.Clock, Facts: facts}}))
		policy := task.Policy{MaxAttempts: 3, Backoff: backoff}
		e, err := engine.Open(t.Context(), engine.Config{Journal: memory, Takes: task.Takes(), Procedures: space.Join(
			policy.Procedures(), policy.AdminProcedures(), lease.Procedures(), status.Procedures(),
			space.Procedures{"work.expire": nothing, "work.drop": nothing, "work.return": nothing, "visit.lost": nothing})})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		repo, err := e.Session(t.Context(), "admin", 0)
		require.NoError(t, err)
		for _, spaces := range [][]space.Definition{task.Spaces(), lease.Spaces(), status.Spaces()} {
			for _, d := range spaces {
				require.NoError(t, repo.Create(t.Context(), d.Name, d.Options))
			}
		}
		f := fixture{T: t, repo: repo, client: task.Client{Repo: repo}}

		all, _, err := f.client.List(t.Context(), task.Filter{}, nil, 9)
		require.NoError(t, err)
		require.Len(t, all, 3)
		l, err := f.client.DeadLetter(t.Context(), "t1")
		require.NoError(t, err)
		require.Equal(t, "dead", l.Subject)
		require.JSONEq(t, `{"hole":"dead"}`, string(l.Data))
		require.Len(t, l.History, 4)
		require.Equal(t, "too hard", l.History[3].Error)

		again, err := f.client.Requeue(t.Context(), "t1", true)
		require.NoError(t, err)
		require.Equal(t, "t1", again.ID)
		waiting, err := f.client.Claim(t.Context(), "dig")
		require.NoError(t, err)
		<-time.After(2 * time.Minute) // the session of the worker is lost, and back-offs end
		other, err := e.Session(t.Context(), "worker", 0)
		require.NoError(t, err)
		worker := task.Client{Repo: other}
		attempts := map[string]int64{}
		for range 4 {
			claim, cancel := context.WithTimeout(t.Context(), time.Hour)
			i, err := worker.Claim(claim, "dig")
			cancel()
			require.NoError(t, err)
			require.JSONEq(t, `{"hole":"`+i.Subject+`"}`, string(i.Data))
			attempts[i.Subject] = i.Attempts
			require.NoError(t, worker.Report(t.Context(), i, "", true, 1))
		}
		require.Contains(t, attempts, waiting.Subject, "its attempt timed out")
		attempts[waiting.Subject]--
		require.Equal(t, map[string]int64{"dead": 0, "waiting": 0, "held": 1, "backed-off": 1}, attempts)
		infos, err := repo.List(t.Context())
		require.NoError(t, err)
		for _, i := range infos {
			if i.Name == task.Space || i.Name == task.Dead {
				require.Zero(t, i.Visible+i.Held, i.Name)
			}
		}
		stop()
		require.NoError(t, <-done)
	})
}

func nothing(space.Tx, tuple.Tuple) (tuple.Tuple, error) { return nil, nil }
