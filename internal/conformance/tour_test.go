package conformance

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/batch"
	"leasehold/shared/protocol/hold"
	"leasehold/shared/protocol/interop"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/schedule"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
	"leasehold/shared/space/transaction"
	"leasehold/shared/tuple"
)

// dig is the action of the tour's work.
const dig = "dig"

// tour is a run that leads through the seldom procedures and steps of the protocols, one after the other.
type tour struct {
	*archiveRun
	ctx             context.Context
	manager, worker space.Repository
	user            space.Repository
}

// toured returns the log of a tour.
func toured(t *testing.T) []byte {
	return logOf(t, 1, func(r *archiveRun, ctx context.Context) {
		for _, id := range []string{"f1", "f2", "f3", "f4"} {
			_, err := r.store.AddOrigin(ctx, models.Origin{ID: id, Kind: models.Feed, URI: "https://" + id + ".example/feed", AddedAt: time.Now()})
			require.NoError(r, err)
		}
		x := &tour{archiveRun: r, ctx: ctx}
		x.user, _ = x.join("client", nil)
		x.worker, _ = x.join("worker", map[string]int{dig: 2})
		x.visits()
		x.manager, _ = x.join("manager", nil)
		x.dropWork()
		x.expireLeases()
		x.losePlaces()
		x.shareResults()
		x.useTasks()
		x.stickTask()
		x.serve()
		x.useOtherSpaces()
		x.keepOverRestart()
	})
}

// join opens a session that lives until leave is called or the tour ends. After leave, the session is lost.
func (x *tour) join(mode string, slots map[string]int) (repo space.Repository, leave func()) {
	id := fmt.Sprintf("%s-%08x", mode, x.below(1<<30))
	conn, err := x.coord.Engine().Connect(x.ctx, id, lost)
	require.NoError(x, err)
	repo = space.Over(conn)
	beating, leave := context.WithCancel(x.ctx)
	x.running.Go(func() { _ = status.NewHeartbeat(repo, heartbeat, slots).Run(beating) })
	x.pass(heartbeat)
	return repo, leave
}

// pass lets time pass, and what the coordinator does at its end too, so that a sweep does not come before the next call.
func (x *tour) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// visits ends a visit, loses the manager of one, lets one take too long, and closes the session of one.
func (x *tour) visits() {
	m, _ := x.join("manager", map[string]int{"visit": 4})
	v := x.takeVisit(m)
	require.NoError(x, visit.Client{Repo: m}.End(x.ctx, models.Outcome{Visit: v.ID, Origin: v.Origin.ID, Status: models.Uneventful, At: time.Now()}))
	other, leave := x.join("manager", map[string]int{"visit": 1})
	x.takeVisit(other)
	leave()
	x.pass(2 * lost)
	closing, _ := x.join("manager", map[string]int{"visit": 1})
	x.takeVisit(closing)
	require.NoError(x, closing.Close(x.ctx))
	x.takeVisit(m)
	x.pass(2 * time.Hour) // it takes too long
	require.NoError(x, m.Close(x.ctx))
}

func (x *tour) takeVisit(m space.Repository) models.Visit {
	ctx, cancel := context.WithTimeout(x.ctx, 48*time.Hour)
	defer cancel()
	v, err := visit.Client{Repo: m}.Take(ctx)
	require.NoError(x, err)
	return v
}

// issue issues work with a subject of its own.
func (x *tour) issue(subject string, timeout time.Duration) {
	c := work.Client{Repo: x.manager}
	seen, err := c.InProgress(x.ctx, dig)
	require.NoError(x, err)
	issued, err := c.Issue(x.ctx, seen, models.Task{Action: dig, Subject: subject, Parts: []string{"north"}, Timeout: models.SecondsOf(timeout)}, 0)
	require.NoError(x, err)
	require.True(x, issued, subject)
}

func (x *tour) claim(from space.Repository) task.Item {
	i, err := task.Client{Repo: from}.Claim(x.ctx, dig)
	require.NoError(x, err)
	return i
}

// ingest ingests the next result.
func (x *tour) ingest() {
	c := work.Client{Repo: x.manager}
	h, err := c.NextResult(x.ctx, dig)
	require.NoError(x, err)
	require.NoError(x, c.Ingested(x.ctx, h))
}

// dropWork issues work that no worker claims.
func (x *tour) dropWork() {
	x.issue("dropped", time.Minute)
	x.pass(31 * time.Minute)
}

