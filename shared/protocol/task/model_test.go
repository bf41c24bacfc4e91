package task_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
)

var naivePolicy = task.Policy{MaxAttempts: 1, Backoff: backoff}

// machine does the same with the protocol and with a naive model, and compares them after
// each step. Steps are at times of different microseconds, so that no two tasks are due at
// the same moment.
type machine struct {
	fixture
	*naive
	workers map[string]task.Client
	stale   []attempt       // that are over
	ended   map[string]bool // tasks whose end was compared
	data    int
}

type attempt struct {
	worker string
	item   task.Item
}

func TestAnySequenceOfVerbsDoesWhatANaiveModelDoes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var failed any // rapid must recover it outside of the bubble
		synctest.Test(t, func(t *testing.T) {
			defer func() { failed = recover() }()
			runMachine(t, r)
		})
		switch {
		case failed == nil:
		case strings.HasSuffix(fmt.Sprintf("%T", failed), "invalidData"):
			panic(failed) // at a line of its own, because rapid identifies failures by their line
		default:
			panic(failed)
		}
	})
}

func runMachine(t *testing.T, r *rapid.T) {
	inBubble(t, "", nil, func(f fixture, session func(string) space.Repository) {
		m := &machine{
			fixture: f, naive: &naive{paused: map[string]bool{}, limits: map[string]*naiveLimit{}},
			workers: map[string]task.Client{}, ended: map[string]bool{},
		}
		for _, name := range []string{"w1", "w2", "w3"} {
			m.workers[name] = task.Client{Repo: session(name)}
		}
		step := func(do func(*rapid.T)) func(*rapid.T) {
			return func(r *rapid.T) {
				<-time.After(time.Microsecond)
				do(r)
				m.settle(r)
			}
		}
		r.Repeat(map[string]func(*rapid.T){
			"": m.compare, "create": step(m.create), "create more": step(m.create), "create with a key": step(m.createWithKey), "claim": step(m.claimOne), "claim more": step(m.claimOne),
			"extend": step(m.extend), "fail": step(m.failOne), "hand back": step(m.handBack), "resolve": step(m.resolveOne), "resolve and claim": step(m.next), "stale": step(m.late),
			"cancel": step(m.cancel), "requeue": step(m.requeueOne), "discard": step(m.discard), "pause or resume": step(m.pause),
			"set a limit": step(m.setLimit), "remove a limit": step(m.removeLimit), "time passes": step(m.timePasses),
		})
	})
}

// settle lets a microsecond pass, so that everything due at once has happened.
func (m *machine) settle(r *rapid.T) {
	<-time.After(time.Microsecond)
	synctest.Wait()
	m.pass(time.Now())
	m.observe(r)
}

// timePasses lets time pass from one event to the next.
func (m *machine) timePasses(r *rapid.T) {
	until := time.Now().Add(time.Duration(rapid.SampledFrom([]int{1, 7, 20, 45, 90}).Draw(r, "seconds")) * time.Second)
	for {
		next := m.event(time.Now())
		if next.IsZero() || next.After(until) {
			break
		}
		<-time.After(time.Until(next))
		m.settle(r)
	}
	<-time.After(time.Until(until))
}

// observe ends the tasks of the model that a limit ended: which ones depends on the order in
// which tasks become due.
func (m *machine) observe(r *rapid.T) {
	for _, t := range m.tasks {
		if !t.alive() || t.OnLimit != models.Drop && len(m.limitsOf(t)) == 0 {
			continue
		}
		shown, err := m.client.Show(m.Context(), t.ID)
		require.NoError(r, err)
		if shown.End == nil || shown.End.State != task.Cancelled {
			continue
		}
		var favoured string
		if _, err := fmt.Sscanf(shown.End.Note, "cancelled in favour of task %s", &favoured); err == nil {
			require.Equal(r, models.CancelRunning, m.find(favoured).OnLimit)
			require.Contains(r, t.Limits, "one")
		} else {
			require.Contains(r, shown.End.Note, "dropped")
			require.Equal(r, models.Drop, t.OnLimit)
		}
		m.forgetAttempt(t)
		m.finish(t, task.Cancelled)
	}
}

// limitsOf returns the limits of a running task.
func (m *machine) limitsOf(t *naiveTask) []string {
	if t.state == task.Claimed {
		return t.Limits
	}
	return nil
}

func (m *machine) forgetAttempt(t *naiveTask) {
	if t.state == task.Claimed {
		m.stale = append(m.stale, attempt{t.worker, t.item})
	}
}

