package task_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// makeMany creates tasks of action a, and returns their ids.
func (f fixture) makeMany(n int) (ids []string) {
	f.Helper()
	all := make([]task.New, n)
	for k := range all {
		all[k] = task.New{Task: models.Task{Action: "a", Timeout: 60}}
	}
	made, err := f.client.CreateAll(f.Context(), all...)
	require.NoError(f, err)
	for _, i := range made {
		ids = append(ids, i.ID)
	}
	return ids
}

func TestOfManyTasksThatAreAheadAThousandAreCounted(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.serve("a", 1)
		ids := append(f.makeMany(1000), f.makeMany(1)...)
		for n, want := range map[int]string{
			0: "it is the next one of its action", 1: "behind 1 task of its action", 999: "behind 999 tasks of its action",
			1000: "behind at least 1000 tasks of its action",
		} {
			shown, err := f.client.Show(f.Context(), ids[n])
			require.NoError(f, err)
			require.Equal(f, want, shown.Why.Text)
		}
	})
}

// A page that has examined its bound ends, and the next one goes on behind it.
func TestAListFindsATaskBehindAThousandThatItDoesNotSelect(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.makeMany(999)
		pages := func() (found []int) {
			var cursor task.Cursor
			for first := true; first || len(cursor) > 0; first = false {
				all, next, err := f.client.List(f.Context(), task.Filter{Group: "g"}, cursor, 9)
				require.NoError(f, err)
				cursor, found = next, append(found, len(all))
			}
			return found
		}
		last := f.make(models.TaskOptions{Group: "g"}, func(n *task.New) { n.Priority = -1 })
		require.Equal(f, []int{1}, pages(), "a thousand fit into a page")
		f.makeMany(1)
		require.Equal(f, []int{0, 1}, pages())
		require.NoError(f, f.client.Cancel(f.Context(), last.ID, ""))
	})
}

func TestASweepGoesOnBehindTheThousandTasksOfTheLastOne(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.makeMany(999)
		malformed := func(id string) {
			require.NoError(f, f.repo.Space(task.Space).Put(f.Context(), tuple.New("task", "a", id, "", int64(0), int64(-1), "{"), 0))
		}
		sweeps := func() (n int) {
			var cursor task.Cursor
			for first := true; first || len(cursor) > 0; first = false {
				var err error
				cursor, err = f.client.Sweep(f.Context(), cursor)
				require.NoError(f, err)
				n++
			}
			return n
		}
		require.Equal(f, 1, sweeps(), "all were seen")
		malformed("x")
		malformed("y")
		require.Equal(f, 2, sweeps())
		for _, id := range []string{"x", "y"} {
			f.is(id, task.StateDead, "")
		}
	})
}

// Any number of limits can be set, so that an answer may not carry all.
func TestLimitsThatDoNotFitIntoAnAnswerAreLeftOut(t *testing.T) {
	withFixture(t, func(f fixture) {
		const many = 6000
		require.NoError(f, f.try(func(tx space.Tx) error {
			for n := range many {
				name := fmt.Sprintf("%0200d", n)
				if _, err := tx.Put(task.Data, tuple.New("limit", name, int64(1), 0.0, int64(0)), space.PutOptions{}); err != nil {
					return err
				}
			}
			return nil
		}))
		all, err := f.client.Limits(f.Context())
		require.NoError(f, err)
		require.Less(f, len(all), many)
		require.Greater(f, len(all)*250, 1<<20-1<<14, "the answer is filled")
		for n, l := range all {
			require.Equal(f, task.Limit{Name: fmt.Sprintf("%0200d", n), Max: 1}, l.Limit)
		}
	})
}

// onlyFirst is a session whose calls of a procedure fail but for the first.
type onlyFirst struct {
	space.Repository
	procedure string
	calls     *int
}

func (o onlyFirst) Call(ctx context.Context, op space.OpID, procedure string, args tuple.Tuple) (tuple.Tuple, error) {
	if procedure == o.procedure {
		if *o.calls++; *o.calls > 1 {
			return nil, fault.ErrUnavailable
		}
	}
	return o.Repository.Call(ctx, op, procedure, args)
}

