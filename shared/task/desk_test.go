package task_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/status"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

// desk is an engine with the protocol, and a client that may create, claim and
// release.
type desk struct {
	*testing.T
	repo   space.Repository
	client task.Client
}

const backoff = 30 * time.Second

func atDesk(t *testing.T, f func(d desk)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		policy := task.Policy{MaxAttempts: 1, Backoff: backoff}
		e, err := engine.Open(t.Context(), engine.Config{
			Journal:    &journal.Memory{},
			Procedures: space.Join(policy.Procedures(), task.DeskProcedures(), lease.Procedures(), status.Procedures(), space.Procedures{"lease-one": leaseOne}),
		})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		repo, err := e.Session(t.Context(), "desk", 0)
		require.NoError(t, err)
		for _, spaces := range [][]space.Definition{task.Spaces(), lease.Spaces(), status.Spaces()} {
			for _, s := range spaces {
				require.NoError(t, repo.Create(t.Context(), s.Name, s.Options))
			}
		}
		f(desk{t, repo, task.Client{Repo: repo}})
		stop()
		require.NoError(t, <-done)
	})
}

// leaseOne issues one task under a lease.
func leaseOne(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
	l, err := lease.Grant(tx, lease.Terms{Subject: "s", Parts: []string{"p"}, TTL: time.Hour})
	if err != nil {
		return nil, err
	}
	_, err = task.Create(tx, task.Spec{
		Task: models.Task{Action: "a", Subject: "s", Parts: []string{"p"}, Timeout: 60}, Lease: l.ID, Token: l.Token,
	})
	return nil, err
}

// fail claims and releases a task of action a until it is dead, and returns its id.
func (d desk) fail() string {
	for {
		i, err := d.client.Claim(d.Context(), "a")
		require.NoError(d, err)
		require.NoError(d, d.client.Release(d.Context(), i, "cannot"))
		if i.Attempts == 1 {
			return i.ID
		}
		// A second session may try what the first has given back.
		<-time.After(backoff)
		d.forgive()
	}
}

// forgive makes the waiting task forget who gave it back.
func (d desk) forgive() {
	t, err := d.repo.Space(task.Space).Get(d.Context(), task.Any())
	require.NoError(d, err)
	i, err := task.Decode(t)
	require.NoError(d, err)
	i.Claimants = nil
	t, err = task.Encode(i)
	require.NoError(d, err)
	require.NoError(d, d.repo.Space(task.Space).Put(d.Context(), t, 0))
}

func (d desk) waiting() []tuple.Tuple {
	all, err := d.repo.Space(task.Space).QueryAll(d.Context(), task.Any())
	require.NoError(d, err)
	return all
}

func TestATaskIsCreatedByHandWithoutALease(t *testing.T) {
	atDesk(t, func(d desk) {
		i, err := d.client.Create(d.Context(), models.Task{Action: "a", Data: json.RawMessage(`{"n":1}`), Timeout: 60, Attempts: 7}, 5)
		require.NoError(d, err)
		got, err := d.client.Claim(d.Context(), "a")
		require.NoError(d, err)
		require.Equal(d, i.ID, got.ID)
		require.Equal(d, int64(5), got.Priority)
		require.JSONEq(d, `{"n":1}`, string(got.Data))
		require.Zero(d, got.Attempts)
		require.Empty(d, got.Lease)

		for _, bad := range []models.Task{{Action: "no id", Timeout: 1}, {Action: "a"}, {Action: "a", Timeout: -1}} {
			_, err := d.client.Create(d.Context(), bad, 0)
			require.ErrorIs(d, err, fault.ErrInvalid)
		}
	})
}

func TestFault31ADeadLetterThatIsRequeuedIsLikeNew(t *testing.T) {
	atDesk(t, func(d desk) {
		_, err := d.client.Create(d.Context(), models.Task{Action: "a", Data: json.RawMessage(`{"n":1}`), Timeout: 60}, 5)
		require.NoError(d, err)
		id := d.fail()
		l, err := d.client.Letter(d.Context(), id)
		require.NoError(d, err)
		require.Equal(d, int64(2), l.Attempts)
		require.Contains(d, l.Reason, "cannot")
		require.Len(d, l.History, 2)

		put, err := d.client.Requeue(d.Context(), id, true)
		require.NoError(d, err)
		require.NotEqual(d, id, put.ID, "ids are never used again")
		got, err := d.client.Claim(d.Context(), "a")
		require.NoError(d, err, "he who gave it back may try again")
		require.Zero(d, got.Attempts)
		require.JSONEq(d, `{"n":1}`, string(got.Data))

		_, err = d.client.Requeue(d.Context(), id, true)
		require.ErrorIs(d, err, fault.ErrNotFound)
	})
}

func TestADeadLetterIsNotRequeuedBeforeItsFailureIsIngested(t *testing.T) {
	atDesk(t, func(d desk) {
		_, err := d.repo.Call(d.Context(), space.OpID{}, "lease-one", nil)
		require.NoError(d, err)
		id := d.fail()
		_, err = d.client.Requeue(d.Context(), id, false)
		require.ErrorIs(d, err, fault.ErrConflict)
		_, err = d.repo.Space(task.Result).Get(d.Context(), task.AnyResult("a"))
		require.NoError(d, err)
		put, err := d.client.Requeue(d.Context(), id, false)
		require.NoError(d, err)
		require.Nil(d, put)
		require.Empty(d, d.waiting())
		_, err = d.client.Letter(d.Context(), id)
		require.ErrorIs(d, err, fault.ErrNotFound)
	})
}

func TestALetterThatCannotBeReadIsSaidToBeCorrupt(t *testing.T) {
	atDesk(t, func(d desk) {
		require.NoError(d, d.repo.Space(task.Dead).Put(d.Context(), tuple.New("dead", "a", "t1", int64(2), "why", "{"), 0))
		l, err := d.client.Letter(d.Context(), "t1")
		require.ErrorIs(d, err, fault.ErrCorrupt)
		require.Equal(d, task.Letter{Task: models.Task{ID: "t1", Action: "a", Attempts: 2}, Reason: "why"}, l)
		_, err = d.client.Requeue(d.Context(), "t1", true)
		require.ErrorIs(d, err, fault.ErrCorrupt)
	})
}
