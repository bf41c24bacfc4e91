package work

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// answering is a session whose calls a function answers.
type answering struct {
	space.Repository
	answer func(ctx context.Context, procedure string, args tuple.Tuple) (tuple.Tuple, error)
}

func (a answering) Call(ctx context.Context, _ space.OpID, procedure string, args tuple.Tuple) (tuple.Tuple, error) {
	return a.answer(ctx, procedure, args)
}

// A manager that takes a failed call for a success loses a result, or issues work twice.
func TestACallOfAManagerThatFailsIsNoSuccess(t *testing.T) {
	t.Parallel()
	for want, answer := range map[error]tuple.Tuple{fault.ErrUnavailable: nil, fault.ErrCorrupt: tuple.New("x")} {
		c := Client{answering{nil, func(context.Context, string, tuple.Tuple) (tuple.Tuple, error) {
			if answer == nil {
				return nil, want
			}
			return answer, nil
		}}}
		_, err := c.Next(t.Context(), "dig", true)
		require.ErrorIs(t, err, want)
		h, err := c.NextResult(t.Context(), "dig")
		require.ErrorIs(t, err, want)
		require.Nil(t, h)
		_, err = c.InProgress(t.Context(), "dig")
		require.ErrorIs(t, err, want)
		if answer == nil {
			require.ErrorIs(t, c.Ingested(t.Context(), &Held{}), want)
			issued, err := c.Issue(t.Context(), InProgress{}, models.Task{}, 0)
			require.ErrorIs(t, err, want)
			require.False(t, issued)
		}
	}
}

func TestWorkInProgressIsReadPageByPageWithTheCountOfTheFirst(t *testing.T) {
	t.Parallel()
	of := func(subject string) []byte { return tuple.New(subject, "a,b").Append(nil) }
	pages := map[int64]inProgressPage{0: {of("one"), 5, 100}, 5: {of("two"), 9, 200}, 9: {of("three"), 0, 300}}
	last := pages[9].encode()
	c := Client{answering{nil, func(_ context.Context, procedure string, args tuple.Tuple) (tuple.Tuple, error) {
		require.Equal(t, procInProgress, procedure)
		require.Equal(t, "dig", args.Str(0))
		if args.Int64(1) == 9 {
			return last, nil
		}
		return pages[args.Int64(1)].encode(), nil
	}}}
	all, err := c.InProgress(t.Context(), "dig")
	require.NoError(t, err)
	parts := []string{"a", "b"}
	require.Equal(t, InProgress{[]Reserved{{"one", parts}, {"two", parts}, {"three", parts}}, 100}, all)
	last = tuple.New("x")
	all, err = c.InProgress(t.Context(), "dig")
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.Empty(t, all, "a part of it would let work be done twice")
}

// Each function of a loop fails in turn.
func TestALoopEndsWithTheErrorOfEachOfItsCalls(t *testing.T) {
	t.Parallel()
	full := errors.New("full")
	result := encodeHeld(space.Entry{Ref: 7, Tuple: task.EncodeResult(task.ResultTuple{Action: "dig"})})
	for name, c := range map[string]struct {
		fails  string
		answer tuple.Tuple // of Next; nil: it waits
		wake   bool
		calls  []string
	}{
		"next":              {fails: procNext, calls: []string{"work.next true"}},
		"ingest":            {fails: "ingest", answer: result, calls: []string{"work.next true", "ingest"}},
		"issue":             {fails: "issue", answer: tuple.New(replyCapacity), calls: []string{"work.next true", "issue"}},
		"issue on a wake":   {fails: "issue", wake: true, calls: []string{"work.next true", "issue"}},
		"issue at a tick":   {fails: "issue", calls: []string{"work.next true", "task.unstick", "issue"}},
		"revive at a tick":  {fails: "task.unstick", calls: []string{"work.next true", "task.unstick"}},
		"nothing":           {calls: []string{"work.next true", "task.unstick", "issue"}},
		"nothing to ingest": {answer: result, calls: []string{"work.next true", "ingest", "work.next false", "task.unstick", "issue"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex // guards calls
				var calls []string
				call := func(name, more string) error {
					mu.Lock()
					defer mu.Unlock()
					calls = append(calls, name+more)
					if name == c.fails {
						return full
					}
					return nil
				}
				answered := false
				repo := answering{nil, func(ctx context.Context, procedure string, args tuple.Tuple) (tuple.Tuple, error) {
					if procedure != procNext {
						return nil, call(procedure, "")
					}
					if err := call(procedure, fmt.Sprint(" ", args.Bool(1))); err != nil {
						return nil, err
					}
					if c.answer != nil && !answered {
						answered = true
						return c.answer, nil
					}
					<-ctx.Done()
					return nil, ctx.Err()
				}}
				wake := make(chan struct{}, 1)
				if c.wake {
					time.AfterFunc(time.Second, func() { wake <- struct{}{} })
				}
				l := Loop{
					Client: Client{repo}, Action: "dig", Look: time.Minute, Wake: wake, More: true,
					Ingest: func(context.Context, Client, *Held) (bool, error) { return false, call("ingest", "") },
					Issue:  func(context.Context, Client) (bool, error) { return false, call("issue", "") },
				}
				ctx, stop := context.WithTimeout(t.Context(), 90*time.Second)
				defer stop()
				err := l.Run(ctx)
				if c.fails == "" {
					require.NoError(t, err, "it ends with its context")
				} else {
					require.ErrorIs(t, err, full)
				}
				require.Equal(t, c.calls, calls)
			})
		})
	}
}