func (m *machine) create(r *rapid.T) {
	o := models.TaskOptions{
		MaxAttempts: rapid.Int64Range(0, 3).Draw(r, "maximum"),
		Backoff:     models.Seconds(rapid.SampledFrom([]float64{0, 0, 12}).Draw(r, "back-off")),
		OnFailure:   rapid.SampledFrom([]string{"", models.RunAnyway}).Draw(r, "on failure"),
		OnLimit:     rapid.SampledFrom([]string{"", "", models.Drop, models.CancelRunning}).Draw(r, "on limit"),
	}
	switch o.OnLimit {
	case models.CancelRunning:
		o.Limits = []string{"one"}
	default:
		o.Limits = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"one", "two", "rate"}), 0, 2, rapid.ID).Draw(r, "limits")
	}
	if len(m.tasks) > 0 && o.OnLimit == "" {
		ids := make([]string, len(m.tasks))
		for n, t := range m.tasks {
			ids[n] = t.ID
		}
		o.After = rapid.SliceOfNDistinct(rapid.SampledFrom(ids), 0, min(2, len(m.tasks)), rapid.ID).Draw(r, "after")
	}
	if len(o.After) == 0 {
		o.OnFailure = "" // it has no effect
	}
	if len(o.Limits) == 0 {
		o.OnLimit = ""
	}
	m.draw(r, o, "")
}

func (m *machine) createWithKey(r *rapid.T) {
	o := models.TaskOptions{UniqueKey: rapid.SampledFrom([]string{"k", "l"}).Draw(r, "key")}
	o.Limits = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"one", "two"}), 0, 1, rapid.ID).Draw(r, "limits")
	m.draw(r, o, rapid.SampledFrom([]string{task.KeepFirst, task.Replace}).Draw(r, "on conflict"))
}

// draw creates a task with options and times.
func (m *machine) draw(r *rapid.T, o models.TaskOptions, onConflict string) {
	now := time.Now()
	if s := rapid.SampledFrom([]int{0, 0, 15}).Draw(r, "delay"); s > 0 {
		o.NotBefore = now.Add(time.Duration(s) * time.Second).UTC()
	}
	if s := rapid.SampledFrom([]int{0, 0, 0, 70}).Draw(r, "expires"); s > 0 {
		o.ExpiresAt = now.Add(time.Duration(s) * time.Second).UTC()
	}
	m.data++
	data := json.RawMessage(fmt.Sprint(m.data))
	t := &naiveTask{
		Task:     models.Task{Action: rapid.SampledFrom([]string{"a", "b"}).Draw(r, "action"), Timeout: 60, Data: data, TaskOptions: o},
		priority: rapid.Int64Range(0, 1).Draw(r, "priority"), state: task.Waiting,
	}
	made, err := m.client.CreateAll(m.Context(), task.New{Task: t.Task, Priority: t.priority, OnConflict: onConflict})
	if first := m.withKey(o.UniqueKey, false); first != nil {
		first = m.conflict(first, onConflict)
		if first != nil {
			if onConflict == task.Replace && first.Action != t.Action {
				require.ErrorIs(r, err, fault.ErrConflict)
				return
			}
			require.NoError(r, err)
			require.Equal(r, first.ID, made[0].ID)
			if onConflict == task.Replace {
				first.Data, first.NotBefore, first.retryAt, first.untouched = data, o.NotBefore, time.Time{}, false
			}
			return
		}
		t.behind = true
	}
	require.NoError(r, err)
	require.Nil(r, m.find(made[0].ID))
	t.ID = made[0].ID
	var failed string
	t.pending, failed = m.parents(t)
	t.untouched = len(t.pending) == 0 && !t.behind && len(t.Limits) == 0 && o.NotBefore.IsZero() && !m.paused[t.Action]
	m.tasks = append(m.tasks, t)
	if failed != "" {
		t.failedBy = failed
		m.finish(t, task.StateDead)
	}
}

// conflict returns the task that a create changes or keeps instead of creating one; nil: a
// successor is created.
func (m *machine) conflict(first *naiveTask, onConflict string) *naiveTask {
	if onConflict == task.Replace && first.state == task.Claimed {
		return m.withKey(first.UniqueKey, true)
	}
	return first
}

func (m *machine) claimOne(r *rapid.T) {
	worker := rapid.SampledFrom([]string{"w1", "w2", "w3"}).Draw(r, "worker")
	action := rapid.SampledFrom([]string{"a", "b"}).Draw(r, "action")
	now := time.Now()
	candidates := m.claimable(worker, action, now)
	ctx, cancel := context.WithTimeout(m.Context(), time.Nanosecond)
	defer cancel()
	all, err := m.workers[worker].ClaimUpTo(ctx, 1, action)
	if err != nil {
		require.ErrorIs(r, err, context.DeadlineExceeded)
	}
	m.claimed(r, all, worker, action, candidates, now)
}