// expireLeases lets leases end while their tasks are held, hidden and done.
func (x *tour) expireLeases() {
	tasks := task.Client{Repo: x.worker}
	x.issue("held", 3*time.Hour)
	i := x.claim(x.worker)
	require.NoError(x, status.Spend(x.ctx, x.worker, models.Cost{Action: dig, How: models.ResearchDecoded, Tasks: 1, Wall: 1, CPU: 1}))
	x.pass(2 * time.Hour)
	require.NoError(x, tasks.Report(x.ctx, i, "north", true, 1))
	x.ingest()
	x.issue("done", time.Minute)
	require.NoError(x, tasks.Report(x.ctx, x.claim(x.worker), "north", true, 1))
	x.pass(2 * time.Hour)
	x.ingest()
	x.issue("hidden", time.Minute)
	require.NoError(x, task.Client{Repo: x.user}.Pause(x.ctx, dig))
	x.pass(2 * time.Hour)
	require.NoError(x, task.Client{Repo: x.user}.Resume(x.ctx, dig))
	_, err := x.manager.Call(x.ctx, someOp, "lease.grant", tuple.New("alone", "", time.Minute.Milliseconds()))
	require.NoError(x, err)
	x.pass(2 * time.Minute)
	reply, err := x.manager.Call(x.ctx, someOp, "lease.grant", tuple.New("alone", "", time.Hour.Milliseconds()))
	require.NoError(x, err)
	given := lease.Decode(reply)
	_, err = x.manager.Call(x.ctx, someOp, "lease.revoke", tuple.New(given.ID, given.Token))
	require.NoError(x, err)
}

// losePlaces loses a manager that holds a result, cancels a task under a lease, and lets a task time out until it is
// dead.
func (x *tour) losePlaces() {
	tasks, users := task.Client{Repo: x.worker}, task.Client{Repo: x.user}
	x.issue("returned", time.Minute)
	require.NoError(x, tasks.Report(x.ctx, x.claim(x.worker), "north", true, 1))
	other, leave := x.join("manager", nil)
	_, err := work.Client{Repo: other}.NextResult(x.ctx, dig)
	require.NoError(x, err)
	leave()
	x.pass(2 * time.Minute)
	x.ingest()
	x.issue("released", time.Minute)
	require.NoError(x, tasks.Release(x.ctx, x.claim(x.worker), "no"))
	require.NoError(x, users.Pause(x.ctx, dig))
	x.pass(5 * time.Minute) // its back-off ends, and it waits on
	require.NoError(x, users.Resume(x.ctx, dig))
	require.NoError(x, tasks.Report(x.ctx, x.claim(x.worker), "north", true, 1))
	x.ingest()
	for _, claimed := range []bool{false, true} {
		x.issue(fmt.Sprint("cancelled-", claimed), time.Minute)
		if claimed {
			x.claim(x.worker)
		}
		all, _, err := users.List(x.ctx, task.Filter{Action: dig}, nil, 10)
		require.NoError(x, err)
		for _, l := range all {
			_ = users.Cancel(x.ctx, l.ID, "by hand")
		}
		x.pass(2 * time.Hour)
	}
	x.issue("late", time.Minute)
	for n := range x.max + 1 {
		i := x.claim(x.worker)
		x.pass(5 * time.Minute)
		_ = tasks.Report(x.ctx, i, "north", n > 0, 1) // too late
	}
	for n, _ := x.manager.Space(task.Result).Count(x.ctx, task.AnyResult(dig)); n > 0; n-- {
		x.ingest()
	}
	x.pass(2 * time.Hour)
}

// shareResults gives results of work to programs: by a get, by holds, and through a gate for other programs.
func (x *tour) shareResults() {
	results, holds := x.user.Space(task.Result), hold.Client{Repo: x.user}
	for n := range 6 {
		x.issue(fmt.Sprint("shared-", n), time.Minute)
		require.NoError(x, task.Client{Repo: x.worker}.Report(x.ctx, x.claim(x.worker), "north", true, 1))
		switch n {
		case 0:
			_, err := results.Get(x.ctx, task.AnyResult(dig))
			require.NoError(x, err)
		case 1, 2:
			taken, ok, err := holds.Take(x.ctx, task.Result, task.AnyResult(dig), 10*time.Second, false)
			require.True(x, ok && err == nil, "%v", err)
			if n == 1 {
				require.NoError(x, holds.Ack(x.ctx, task.Result, taken.ID))
			} else {
				require.NoError(x, holds.Back(x.ctx, task.Result, taken.ID))
				x.ingest()
			}
		case 3:
			found := x.find(x.user)
			require.NoError(x, interop.Client{Repo: x.user}.Done(x.ctx, found))
		case 4:
			found := x.find(x.user)
			require.NoError(x, interop.Client{Repo: x.user}.Back(x.ctx, found))
			x.ingest()
		case 5:
			gone, leave := x.join("client", nil)
			x.find(gone)
			leave()
			x.ingest()
		}
	}
	x.issue("foreign", time.Minute)
	_, ok, err := interop.Client{Repo: x.worker}.Claim(x.ctx, dig, false)
	require.True(x, ok && err == nil, "%v", err)
	x.pass(2 * time.Hour)
}