// inSpaces runs an engine with the protocols of work and tasks, and two sessions.
func inSpaces(t *testing.T, run func(one, two space.Repository)) {
	t.Parallel()
	p := Policy{Task: task.Policy{MaxAttempts: 1, Backoff: time.Second}, LeaseTTL: time.Hour, QueueTTL: time.Minute, Ingest: time.Minute}
	e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}, Procedures: space.Join(p.Procedures(), p.Task.Procedures())})
	require.NoError(t, err)
	one, err := e.Session(t.Context(), "manager-1", 0)
	require.NoError(t, err)
	two, err := e.Session(t.Context(), "worker-1", 0)
	require.NoError(t, err)
	for _, d := range slices.Concat(status.Spaces(), lease.Spaces(), task.Spaces()) {
		require.NoError(t, one.Create(t.Context(), d.Name, d.Options))
	}
	run(one, two)
}

// A session that could end another hold would lose a result, or the task of a worker.
func TestOnlyTheSessionThatHoldsAResultEndsItsHold(t *testing.T) {
	inSpaces(t, func(one, two space.Repository) {
		m, w := Client{one}, task.Client{Repo: two}
		issued, err := m.Issue(t.Context(), InProgress{}, models.Task{Action: "dig", Subject: "s", Parts: []string{"p"}, Timeout: 60}, 0)
		require.NoError(t, err)
		require.True(t, issued)
		i, err := w.Claim(t.Context(), "dig")
		require.NoError(t, err)
		for range 2 {
			require.NoError(t, w.Report(t.Context(), i, "p", false, 1))
		}
		h, err := m.NextResult(t.Context(), "dig")
		require.NoError(t, err)
		for ref := range int64(50) { // of nothing, leases, totals, the task that it holds, and both results
			require.ErrorIs(t, (Client{two}).Ingested(t.Context(), &Held{ref: ref}), fault.ErrStaleToken, ref)
			if ref != h.ref {
				require.ErrorIs(t, m.Ingested(t.Context(), &Held{ref: ref}), fault.ErrStaleToken, ref)
			}
		}
		require.Less(t, h.ref, int64(50))
		require.NoError(t, m.Ingested(t.Context(), h))
		require.ErrorIs(t, m.Ingested(t.Context(), h), fault.ErrStaleToken)
		require.NoError(t, w.Report(t.Context(), i, "p", true, 1))
	})
}

func TestAMalformedTaskIsNotIssuedAndTheErrorTellsWhy(t *testing.T) {
	inSpaces(t, func(one, _ space.Repository) {
		good, record := task.EncodeNew(task.Item{Task: models.Task{Action: "dig", Subject: "s", Timeout: 60}})
		call := func(wanted tuple.Tuple, record string) (tuple.Tuple, error) {
			return one.Call(t.Context(), space.OpID{}, procIssue, tuple.New(wanted, record, int64(0)))
		}
		for says, c := range map[string]struct {
			wanted tuple.Tuple
			record string
		}{"want a task": {tuple.New("x"), record}, "record of a task": {good, "\xff"}} {
			_, err := call(c.wanted, c.record)
			require.ErrorIs(t, err, fault.ErrInvalid)
			require.ErrorContains(t, err, says)
		}
		reply, err := call(good, record)
		require.NoError(t, err)
		require.Len(t, reply, 2)
		reply, err = call(good, record)
		require.NoError(t, err)
		require.Empty(t, reply, "there is no capacity")
	})
}

// Only the engine ends the TTL of a lease or a task, and the hold of a manager.
func TestASessionCannotCallTheExpiriesOfTheProtocol(t *testing.T) {
	inSpaces(t, func(one, two space.Repository) {
		m, w := Client{one}, task.Client{Repo: two}
		parts := func(p string) models.Task {
			return models.Task{Action: "dig", Subject: "s", Parts: []string{p}, Timeout: 60}
		}
		_, err := m.Issue(t.Context(), InProgress{}, parts("a"), 0)
		require.NoError(t, err)
		i, err := w.Claim(t.Context(), "dig")
		require.NoError(t, err)
		require.NoError(t, w.Report(t.Context(), i, "a", false, 1))
		h, err := m.NextResult(t.Context(), "dig")
		require.NoError(t, err)
		_, err = m.Issue(t.Context(), InProgress{}, parts("b"), 0)
		require.NoError(t, err)
		for _, procedure := range []string{procExpire, procDrop, procReturn} {
			for ref := range int64(20) {
				for _, args := range []tuple.Tuple{nil, tuple.New(ref, "ttl", one.Session())} {
					_, err := one.Call(t.Context(), space.OpID{}, procedure, args)
					require.ErrorIs(t, err, fault.ErrInvalid, procedure)
				}
			}
		}
		busy, err := m.InProgress(t.Context(), "dig")
		require.NoError(t, err)
		require.Len(t, busy.Reserved, 3, "two leases and a result")
		require.NoError(t, m.Ingested(t.Context(), h))
		waits, err := w.Claim(t.Context(), "dig")
		require.NoError(t, err)
		require.Equal(t, []string{"b"}, waits.Parts)
	})
}