// claimed checks what a worker claimed, of the tasks that it could have claimed, and has the
// model claim it.
func (m *machine) claimed(r *rapid.T, all []task.ClaimedTask, worker, action string, candidates []*naiveTask, now time.Time) {
	if len(all) == 0 {
		for _, t := range candidates {
			require.True(r, m.othersFirst(t, worker), "task %s could have been claimed", t.ID)
		}
		return
	}
	t := m.find(all[0].ID)
	require.NotNil(r, t)
	m.observe(r) // of the tasks in its way, a claim drops some and runs others in place of the tasks with their slots
	candidates = m.claimable(worker, action, now)
	require.True(r, slices.Contains(candidates, t), "task %s must not be claimed", t.ID)
	for _, other := range candidates {
		if other.alive() && len(other.Limits) == 0 {
			require.LessOrEqual(r, other.priority, t.priority, "task %s comes first", other.ID)
			if other.untouched && t.untouched && other.priority == t.priority {
				require.GreaterOrEqual(r, slices.Index(m.tasks, other), slices.Index(m.tasks, t), "task %s is older", other.ID)
			}
		}
	}
	require.Equal(r, t.Attempts, all[0].Attempts)
	require.Equal(r, string(t.Data), string(all[0].Data))
	var parents []task.ParentResult
	for _, id := range t.After {
		if p := m.find(id); !p.alive() {
			parents = append(parents, task.ParentResult{ID: id, State: p.state, Result: p.result})
		}
	}
	require.Equal(r, parents, all[0].Parents)
	m.claim(t, all[0].Item, worker, now)
}

// othersFirst reports whether a slot of a task's limits may be kept for a task that the
// worker gave back, or for one in whose favour another one was cancelled.
func (m *machine) othersFirst(t *naiveTask, worker string) bool {
	return slices.ContainsFunc(m.tasks, func(o *naiveTask) bool {
		return o.state == task.Waiting && (slices.Contains(o.Claimants, worker) || o.OnLimit == models.CancelRunning) &&
			slices.ContainsFunc(o.Limits, func(l string) bool { return slices.Contains(t.Limits, l) })
	})
}

// one draws a task in one of the states.
func (m *machine) one(r *rapid.T, states ...task.State) *naiveTask {
	var ids []string
	for _, t := range m.tasks {
		if slices.Contains(states, t.state) {
			ids = append(ids, t.ID)
		}
	}
	if len(ids) == 0 {
		r.SkipNow()
	}
	return m.find(rapid.SampledFrom(ids).Draw(r, "task"))
}

func (m *machine) extend(r *rapid.T) {
	t := m.one(r, task.Claimed)
	require.NoError(r, m.workers[t.worker].Extend(m.Context(), t.item))
	t.due = time.Now().Add(t.Timeout.Duration())
}

func (m *machine) failOne(r *rapid.T) {
	t, f := m.one(r, task.Claimed), drawFailure(r)
	require.NoError(r, m.workers[t.worker].Fail(m.Context(), t.item, f))
	m.failed(t, f)
}

func drawFailure(r *rapid.T) task.Failure {
	return task.Failure{
		Reason: "cannot", GiveUp: rapid.SampledFrom([]bool{false, false, true}).Draw(r, "give up"),
		Delay: time.Duration(rapid.SampledFrom([]int{0, 9}).Draw(r, "delay")) * time.Second,
	}
}

func (m *machine) failed(t *naiveTask, f task.Failure) {
	m.forgetAttempt(t)
	m.failAttempt(t, time.Now(), f.Delay, f.GiveUp)
}

func (m *machine) handBack(r *rapid.T) {
	t := m.one(r, task.Claimed)
	delay := time.Duration(rapid.SampledFrom([]int{0, 9}).Draw(r, "delay")) * time.Second
	require.NoError(r, m.workers[t.worker].HandBackFor(m.Context(), t.item, delay))
	m.handedBack(t, delay)
}

func (m *machine) handedBack(t *naiveTask, delay time.Duration) {
	m.forgetAttempt(t)
	t.state, t.worker = task.Waiting, ""
	if delay > 0 {
		t.retryAt = time.Now().Add(delay)
	}
}

