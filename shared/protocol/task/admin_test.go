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
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/tuple"
)

// fixture is an engine with the protocol, and a client that may create, claim and
// release.
type fixture struct {
	*testing.T
	engine *engine.Engine
	repo   space.Repository
	client task.Client
	do     *func(space.Tx) error // what the procedure "do" does
}

const backoff = 30 * time.Second

func withFixture(t *testing.T, run func(fixture)) { withFullSpace(t, "", run) }

// withFullSpace is withFixture with one space that has capacity for one tuple, and has one.
func withFullSpace(t *testing.T, full string, run func(fixture)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inBubble(t, full, nil, func(f fixture, _ func(string) space.Repository) { run(f) })
	})
}

// inBubble runs an engine in a bubble of package synctest. now is its monotonic clock, nil for the bubble's; session
// opens a further session.
func inBubble(t *testing.T, full string, now func() time.Time, run func(f fixture, session func(string) space.Repository)) {
	policy := task.Policy{MaxAttempts: 1, Backoff: backoff}
	var do func(space.Tx) error
	e, err := engine.Open(t.Context(), engine.Config{
		Journal: &journal.Memory{},
		Takes:   task.Takes(),
		Readers: task.Readers(),
		Now:     now,
		Procedures: spacetest.FailWrites(space.Join(policy.Procedures(), policy.AdminProcedures(), lease.Procedures(), status.Procedures(),
			space.Procedures{"lease-one": leaseOne, "forgive": task.Forgive, "withdraw": task.WithdrawTask(policy), "add-children": task.AddChildren(),
				"do": func(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) { return nil, do(tx) }}), t.Errorf),
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	defer func() {
		stop()
		require.NoError(t, <-done)
	}()
	repo, err := e.Session(t.Context(), "admin", 0)
	require.NoError(t, err)
	for _, spaces := range [][]space.Definition{task.Spaces(), lease.Spaces(), status.Spaces()} {
		for _, s := range spaces {
			if s.Name == full {
				s.Options.Capacity, s.Options.Overflow = 1, space.Block
			}
			require.NoError(t, repo.Create(t.Context(), s.Name, s.Options))
		}
	}
	if full != "" {
		require.NoError(t, repo.Space(full).Put(t.Context(), tuple.New("full"), 0))
	}
	run(fixture{t, e, repo, task.Client{Repo: repo}, &do}, func(name string) space.Repository {
		repo, err := e.Session(t.Context(), name, 0)
		require.NoError(t, err)
		return repo
	})
}

// try runs a function in a transaction. Each of its writes fails once before.
func (f fixture) try(do func(space.Tx) error) error {
	*f.do = do
	_, err := f.repo.Call(f.Context(), space.OpID{}, "do", nil)
	return err
}

// workerOn opens the session of a worker on a machine, which serves the action a.
func (f fixture) workerOn(host, id, name string) task.Client {
	f.Helper()
	c, err := f.engine.OpenGateSession(f.Context(), engine.Opening{ID: id, Fleet: true, Process: space.Process{Host: host, Name: name}})
	require.NoError(f, err)
	require.NoError(f, f.repo.Space(status.Space).Put(f.Context(), tuple.New("serves", id, "a", int64(1)), 0))
	return task.Client{Repo: space.Over(c)}
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
func (f fixture) fail() string {
	for {
		i, err := f.client.Claim(f.Context(), "a")
		require.NoError(f, err)
		require.NoError(f, f.client.Release(f.Context(), i, "cannot"))
		if i.Attempts == 1 {
			return i.ID
		}
		// A second session may try what the first has given back.
		<-time.After(backoff)
		f.forgive()
	}
}

// forgive lets the claimants of the waiting tasks claim them again.
func (f fixture) forgive() {
	_, err := f.repo.Call(f.Context(), space.OpID{}, "forgive", nil)
	require.NoError(f, err)
}

func (f fixture) waiting() []tuple.Tuple {
	all, err := f.repo.Space(task.Space).QueryAll(f.Context(), task.Any())
	require.NoError(f, err)
	return all
}

func TestATaskIsCreatedByHandWithoutALease(t *testing.T) {
	withFixture(t, func(f fixture) {
		i, err := f.client.Create(f.Context(), models.Task{Action: "a", Data: json.RawMessage(`{"n":1}`), Timeout: 60, Attempts: 7}, 5)
		require.NoError(f, err)
		got, err := f.client.Claim(f.Context(), "a")
		require.NoError(f, err)
		require.Equal(f, i.ID, got.ID)
		require.Equal(f, int64(5), got.Priority)
		require.JSONEq(f, `{"n":1}`, string(got.Data))
		require.Zero(f, got.Attempts)
		require.Empty(f, got.Lease)

		for _, bad := range []models.Task{{Action: "no id", Timeout: 1}, {Action: "a"}, {Action: "a", Timeout: -1}} {
			_, err := f.client.Create(f.Context(), bad, 0)
			require.ErrorIs(f, err, fault.ErrInvalid)
		}
	})
}

func TestFault31ADeadLetterThatIsRequeuedIsLikeNew(t *testing.T) {
	withFixture(t, func(f fixture) {
		_, err := f.client.Create(f.Context(), models.Task{Action: "a", Data: json.RawMessage(`{"n":1}`), Timeout: 60}, 5)
		require.NoError(f, err)
		id := f.fail()
		l, err := f.client.DeadLetter(f.Context(), id)
		require.NoError(f, err)
		require.Equal(f, int64(2), l.Attempts)
		require.Contains(f, l.Reason, "cannot")
		require.Len(f, l.History, 2)

		put, err := f.client.Requeue(f.Context(), id, true)
		require.NoError(f, err)
		require.Equal(f, id, put.ID, "it keeps its id")
		require.EqualValues(f, 5, put.Priority)
		require.Len(f, put.History, 2, "and its history")
		got, err := f.client.Claim(f.Context(), "a")
		require.NoError(f, err, "a worker that gave it back may try again")
		require.Zero(f, got.Attempts)
		require.JSONEq(f, `{"n":1}`, string(got.Data))

		_, err = f.client.Requeue(f.Context(), id, true)
		require.ErrorIs(f, err, fault.ErrNotFound)
	})
}

func TestADeadLetterIsNotRequeuedBeforeItsFailureIsIngested(t *testing.T) {
	withFixture(t, func(f fixture) {
		_, err := f.repo.Call(f.Context(), space.OpID{}, "lease-one", nil)
		require.NoError(f, err)
		id := f.fail()
		_, err = f.client.Requeue(f.Context(), id, false)
		require.ErrorIs(f, err, fault.ErrConflict)
		_, err = f.repo.Space(task.Result).Get(f.Context(), task.AnyResult("a"))
		require.NoError(f, err)
		put, err := f.client.Requeue(f.Context(), id, false)
		require.NoError(f, err)
		require.Nil(f, put)
		require.Empty(f, f.waiting())
		_, err = f.client.DeadLetter(f.Context(), id)
		require.ErrorIs(f, err, fault.ErrNotFound)
	})
}

func TestAMalformedDeadLetterIsReportedAsCorrupt(t *testing.T) {
	withFixture(t, func(f fixture) {
		require.NoError(f, f.repo.Space(task.Dead).Put(f.Context(), tuple.New("dead", "a", "t1", int64(2), "why", "{"), 0))
		l, err := f.client.DeadLetter(f.Context(), "t1")
		require.ErrorIs(f, err, fault.ErrCorrupt)
		require.Equal(f, task.DeadLetter{Item: task.Item{Task: models.Task{ID: "t1", Action: "a", Attempts: 2}}, Reason: "why"}, l)
		_, err = f.client.Requeue(f.Context(), "t1", true)
		require.ErrorIs(f, err, fault.ErrCorrupt)
	})
}

// A dead letter without its record can only be discarded.
func TestAMalformedDeadLetterCanBeDiscarded(t *testing.T) {
	withFixture(t, func(f fixture) {
		require.NoError(f, f.repo.Space(task.Dead).Put(f.Context(), tuple.New("dead", "a", "t1", int64(2), "why", "{"), 0))
		require.NoError(f, f.client.Discard(f.Context(), "t1"))
		end := f.end("t1")
		require.Equal(f, "discarded: why", end.End.Note)
		require.Equal(f, task.StateDead, end.StateNow())
		require.ErrorIs(f, f.client.Discard(f.Context(), "t1"), fault.ErrNotFound)
	})
}

func TestADeadLetterOfATaskWithoutATimeoutGetsTheDefaultOne(t *testing.T) {
	withFixture(t, func(f fixture) {
		require.NoError(f, f.repo.Space(task.Space).Put(f.Context(), tuple.New("task", "a", "t1", "", int64(2), int64(3), "{"), 0))
		require.Empty(f, f.claims().ID)
		put, err := f.client.Requeue(f.Context(), "t1", true)
		require.NoError(f, err)
		require.Equal(f, task.DefaultTimeout, put.Timeout)
		require.EqualValues(f, 3, put.Priority)
		require.Equal(f, "t1", f.claims().ID)
		f.make(models.TaskOptions{MaxAttempts: 1})
		i := f.claims()
		require.NoError(f, f.client.Release(f.Context(), i, "cannot"))
		put, err = f.client.Requeue(f.Context(), i.ID, true)
		require.NoError(f, err)
		require.EqualValues(f, 60, put.Timeout)
	})
}

// Only the failure of the dead task itself delays the requeue.
func TestAResultOfAnotherTaskDoesNotDelayARequeue(t *testing.T) {
	withFixture(t, func(f fixture) {
		i := f.make(models.TaskOptions{MaxAttempts: 1})
		require.NoError(f, f.client.Release(f.Context(), f.claims(), "cannot"))
		for _, body := range []string{"", "{", "{}", `{"problem":"x"}`, `{"task":{"id":"t999"}}`, `{"task":{"id":"` + i.ID + `"}}`} {
			r := task.ResultTuple{Action: "a", Final: true, Body: body}
			require.NoError(f, f.repo.Space(task.Result).Put(f.Context(), task.EncodeResult(r), 0))
			_, err := f.client.Requeue(f.Context(), i.ID, true)
			if body == `{"task":{"id":"`+i.ID+`"}}` {
				require.ErrorIs(f, err, fault.ErrConflict)
				continue
			}
			require.NoError(f, err, body)
			require.NoError(f, f.client.Release(f.Context(), f.claims(), "cannot"))
		}
	})
}

func TestATaskThatAProtocolCreatesIsLikeThatOfAClient(t *testing.T) {
	withFixture(t, func(f fixture) {
		var made []task.Item
		var id string
		var alive bool
		require.NoError(f, f.try(func(tx space.Tx) (err error) {
			made, err = task.CreateIn(tx, task.New{Task: models.Task{Action: "a", TaskOptions: models.TaskOptions{UniqueKey: "k"}}}, task.New{Task: models.Task{Action: "b", Timeout: 7}})
			return err
		}))
		require.Len(f, made, 2)
		require.Equal(f, []models.Seconds{task.DefaultTimeout, 7}, []models.Seconds{made[0].Timeout, made[1].Timeout})
		find := func(key string) (string, bool) {
			require.NoError(f, f.try(func(tx space.Tx) error { id, alive = task.WithKey(tx, key); return nil }))
			return id, alive
		}
		id, alive = find("k")
		require.Equal(f, []any{made[0].ID, true}, []any{id, alive})
		_, alive = find("l")
		require.False(f, alive)
		f.resolve(f.claims(), nil)
		_, alive = find("k")
		require.False(f, alive)
		for says, bad := range map[string]models.Task{"JSON": {Action: "a", Data: json.RawMessage("{")}, "action": {Action: "no id"}} {
			err := f.try(func(tx space.Tx) error { _, err := task.CreateIn(tx, task.New{Task: bad}); return err })
			require.ErrorIs(f, err, fault.ErrInvalid)
			require.ErrorContains(f, err, says)
		}
		_, err := f.client.CreateAll(f.Context(), task.New{Task: models.Task{Action: "a", Timeout: 1}}, task.New{Task: models.Task{Action: "no id", Timeout: 1}})
		require.ErrorContains(f, err, "task 2 of 2: ")
		_, err = f.client.CreateAll(f.Context(), task.New{Task: models.Task{Action: "no id", Timeout: 1}})
		require.NotContains(f, err.Error(), "task 1 of")
	})
}

// The space of alerts may be one of a foreign client that has capacity for fewer.
func TestEachDeadLetterLeavesAnAlertInEachChannelThatHasCapacity(t *testing.T) {
	withFixture(t, func(f fixture) {
		policy := task.Policy{MaxAttempts: 1, Backoff: backoff, Alerts: []string{"mail", "chat"}}
		put := func(id string) {
			require.NoError(f, f.repo.Space(task.Space).Put(f.Context(), tuple.New("task", "a", id, "", int64(0), int64(0), "{"), 0))
			require.NoError(f, f.try(func(tx space.Tx) error {
				_, err := policy.Procedures()["task.unstick"](tx, tuple.New("a"))
				return err
			}))
		}
		put("t1")
		first := time.Now().UnixMilli()
		<-time.After(time.Second)
		put("t2")
		for _, channel := range policy.Alerts {
			oldest, err := f.client.NextAlert(f.Context(), channel)
			require.NoError(f, err)
			require.Equal(f, task.Alert{Channel: channel, Task: "t1", DiedAt: first}, oldest)
			require.NoError(f, f.client.PostponeAlert(f.Context(), oldest))
			next, err := f.client.NextAlert(f.Context(), channel)
			require.NoError(f, err)
			require.Equal(f, "t2", next.Task)
			require.NoError(f, f.client.RemoveAlert(f.Context(), next))
			require.NoError(f, f.client.RemoveAlert(f.Context(), next), "it is gone already")
			n, err := f.client.RemoveAlerts(f.Context(), channel)
			require.NoError(f, err)
			require.Equal(f, 1, n)
			n, err = f.client.RemoveAlerts(f.Context(), channel)
			require.NoError(f, err)
			require.Zero(f, n)
		}
		ended, end := context.WithCancel(f.Context())
		end()
		for name, call := range map[string]func() error{
			"next":       func() error { _, err := f.client.NextAlert(ended, "mail"); return err },
			"remove":     func() error { return f.client.RemoveAlert(ended, task.Alert{}) },
			"postpone":   func() error { return f.client.PostponeAlert(ended, task.Alert{}) },
			"remove all": func() error { _, err := f.client.RemoveAlerts(ended, "mail"); return err },
			"paused":     func() error { _, err := f.client.PausedActions(ended); return err },
		} {
			require.ErrorIs(f, call(), context.Canceled, name)
		}
	})
}

func TestATaskDiesThoughTheSpaceOfAlertsIsFull(t *testing.T) {
	withFullSpace(t, task.Alerts, func(f fixture) {
		policy := task.Policy{MaxAttempts: 1, Backoff: backoff, Alerts: []string{"mail"}}
		require.NoError(f, f.repo.Space(task.Space).Put(f.Context(), tuple.New("task", "a", "t1", "", int64(0), int64(0), "{"), 0))
		require.NoError(f, f.try(func(tx space.Tx) error { _, err := policy.Procedures()["task.unstick"](tx, tuple.New("a")); return err }))
		f.is("t1", task.StateDead, "")
	})
}

func TestATaskWhoseDataIsNotJSONIsCorruptAndNamed(t *testing.T) {
	i, err := task.DecodeEntry(space.Entry{Tuple: tuple.New("task", "a", "t1", "", int64(2), int64(3), "{")})
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.ErrorContains(t, err, "t1")
	require.Equal(t, task.Item{Task: models.Task{ID: "t1", Action: "a"}, Token: 2, Priority: 3}, i)
}
