package worktest

import (
	"context"
	"errors"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/space"
	"leasehold/shared/status"
	"leasehold/shared/task"
	"leasehold/shared/visit"
	"leasehold/shared/work"
)

// dig and fill are the actions of these tests.
const (
	dig  = "dig"
	fill = "fill"
)

// actor is a session with a beating heart, and the protocols as it speaks them.
type actor struct {
	h       *house
	repo    space.Repository
	task    task.Client
	work    work.Client
	visit   visit.Client
	heart   *status.Heart
	silence func() // stops the heart, and waits until it has
}

func (h *house) actor(id string, serves map[string]int) *actor {
	h.Helper()
	repo := h.connect(h.t, h.engine, id, h.sessionTTL)
	a := &actor{h: h, repo: repo, task: task.Client{Repo: repo}, work: work.Client{Repo: repo}, visit: visit.Client{Repo: repo}}
	a.heart = status.NewHeart(repo, h.beat, serves)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	require.NoError(h, a.heart.Beat(ctx))
	go func() { defer close(done); _ = a.heart.Run(ctx) }()
	a.silence = func() { cancel(); <-done }
	h.closers = append(h.closers, a.silence)
	return a
}

// manager opens the session of a manager.
func (h *house) manager(id string) *actor { return h.actor(id, nil) }

// worker opens the session of a worker that serves dig.
func (h *house) worker(id string, slots int) *actor { return h.actor(id, map[string]int{dig: slots}) }

// die ends the actor without a word, and lets the others notice.
func (a *actor) die() {
	a.silence()
	a.h.pass(a.h.sessionTTL)
}

// leave ends the actor in order.
func (a *actor) leave() {
	a.h.Helper()
	a.silence()
	require.NoError(a.h, a.repo.Close(a.h.Context()))
}

// toDig is a task of the action dig.
func toDig(subject string, parts ...string) models.Task {
	return models.Task{Action: dig, Subject: subject, Parts: parts, Timeout: models.SecondsOf(taskTimeout)}
}

// issue issues a work-item for which there must be room.
func (a *actor) issue(t models.Task, priority int64) {
	a.h.Helper()
	issued, err := a.work.Issue(a.h.Context(), a.look(), t, priority)
	require.NoError(a.h, err)
	require.True(a.h, issued)
}

// claims claims a task of the action dig if there is one for the actor now.
func (a *actor) claims(actions ...string) (task.Item, bool) {
	a.h.Helper()
	if len(actions) == 0 {
		actions = []string{dig}
	}
	ctx, cancel := context.WithTimeout(a.h.Context(), time.Nanosecond)
	defer cancel()
	i, err := a.task.Claim(ctx, actions...)
	if errors.Is(err, context.DeadlineExceeded) {
		return task.Item{}, false
	}
	require.NoError(a.h, err)
	return i, true
}

// claim claims a task that must be there.
func (a *actor) claim(actions ...string) task.Item {
	a.h.Helper()
	i, ok := a.claims(actions...)
	require.True(a.h, ok, "there is no task for %s", a.repo.Session())
	return i
}

// claimAfterBackoff claims a task that is in its back-off.
func (a *actor) claimAfterBackoff() task.Item {
	a.h.Helper()
	_, early := a.claims()
	require.False(a.h, early, "claimed during the back-off")
	a.h.pass(backoff)
	return a.claim()
}

// report puts a result.
func (a *actor) report(i task.Item, part string, final bool) error {
	return a.task.Report(a.h.Context(), i, part, final, map[string]string{"found": part})
}

// hold takes hold of a result that must be there.
func (a *actor) hold() *work.Held {
	a.h.Helper()
	ctx, cancel := context.WithTimeout(a.h.Context(), time.Nanosecond)
	defer cancel()
	s, err := a.work.Next(ctx, dig, false)
	require.NoError(a.h, err)
	require.NotNil(a.h, s.Result)
	return s.Result
}

// ingest takes hold of a result and says that it is in the catalog.
func (a *actor) ingest() *work.Held {
	a.h.Helper()
	r := a.hold()
	require.NoError(a.h, a.work.Ingested(a.h.Context(), r))
	return r
}

// busy is what somebody is at work on, by subject.
func (a *actor) busy() map[string][]string {
	a.h.Helper()
	busy := map[string][]string{}
	for _, c := range a.look().Claimed {
		busy[c.Subject] = append(busy[c.Subject], c.Parts...)
	}
	return busy
}

// look is what a manager sees before it chooses.
func (a *actor) look() work.Busy {
	a.h.Helper()
	seen, err := a.work.Busy(a.h.Context(), dig)
	require.NoError(a.h, err)
	return seen
}