func (m *machine) resolveOne(r *rapid.T) {
	t := m.one(r, task.Claimed)
	require.NoError(r, m.workers[t.worker].Report(m.Context(), t.item, "", true, "done "+t.ID))
	m.resolved(t)
}

func (m *machine) resolved(t *naiveTask) {
	m.forgetAttempt(t)
	t.result = fmt.Sprintf("%q", "done "+t.ID)
	m.finish(t, task.Resolved)
}

// next ends an attempt, current or past, and claims the next task in the same call.
func (m *machine) next(r *rapid.T) {
	t := m.one(r, task.Claimed)
	worker, action := t.worker, rapid.SampledFrom([]string{"a", "b"}).Draw(r, "action")
	var outcomes []task.Outcome
	var wanted []error
	if len(m.stale) > 0 && rapid.Bool().Draw(r, "with a stale one") {
		late := m.stale[rapid.IntRange(0, len(m.stale)-1).Draw(r, "attempt")].item
		outcomes = append(outcomes, task.ToResolve(late, "", "late"), task.ToRelease(late, task.Failure{Reason: "late"}), task.ToHandBack(late, 0))
		wanted = append(wanted, fault.ErrStaleToken, fault.ErrStaleToken, fault.ErrStaleToken)
	}
	var then func()
	switch rapid.SampledFrom([]string{"resolve", "resolve", "release", "hand back"}).Draw(r, "outcome") {
	case "resolve":
		outcomes, then = append(outcomes, task.ToResolve(t.item, "", "done "+t.ID)), func() { m.resolved(t) }
	case "release":
		f := drawFailure(r)
		outcomes, then = append(outcomes, task.ToRelease(t.item, f)), func() { m.failed(t, f) }
	default:
		outcomes, then = append(outcomes, task.ToHandBack(t.item, 9*time.Second)), func() { m.handedBack(t, 9*time.Second) }
	}
	ends, all, err := m.workers[worker].Next(m.Context(), outcomes, 1, action)
	require.NoError(r, err)
	require.Len(r, ends, len(wanted)+1)
	for n, kind := range wanted {
		require.ErrorIs(r, ends[n].Err, kind)
	}
	require.NoError(r, ends[len(wanted)].Err)
	now := time.Now()
	then()
	m.observe(r)
	m.claimed(r, all, worker, action, m.claimable(worker, action, now), now)
}

// late is a call about a past attempt; it must change nothing.
func (m *machine) late(r *rapid.T) {
	if len(m.stale) == 0 {
		r.SkipNow()
	}
	a := m.stale[rapid.IntRange(0, len(m.stale)-1).Draw(r, "attempt")]
	c := m.workers[rapid.SampledFrom([]string{"w1", "w2", "w3"}).Draw(r, "worker")]
	for name, err := range map[string]error{
		"extend": c.Extend(m.Context(), a.item), "release": c.Release(m.Context(), a.item, "late"),
		"hand back": c.HandBack(m.Context(), a.item), "resolve": c.Report(m.Context(), a.item, "", true, "late"),
	} {
		require.ErrorIs(r, err, fault.ErrStaleToken, name)
	}
}

func (m *machine) cancel(r *rapid.T) {
	t := m.one(r, task.Waiting, task.Claimed, task.Resolved, task.StateDead, task.Cancelled)
	err := m.client.Cancel(m.Context(), t.ID, "")
	if !t.alive() {
		require.ErrorIs(r, err, fault.ErrNotFound)
		return
	}
	require.NoError(r, err)
	m.forgetAttempt(t)
	m.finish(t, task.Cancelled)
}

func (m *machine) requeueOne(r *rapid.T) {
	t := m.one(r, task.StateDead, task.Resolved)
	_, err := m.client.Requeue(m.Context(), t.ID, true)
	switch {
	case t.state == task.Resolved || t.discarded:
		require.ErrorIs(r, err, fault.ErrNotFound)
	case m.requeue(t, time.Now()):
		require.NoError(r, err)
	default:
		require.ErrorIs(r, err, fault.ErrConflict)
	}
}

func (m *machine) discard(r *rapid.T) {
	t := m.one(r, task.StateDead, task.Cancelled)
	err := m.client.Discard(m.Context(), t.ID)
	if t.state == task.Cancelled || t.discarded {
		require.ErrorIs(r, err, fault.ErrNotFound)
		return
	}
	require.NoError(r, err)
	t.discarded = true
}

