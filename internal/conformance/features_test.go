package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"leasehold/models"
	"leasehold/shared/protocol/hold"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/schedule"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// userActions are the actions of the tasks that users create. Nobody serves the last one.
var userActions = []string{"count", "resize", "unserved"}

// userTasks is what the users of a run share: the tasks that they have created.
type userTasks struct {
	mu  sync.Mutex
	ids []string
}

func (u *userTasks) add(items ...task.Item) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, i := range items {
		u.ids = append(u.ids, i.ID)
	}
}

// pick returns one of the last tasks; "" if there are none.
func (r *archiveRun) pickTask() string {
	r.users.mu.Lock()
	defer r.users.mu.Unlock()
	if len(r.users.ids) == 0 {
		return ""
	}
	return r.users.ids[len(r.users.ids)-1-r.below(min(len(r.users.ids), 12))]
}

// below returns a random number below n.
func (r *archiveRun) below(n int) int { return int(r.upTo(time.Duration(n))) - 1 }

// someOf returns one of all.
func someOf[T any](r *archiveRun, all ...T) T { return all[r.below(len(all))] }

// newTask returns a task with random options of docs/tasks.md.
func (r *archiveRun) newTask() task.New {
	n := task.New{Task: models.Task{Action: someOf(r, userActions...), Data: json.RawMessage(`{"n": 1}`), Timeout: models.SecondsOf(r.upTo(3 * time.Minute))}, Priority: int64(r.below(3))}
	for range r.below(4) {
		switch r.below(10) {
		case 0:
			n.NotBefore = time.Now().Add(r.upTo(2 * time.Minute))
		case 1:
			n.ExpiresAt = time.Now().Add(r.upTo(5 * time.Minute))
		case 2:
			n.MaxAttempts = int64(1 + r.below(6))
		case 3:
			n.Backoff = models.SecondsOf(r.upTo(time.Minute))
		case 4:
			n.UniqueKey, n.OnConflict = someOf(r, "k1", "k2"), someOf(r, task.KeepFirst, task.Replace)
		case 5:
			n.Group, n.Tags = "g", []string{"batch"}
		case 6, 7:
			if parent := r.pickTask(); parent != "" {
				n.After, n.OnFailure = []string{parent}, someOf(r, models.FailWithParent, models.RunAnyway)
			}
		case 8:
			n.Limits, n.OnLimit = []string{someOf(r, "api", "disk")}, someOf(r, models.WaitForLimit, models.CancelRunning, models.Drop)
		case 9:
			n.ResultTuple = true
		}
	}
	return n
}

// runUser does what the commands of docs/tasks.md do, at random.
func (r *archiveRun) runUser(ctx context.Context, connect status.Connect) {
	repo, err := connect(ctx)
	if err != nil {
		return
	}
	defer repo.Close(context.WithoutCancel(ctx))
	beating := status.NewHeartbeat(repo, heartbeat, nil)
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { _ = beating.Run(ctx) })
	tasks := task.Client{Repo: repo}
	schedules := schedule.Client{Repo: repo}
	for ctx.Err() == nil {
		action, id := someOf(r, append(userActions, models.ActionResearch)...), r.pickTask()
		switch r.below(24) {
		case 0, 1, 2, 3, 4, 5, 6:
			if created, err := tasks.CreateAll(ctx, r.newTask()); err == nil {
				r.users.add(created...)
			}
		case 7:
			a, b := r.newTask(), r.newTask()
			a.Ref, b.After = "a", append(b.After, "a")
			if created, err := tasks.CreateAll(ctx, a, b); err == nil {
				r.users.add(created...)
			}
		case 8, 9:
			_ = tasks.Cancel(ctx, id, "by hand")
		case 10:
			_ = tasks.Pause(ctx, action)
		case 11, 12, 13:
			_ = tasks.Resume(ctx, action)
		case 14:
			_ = tasks.SetLimit(ctx, task.Limit{Name: someOf(r, "api", "disk"), Max: int64(1 + r.below(2)), Rate: float64(r.below(2))})
		case 15:
			_ = tasks.RemoveLimit(ctx, someOf(r, "api", "disk"))
		case 16, 17:
			if letters, _, err := tasks.List(ctx, task.Filter{State: task.StateDead}, nil, 10); err == nil && len(letters) > 0 {
				id := someOf(r, letters...).ID
				_, _ = tasks.Requeue(ctx, id, r.chance(80))
			}
		case 18:
			_ = tasks.Discard(ctx, id)
		case 19:
			m := models.Schedule{Every: 20, Overlap: someOf(r, models.OverlapSkip, models.OverlapWait, models.OverlapAllow), Task: models.ScheduledTask{Action: someOf(r, userActions...)}}
			_, _, _ = schedules.Set(ctx, someOf(r, "a", "b", "c"), m)
		case 20:
			name := someOf(r, "a", "b", "c")
			switch r.below(3) {
			case 0:
				_, _ = schedules.Pause(ctx, name)
			case 1:
				_, _ = schedules.Resume(ctx, name)
			case 2:
				_ = schedules.Remove(ctx, name)
			}
		case 21:
			_ = tasks.ReviveStuck(ctx, action)
		case 22:
			_ = repo.Space(task.Space).Put(ctx, tuple.New("task", someOf(r, userActions...), fmt.Sprint("own", r.below(1<<30)), "", int64(0), int64(1), `{"n": 2}`), 0)
		case 23:
			r.useSpaces(ctx, tasks)
		}
		<-time.After(r.upTo(20 * time.Second))
	}
}