// A change of more tasks than one call changes is complete only if the last call succeeds. A limit is
// removed with the first.
func TestAChangeThatStopsHalfWayIsAnErrorUnlessTheLimitIsRemoved(t *testing.T) {
	for procedure, c := range map[string]struct {
		change func(f fixture, c task.Client) error
		want   error
	}{
		"task.pause":       {func(f fixture, c task.Client) error { return c.Pause(f.Context(), "a") }, fault.ErrUnavailable},
		"task.setlimit":    {func(f fixture, c task.Client) error { return c.SetLimit(f.Context(), task.Limit{Name: "db", Max: 2}) }, fault.ErrUnavailable},
		"task.removelimit": {func(f fixture, c task.Client) error { return c.RemoveLimit(f.Context(), "db") }, nil},
	} {
		t.Run(procedure, func(t *testing.T) {
			withFixture(t, func(f fixture) {
				f.limit("db", 1)
				for range 3 {
					f.make(models.TaskOptions{Limits: []string{"db"}})
				}
				require.NotEmpty(f, f.claims().ID)
				require.Empty(f, f.claims().ID)
				f.make(models.TaskOptions{})
				calls := 0
				require.ErrorIs(f, c.change(f, task.Client{Repo: onlyFirst{f.repo, procedure, &calls}}), c.want)
				require.Equal(f, 2, calls)
			})
		})
	}
}

// The data of a malformed task are all that its owner may have of it.
func TestTheDeadLetterOfAMalformedTaskHasAsMuchOfItsDataAsFits(t *testing.T) {
	withFixture(t, func(f fixture) {
		const most = tuple.MaxBytes / 2
		i := f.make(models.TaskOptions{}, func(n *task.New) { n.Data = json.RawMessage(`{"n":1}`) })
		f.damage(i.ID)
		controls := strings.Repeat("\x01", most) // each has six bytes in JSON
		for id, body := range map[string]string{"valid": `"` + strings.Repeat("x", most) + `"`, "not JSON": controls} {
			require.NoError(f, f.repo.Space(task.Space).Put(f.Context(), tuple.New("task", "a", id, "", int64(0), int64(0), body), 0))
		}
		require.Empty(f, f.claims().ID)
		data := func(id string) json.RawMessage {
			l, err := f.client.DeadLetter(f.Context(), id)
			require.NoError(f, err)
			return l.Data
		}
		require.JSONEq(f, `{"n":1}`, string(data(i.ID)))
		require.Empty(f, data("valid"), "a part of it is not JSON")
		require.Len(f, data("not JSON"), most)
	})
}

func TestAListGivesNoReasonForADeadOrMalformedTask(t *testing.T) {
	withFixture(t, func(f fixture) {
		malformed := f.make(models.TaskOptions{})
		f.damage(malformed.ID)
		f.make(models.TaskOptions{MaxAttempts: 1}, func(n *task.New) { n.Action = "b" })
		i, err := f.client.Claim(f.Context(), "b")
		require.NoError(f, err)
		require.NoError(f, f.client.Release(f.Context(), i, "cannot"))
		for state, id := range map[task.State]string{"": malformed.ID, task.StateDead: i.ID} {
			all, _, err := f.client.List(f.Context(), task.Filter{State: state}, nil, 9)
			require.NoError(f, err)
			require.Len(f, all, 1)
			require.Equal(f, id, all[0].ID)
			require.Empty(f, all[0].Why)
		}
	})
}

func TestGroupsTakeTurnsFromTheFirstTaskOn(t *testing.T) {
	withFixture(t, func(f fixture) {
		var got, want []string
		for _, group := range []string{"one", "one", "one", "two", "two", ""} {
			f.make(models.TaskOptions{Group: group})
		}
		want = []string{"one", "two", "", "one", "two", "one"}
		for range want {
			i := f.claims()
			got = append(got, i.Group)
			f.resolve(i, nil)
		}
		require.Equal(f, want, got)
	})
}

func TestADeadLetterTellsWhenItDiedAndNotWhyItWasHidden(t *testing.T) {
	withFixture(t, func(f fixture) {
		expires := time.Now().Add(time.Minute).UTC()
		parent := f.make(models.TaskOptions{}, func(n *task.New) { n.Action = "b" })
		for _, o := range []models.TaskOptions{{}, {NotBefore: expires.Add(-time.Second)}, {After: []string{parent.ID}}} {
			o.ExpiresAt = expires
			i := f.make(o)
			<-time.After(time.Until(expires))
			l, err := f.client.DeadLetter(f.Context(), i.ID)
			require.NoError(f, err)
			require.Equal(f, expires, l.DiedAt)
			require.Empty(f, l.Hidden)
			require.Empty(f, l.HiddenBy)
			expires = expires.Add(time.Minute)
		}
	})
}