func (m *machine) pause(r *rapid.T) {
	action := rapid.SampledFrom([]string{"a", "b"}).Draw(r, "action")
	m.paused[action] = !m.paused[action]
	if !m.paused[action] {
		require.NoError(r, m.client.Resume(m.Context(), action))
		return
	}
	require.NoError(r, m.client.Pause(m.Context(), action))
	for _, t := range m.tasks {
		t.untouched = t.untouched && t.Action != action
	}
}

func (m *machine) setLimit(r *rapid.T) {
	l := rapid.SampledFrom([]task.Limit{{Name: "one", Max: 1}, {Name: "two", Max: 2}, {Name: "two", Max: 1}, {Name: "rate", Rate: 0.5}, {Name: "rate", Rate: 0.1, Max: 1}}).Draw(r, "limit")
	require.NoError(r, m.client.SetLimit(m.Context(), l))
	if old := m.limits[l.Name]; old != nil {
		old.Limit = l
		return
	}
	m.limits[l.Name] = &naiveLimit{Limit: l}
}

func (m *machine) removeLimit(r *rapid.T) {
	name := rapid.SampledFrom([]string{"one", "two", "rate"}).Draw(r, "limit")
	err := m.client.RemoveLimit(m.Context(), name)
	if m.limits[name] == nil {
		require.ErrorIs(r, err, fault.ErrNotFound)
		return
	}
	require.NoError(r, err)
	delete(m.limits, name)
}

// compare requires that the tasks, their states, the reasons and the counts match the model.
func (m *machine) compare(r *rapid.T) {
	alive, dead := m.listed(r, ""), m.listed(r, task.StateDead)
	counts := map[string]task.Counts{}
	for _, action := range []string{"a", "b"} {
		counts[action] = task.Counts{task.Waiting: 0, task.StateDelayed: 0, task.StateBlocked: 0, task.StatePaused: 0, task.Claimed: 0}
	}
	for _, t := range m.tasks {
		l, isAlive := alive[t.ID]
		d, isDead := dead[t.ID]
		require.Equal(r, t.alive(), isAlive, t.ID)
		require.Equal(r, t.state == task.StateDead && !t.discarded, isDead, t.ID)
		switch {
		case isAlive:
			m.compareAlive(r, t, l, alive)
			counts[t.Action][l.StateNow()]++
		case isDead:
			require.Equal(r, t.Attempts, d.Attempts, t.ID)
		case !m.ended[t.ID]:
			shown, err := m.client.Show(m.Context(), t.ID)
			require.NoError(r, err)
			require.Equal(r, t.state, shown.StateNow(), t.ID)
			m.ended[t.ID] = true
		}
	}
	for action, want := range counts {
		got, err := m.client.Counts(m.Context(), action)
		require.NoError(r, err)
		require.Equal(r, want, got)
	}
}

func (m *machine) listed(r *rapid.T, state task.State) map[string]task.Listed {
	all, next, err := m.client.List(m.Context(), task.Filter{State: state}, nil, task.MaxListed)
	require.NoError(r, err)
	require.Empty(r, next)
	byID := map[string]task.Listed{}
	for _, l := range all {
		byID[l.ID] = l
	}
	require.Len(r, byID, len(all), "a task is listed twice")
	return byID
}

func (m *machine) compareAlive(r *rapid.T, t *naiveTask, l task.Listed, alive map[string]task.Listed) {
	now := time.Now()
	require.Equal(r, t.Attempts, l.Attempts, t.ID)
	require.Equal(r, t.Claimants, l.Claimants, t.ID)
	require.Equal(r, t.worker, l.CurrentClaimant, t.ID)
	require.Equal(r, string(t.Data), string(l.Data), t.ID)
	if l.Why.Code != task.WhyLimit {
		state, why := m.explained(t, now)
		require.Equal(r, state, l.StateNow(), "%s: %s", t.ID, l.Why.Text)
		require.Equal(r, why, l.Why.Code, "%s: %s", t.ID, l.Why.Text)
		return
	}
	require.True(r, t.isDue(now), t.ID)
	require.Empty(r, t.OnLimit, "%s must not wait for a limit", t.ID)
	require.Contains(r, t.Limits, l.HiddenBy)
	if m.paused[t.Action] || m.isFull(l.HiddenBy, now) {
		return
	}
	for _, o := range alive {
		if (o.Action == t.Action || o.OnLimit == models.CancelRunning) && o.StateNow() == task.Waiting && o.Hidden == "" && slices.Contains(o.Limits, l.HiddenBy) {
			return // it has the slot
		}
	}
	require.Fail(r, "lost slot", "task %s waits for the limit %s, which has a free slot", t.ID, l.HiddenBy)
}
