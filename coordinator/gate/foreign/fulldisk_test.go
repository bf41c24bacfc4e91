package foreign_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/foreign"
	"leasehold/coordinator/gate/foreign/foreigntest"
	"leasehold/models"
	"leasehold/shared/protocol/interop"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// bridged matches a string or an int64, so that a procedure finds the tuple.
var bridged = interop.Pattern{{Any: tuple.Template{tuple.AnyString, tuple.AnyInt64}}}

// refusing is a journal in memory that refuses every commit while spent is set.
type refusing struct {
	journal.Memory
	spent atomic.Bool
	tries atomic.Int64 // that were refused
}

func newRefusing() *refusing {
	j := &refusing{}
	j.Before = func(context.Context, []journal.Record) error {
		if j.spent.Load() {
			j.tries.Add(1)
			return journal.ErrFull
		}
		return nil
	}
	return j
}

// take puts a tuple into the space s, and takes it.
func take(f *foreigntest.Fixture, p interop.Pattern) foreign.Answer {
	f.Put("s", tuple.New("x"))
	return retake(f, p)
}

// retake takes the tuple of the space s.
func retake(f *foreigntest.Fixture, p interop.Pattern) foreign.Answer {
	f.Helper()
	a, err := f.Hub.Do(f.Context(), foreign.Operation{Verb: space.VerbGetP, Space: "s", Pattern: p})
	require.NoError(f, err)
	require.True(f, a.Took())
	return a
}

// count returns how many tuples of the space s are visible.
func count(f *foreigntest.Fixture) int {
	n, err := f.Repo.Space("s").Count(f.Context(), tuple.Match("x"))
	require.NoError(f, err)
	return n
}

// Otherwise the end of the hub's session would bring back what clients have received.
func TestFault12WhatAFullDiskRefusesToConfirmIsConfirmedOnceItHasSpace(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]interop.Pattern{"a get": anyString, "a pattern": bridged} {
		for end, outage := range map[string]time.Duration{"later": time.Hour, "when the hub ends": 0} {
			t.Run(name+" "+end, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					j := newRefusing()
					f := foreigntest.NewOn(t, 0, j)
					f.Create("s")
					a := take(f, p)
					j.spent.Store(true)
					f.Hub.Delivered(a)
					time.Sleep(outage + confirmTime)
					require.Equal(t, 1, f.Engine.Stats().Held)
					require.Positive(t, j.tries.Load())
					require.Less(t, j.tries.Load(), int64(10+2*outage/time.Second), "with pauses")
					j.spent.Store(false)
					if outage > 0 {
						time.Sleep(time.Minute)
						require.Zero(t, f.Engine.Stats().Held)
					}
					f.StopHub()
					require.Zero(t, f.Engine.Stats().Held)
					require.Zero(t, count(f), "it was delivered")
				})
			})
		}
	}
}

// confirmTime is longer than Run takes to begin a confirmation.
const confirmTime = 5 * time.Millisecond

func TestFault12WhatAFullDiskRefusesToReturnComesBackOnceItHasSpace(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]interop.Pattern{"a get": anyString, "a pattern": bridged} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				j := newRefusing()
				f := foreigntest.NewOn(t, 0, j)
				f.Create("s")
				a := take(f, p)
				j.spent.Store(true)
				f.Hub.Undelivered(a)
				time.Sleep(time.Hour)
				require.Equal(t, 1, f.Engine.Stats().Held)
				j.spent.Store(false)
				time.Sleep(time.Minute)
				require.Zero(t, f.Engine.Stats().Held)
				require.Equal(t, 1, count(f))
			})
		})
	}
}

func TestFault12AClaimThatAFullDiskRefusesToHandBackIsHandedBackOnceItHasSpace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := newRefusing()
		f := foreigntest.NewOn(t, 0, j)
		_, err := task.Client{Repo: f.Repo}.Create(t.Context(), models.Task{Action: "a", Timeout: 36_000}, 0)
		require.NoError(t, err)
		claim := foreign.Operation{Verb: space.VerbGetP, Space: task.Space, Pattern: interop.Exactly(task.AnyOf("a"))}
		a, err := f.Hub.Do(t.Context(), claim)
		require.NoError(t, err)
		require.True(t, a.Took())
		j.spent.Store(true)
		f.Hub.Undelivered(a)
		time.Sleep(time.Minute)
		j.spent.Store(false)
		time.Sleep(time.Minute)
		sessions := f.Engine.Stats().Sessions
		a, err = f.Hub.Do(t.Context(), claim)
		require.NoError(t, err)
		require.True(t, a.Took(), "another worker gets it")
		require.Equal(t, sessions, f.Engine.Stats().Sessions, "with the session that is free again")
	})
}

// The journal fails after the tuple is back, so that the hub repeats its return. Meanwhile another client, for which the
// same session takes, has the tuple.
func TestAReturnOfUnknownOutcomeDoesNotTakeTheTupleFromTheNextClient(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]interop.Pattern{"a get": anyString, "a pattern": bridged} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				j := newRefusing()
				var failed atomic.Bool
				failed.Store(true)
				j.After = func(context.Context, []journal.Record) error {
					if failed.Swap(true) {
						return nil
					}
					return errors.New("broken pipe")
				}
				f := foreigntest.NewOn(t, 0, j)
				f.Create("s")
				a := take(f, p)
				failed.Store(false)
				f.Hub.Undelivered(a)
				require.True(t, failed.Load())
				b := retake(f, p)
				time.Sleep(time.Minute)
				require.Equal(t, 1, f.Engine.Stats().Held)
				f.Hub.Delivered(b)
				time.Sleep(time.Minute)
				require.Zero(t, f.Engine.Stats().Held)
				require.Zero(t, count(f))
			})
		})
	}
}

// A search that fails after its first page gives back what it has taken, also if the disk is full at that moment.
func TestFault12ASearchThatAFullDiskEndsGivesBackItsFirstPage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := newRefusing()
		f := foreigntest.NewOn(t, 0, j)
		require.NoError(t, f.Hub.Create(t.Context(), "s")) // opens the hub's session
		large := string(make([]byte, 300_000))
		for range 12 {
			f.Put("s", tuple.New(large))
		}
		var commits atomic.Int64
		before := j.Before
		j.Before = func(ctx context.Context, records []journal.Record) error {
			if commits.Add(1) == 2 {
				j.spent.Store(true)
			}
			return before(ctx, records)
		}
		_, err := f.Hub.Do(t.Context(), foreign.Operation{Verb: space.VerbGetAll, Space: "s", Pattern: bridged})
		require.ErrorIs(t, err, journal.ErrFull)
		require.Positive(t, f.Engine.Stats().Held)
		j.spent.Store(false)
		time.Sleep(time.Minute)
		require.Zero(t, f.Engine.Stats().Held)
		n, err := f.Repo.Space("s").Count(t.Context(), tuple.Match(tuple.AnyString))
		require.NoError(t, err)
		require.Equal(t, 12, n)
	})
}