// useSpaces uses results and leases as a program of a user may.
func (r *archiveRun) useSpaces(ctx context.Context, tasks task.Client) {
	repo := tasks.Repo
	switch r.below(3) {
	case 0:
		_, _, _ = repo.Space(task.Result).GetP(ctx, task.AnyResult(someOf(r, userActions...)))
	case 1:
		holds := hold.Client{Repo: repo}
		taken, ok, err := holds.Take(ctx, task.Result, task.AnyResult(someOf(r, userActions...)), 10*time.Second, false)
		if err == nil && ok && r.chance(60) {
			_ = holds.Ack(ctx, task.Result, taken.ID)
		}
	case 2:
		granted, err := repo.Call(ctx, someOp, "lease.grant", tuple.New(fmt.Sprint("s", r.below(3)), "", int64(20_000)))
		if err != nil {
			return
		}
		l := lease.Decode(granted)
		_, _ = repo.Call(ctx, someOp, "lease.extend", tuple.New(l.ID, l.Token, int64(20_000)))
		if r.chance(50) {
			_, _ = repo.Call(ctx, someOp, "lease.revoke", tuple.New(l.ID, l.Token))
		}
	}
}

// runUserWorker claims tasks of users, one at a time or several, and ends them in all ways that
// docs/tasks.md lists.
func (r *archiveRun) runUserWorker(ctx context.Context, connect status.Connect) {
	repo, err := connect(ctx)
	if err != nil {
		return
	}
	defer repo.Close(context.WithoutCancel(ctx))
	slots := map[string]int{"count": 1 + r.below(40), "resize": 2}
	for n := range r.below(30) {
		slots[fmt.Sprint("action", n)] = 1
	}
	beating := status.NewHeartbeat(repo, heartbeat, slots)
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { _ = beating.Run(ctx) })
	tasks := task.Client{Repo: repo}
	for ctx.Err() == nil {
		wait, cancel := context.WithTimeout(ctx, 20*time.Second)
		claimed := r.claimSome(wait, tasks)
		cancel()
		for _, i := range claimed {
			r.endTask(ctx, tasks, i)
		}
		beating.SetSlots("count", r.below(20))
		beating.SetState(someOf(r, "busy", "idle"))
	}
}

// claimSome claims tasks in one of the ways in which a worker may.
func (r *archiveRun) claimSome(ctx context.Context, tasks task.Client) (all []task.Item) {
	served := userActions[:2]
	switch r.below(4) {
	case 0:
		if t, err := tasks.Repo.Space(task.Space).Get(ctx, task.AnyOf(someOf(r, served...))); err == nil {
			id, token := task.TokenOf(t)
			all = append(all, task.Item{Task: models.Task{ID: id, Action: t.Str(1)}, Token: token})
		}
	case 1:
		_, claimed, _ := tasks.Next(ctx, nil, 3, served...)
		for _, c := range claimed {
			all = append(all, c.Item)
		}
		if len(all) == 0 {
			<-time.After(time.Second)
		}
	default:
		claimed, _ := tasks.ClaimUpTo(ctx, 1+r.below(4), served...)
		for _, c := range claimed {
			all = append(all, c.Item)
		}
	}
	return all
}

// endTask works for a while and ends an attempt; some ends are too late, because the task has timed
// out or was cancelled.
func (r *archiveRun) endTask(ctx context.Context, tasks task.Client, i task.Item) {
	for range r.below(3) {
		<-time.After(r.upTo(30 * time.Second))
		if r.chance(50) {
			_ = tasks.Note(ctx, i, models.Progress{Fraction: 0.5, Text: "half"})
		} else {
			_ = tasks.Extend(ctx, i)
		}
	}
	if r.chance(10) {
		<-time.After(4 * time.Minute)
	}
	switch r.below(12) {
	case 0, 1:
		_ = tasks.Report(ctx, i, "", true, 1)
	case 2:
		_ = tasks.Report(ctx, i, "p", false, 1)
		_ = tasks.Report(ctx, i, "", true, 2)
	case 3:
		if created, err := tasks.Resolve(ctx, i, 3, r.newTask()); err == nil {
			r.users.add(created...)
		}
	case 4:
		_ = tasks.Release(ctx, i, "no")
	case 5:
		_ = tasks.Fail(ctx, i, task.Failure{Reason: "later", Delay: r.upTo(time.Minute)})
	case 6:
		_ = tasks.Fail(ctx, i, task.Failure{Reason: "exit 65", GiveUp: true})
	case 7:
		_ = tasks.HandBack(ctx, i)
	case 8:
		_ = tasks.HandBackFor(ctx, i, 30*time.Second)
	case 9:
		_, _ = tasks.PassOn(ctx, i, "no file")
	case 10:
		_, claimed, _ := tasks.Next(ctx, []task.Outcome{task.ToRelease(i, task.Failure{Reason: "again"})}, 1, userActions[:2]...)
		for _, c := range claimed {
			_ = tasks.Report(ctx, c.Item, "", true, 1)
		}
	case 11: // it forgets the task
	}
}

var someOp space.OpID

// withUsers adds users and their workers to a run.
func withUsers(r *archiveRun, ctx context.Context) {
	for range 2 {
		r.running.Go(func() { r.member(ctx, "client", r.runUser) })
	}
	for range 3 {
		r.running.Go(func() { r.member(ctx, "worker", r.runUserWorker) })
	}
}