// find takes a result as a gate does for a program with its own protocol.
func (x *tour) find(from space.Repository) interop.Found {
	found, ok, err := interop.Client{Repo: from}.Find(x.ctx, task.Result, interop.Exactly(task.AnyResult(dig)), interop.Options{Take: true})
	require.NoError(x, err)
	require.True(x, ok)
	return found
}

// useTasks limits, requeues, discards, sweeps and schedules tasks of a user.
func (x *tour) useTasks() {
	const count = "count"
	tasks, users := task.Client{Repo: x.worker}, task.Client{Repo: x.user}
	require.NoError(x, users.SetLimit(x.ctx, task.Limit{Name: "api", Max: 1, Rate: 0.1}))
	limited := task.New{Task: models.Task{Action: count, Timeout: 60}}
	limited.Limits = []string{"api"}
	_, err := users.CreateAll(x.ctx, limited, limited, limited)
	require.NoError(x, err)
	for range 3 {
		i, err := tasks.Claim(x.ctx, count)
		require.NoError(x, err)
		require.NoError(x, tasks.Fail(x.ctx, i, task.Failure{Reason: "exit 65", GiveUp: true}))
		x.pass(2 * time.Second)
		_, err = users.Requeue(x.ctx, i.ID, true)
		require.NoError(x, err)
		i, err = tasks.Claim(x.ctx, count)
		require.NoError(x, err)
		require.NoError(x, tasks.Fail(x.ctx, i, task.Failure{Reason: "exit 65", GiveUp: true}))
		require.NoError(x, users.Discard(x.ctx, i.ID))
		x.pass(time.Minute)
	}
	x.changeSelections(users, tasks, count)
	_, err = users.CreateAll(x.ctx, task.New{Task: models.Task{Action: count, Timeout: 60}})
	require.NoError(x, err)
	i, err := tasks.Claim(x.ctx, count)
	require.NoError(x, err)
	_, err = tasks.PassOn(x.ctx, i, "no file") // no other worker serves it
	require.NoError(x, err)
	require.NoError(x, users.ReviveStuck(x.ctx, count))
	require.NoError(x, users.RemoveLimit(x.ctx, "api"))
	_, err = users.Sweep(x.ctx, nil)
	require.NoError(x, err)
	schedules := schedule.Client{Repo: x.user}
	_, _, err = schedules.Set(x.ctx, "a", models.Schedule{Every: 20, Overlap: models.OverlapAllow, Task: models.ScheduledTask{Action: count}})
	require.NoError(x, err)
	x.pass(time.Minute)
	require.NoError(x, schedules.Remove(x.ctx, "a"))
}

// stickTask has the last worker that could claim a task leave, and the task revived.
func (x *tour) stickTask() {
	const rare = "rare"
	willing, leave := x.join("worker", map[string]int{rare: 1})
	unwilling, _ := x.join("worker", map[string]int{rare: 1})
	users := task.Client{Repo: x.user}
	require.NoError(x, users.Pause(x.ctx, rare))
	created, err := users.CreateAll(x.ctx, task.New{Task: models.Task{Action: rare, Timeout: 60}})
	require.NoError(x, err)
	require.NoError(x, users.Resume(x.ctx, rare))
	tasks := task.Client{Repo: unwilling}
	i, err := tasks.Claim(x.ctx, rare)
	require.NoError(x, err)
	require.NoError(x, tasks.Release(x.ctx, i, "no file"))
	x.pass(time.Minute) // its back-off ends
	leave()
	require.NoError(x, willing.Close(x.ctx))
	require.NoError(x, users.ReviveStuck(x.ctx, rare))
	x.pass(time.Minute) // its back-off ends
	require.NoError(x, users.Cancel(x.ctx, created[0].ID, "by hand"))
	require.NoError(x, unwilling.Close(x.ctx))
}

// serve serves an action in one heartbeat, and the next one of the session does not: twice.
func (x *tour) serve() {
	for range 2 {
		_, err := x.user.Call(x.ctx, someOp, "status.beat", tuple.New("idle", time.Now().UTC().Format(time.RFC3339Nano), tuple.New("painting", int64(1))))
		require.NoError(x, err)
		x.pass(2 * heartbeat)
	}
}

// useOtherSpaces uses a space of a program: holds that end in all ways, and a transaction.
func (x *tour) useOtherSpaces() {
	const mine = "mine"
	require.NoError(x, x.user.Create(x.ctx, mine, space.Options{}))
	holds := hold.Client{Repo: x.user}
	for n := range int64(3) {
		require.NoError(x, x.user.Space(mine).Put(x.ctx, tuple.New(n), 0))
		taken, ok, err := holds.Take(x.ctx, mine, tuple.Match(n), 10*time.Second, false)
		require.True(x, ok && err == nil, "%v", err)
		switch n {
		case 0:
			require.NoError(x, holds.Ack(x.ctx, mine, taken.ID))
		case 1:
			require.NoError(x, holds.Back(x.ctx, mine, taken.ID))
		case 2:
			x.pass(time.Minute)
		}
	}
	foreign := interop.Client{Repo: x.user}
	all, err := foreign.FindAll(x.ctx, mine, interop.Exactly(tuple.Match(tuple.AnyInt64)), interop.Options{Take: true})
	require.NoError(x, err)
	require.NoError(x, foreign.Back(x.ctx, all...))
	_, err = transaction.Client{Repo: x.user}.Run(x.ctx, transaction.Get(mine, tuple.Match(int64(1))), transaction.Put(mine, tuple.New("b"), 0))
	require.NoError(x, err)
	batches := batch.Client{Repo: x.user}
	require.NoError(x, batches.Put(x.ctx, models.Indexed{Repository: "r", Batch: "b"}))
	_, err = batches.Take(x.ctx, "r")
	require.NoError(x, err)
	require.NoError(x, status.Remember(x.ctx, x.worker, "{}"))
	require.NoError(x, status.Drain(x.ctx, x.user, x.worker.Session()))
	status.Leave(x.ctx, x.worker, "done")
	require.NoError(x, x.worker.Close(x.ctx))
}

// keepOverRestart restarts the coordinator while results are held in two ways, and while a task is held.
func (x *tour) keepOverRestart() {
	worker, _ := x.join("worker", map[string]int{dig: 5})
	for n := range 3 {
		x.issue(fmt.Sprint("kept-", n), time.Hour)
		i := x.claim(worker)
		if n < 2 {
			require.NoError(x, task.Client{Repo: worker}.Report(x.ctx, i, "north", true, 1))
		}
	}
	x.find(x.user)
	_, err := work.Client{Repo: x.manager}.NextResult(x.ctx, dig)
	require.NoError(x, err)
	x.halt()
	x.open()
	x.pass(5 * time.Minute)
	x.manager, _ = x.join("manager", nil)
	x.ingest()
	x.ingest()
	x.pass(4 * time.Hour)
}

// changeSelections requeues, discards and cancels what filters select.
func (x *tour) changeSelections(users, tasks task.Client, action string) {
	die := func() {
		i, err := tasks.Claim(x.ctx, action)
		require.NoError(x, err)
		require.NoError(x, tasks.Fail(x.ctx, i, task.Failure{Reason: "exit 66", GiveUp: true}))
		x.pass(2 * time.Second)
	}
	change := func(b task.Bulk) {
		b.Max = task.MaxBulk
		part, err := users.Bulk(x.ctx, b, nil)
		require.NoError(x, err)
		require.NotEmpty(x, part.Done, b.Verb)
	}
	dead := task.Filter{State: task.StateDead, Action: action, Text: "exit 66"}
	_, err := users.CreateAll(x.ctx, task.New{Task: models.Task{Action: action, Timeout: 60}}, task.New{Task: models.Task{Action: action, Timeout: 60}})
	require.NoError(x, err)
	die()
	change(task.Bulk{Verb: task.BulkRequeue, Filter: dead})
	die()
	change(task.Bulk{Verb: task.BulkDiscard, Filter: dead})
	change(task.Bulk{Verb: task.BulkCancel, Filter: task.Filter{Action: action, State: task.Waiting}, Reason: "late"})
}
