package worktest

import (
	"context"
	"errors"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
)

// dig and fill are the actions of these tests.
const (
	dig  = "dig"
	fill = "fill"
)

// session is a session of the engine that sends heartbeats, with the clients of the
// protocols.
type session struct {
	f             *fixture
	repo          space.Repository
	task          task.Client
	work          work.Client
	visit         visit.Client
	heartbeat     *status.Heartbeat
	stopHeartbeat func() // and waits until the last one is sent
}

func (f *fixture) session(id string, serves map[string]int) *session {
	f.Helper()
	return f.sessionOver(f.connect(f.t, f.engine, id, f.sessionTTL), serves)
}

// workerOn opens the session of a worker on a machine.
func (f *fixture) workerOn(host, id string) *session {
	f.Helper()
	c, err := f.engine.OpenGateSession(f.Context(), engine.Opening{ID: id, TTL: f.sessionTTL, Fleet: true, Process: space.Process{Host: host}})
	require.NoError(f, err)
	return f.sessionOver(space.Over(c), map[string]int{dig: 1})
}

// sessionOver sends a first heartbeat, and further ones until the fixture is closed or
// stopHeartbeat is called.
func (f *fixture) sessionOver(repo space.Repository, serves map[string]int) *session {
	f.Helper()
	s := &session{f: f, repo: repo, task: task.Client{Repo: repo}, work: work.Client{Repo: repo}, visit: visit.Client{Repo: repo}}
	s.heartbeat = status.NewHeartbeat(repo, f.beat, serves)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	require.NoError(f, s.heartbeat.Beat(ctx))
	go func() { defer close(done); _ = s.heartbeat.Run(ctx) }()
	s.stopHeartbeat = func() { cancel(); <-done }
	f.closers = append(f.closers, s.stopHeartbeat)
	return s
}

// manager opens the session of a manager.
func (f *fixture) manager(id string) *session { return f.session(id, nil) }

// worker opens the session of a worker that serves dig.
func (f *fixture) worker(id string, slots int) *session {
	return f.session(id, map[string]int{dig: slots})
}

// kill ends the session without closing it, and waits until it is lost.
func (s *session) kill() {
	s.stopHeartbeat()
	s.f.pass(s.f.sessionTTL)
}

// closeInOrder closes the session.
func (s *session) closeInOrder() {
	s.f.Helper()
	s.stopHeartbeat()
	require.NoError(s.f, s.repo.Close(s.f.Context()))
}

// toDig is a task of the action dig.
func toDig(subject string, parts ...string) models.Task {
	return models.Task{Action: dig, Subject: subject, Parts: parts, Timeout: models.SecondsOf(taskTimeout)}
}

// issue issues a work-item, for which there must be capacity.
func (s *session) issue(t models.Task, priority int64) {
	s.f.Helper()
	issued, err := s.work.Issue(s.f.Context(), s.inProgress(), t, priority)
	require.NoError(s.f, err)
	require.True(s.f, issued)
}

// tryClaim claims a task of the actions, or of dig if none is given. It returns false if
// the session can claim none now.
func (s *session) tryClaim(actions ...string) (task.Item, bool) {
	s.f.Helper()
	if len(actions) == 0 {
		actions = []string{dig}
	}
	ctx, cancel := context.WithTimeout(s.f.Context(), time.Nanosecond)
	defer cancel()
	i, err := s.task.Claim(ctx, actions...)
	if errors.Is(err, context.DeadlineExceeded) {
		return task.Item{}, false
	}
	require.NoError(s.f, err)
	return i, true
}

// claim claims a task that must be there.
func (s *session) claim(actions ...string) task.Item {
	s.f.Helper()
	i, ok := s.tryClaim(actions...)
	require.True(s.f, ok, "there is no task for %s", s.repo.Session())
	return i
}

// claimAfterBackoff claims a task in its back-off.
func (s *session) claimAfterBackoff() task.Item {
	s.f.Helper()
	_, early := s.tryClaim()
	require.False(s.f, early, "claimed during the back-off")
	s.f.pass(backoff)
	return s.claim()
}

// report puts a result, the last one of the task if final is true. With a stale token it returns fault.ErrStaleToken
// but still puts the result (task.Client.Report), so that a manager can ingest it; it counts as lease.Late then.
func (s *session) report(i task.Item, part string, final bool) error {
	return s.task.Report(s.f.Context(), i, part, final, map[string]string{"found": part})
}

// holdResult holds a result that must be there.
func (s *session) holdResult() *work.Held {
	s.f.Helper()
	ctx, cancel := context.WithTimeout(s.f.Context(), time.Nanosecond)
	defer cancel()
	step, err := s.work.Next(ctx, dig, false)
	require.NoError(s.f, err)
	require.NotNil(s.f, step.Result)
	return step.Result
}

// ingestResult holds a result and reports it as ingested.
func (s *session) ingestResult() *work.Held {
	s.f.Helper()
	r := s.holdResult()
	require.NoError(s.f, s.work.Ingested(s.f.Context(), r))
	return r
}

// reserved returns the parts that must not be issued, by subject.
func (s *session) reserved() map[string][]string {
	s.f.Helper()
	reserved := map[string][]string{}
	for _, c := range s.inProgress().Reserved {
		reserved[c.Subject] = append(reserved[c.Subject], c.Parts...)
	}
	return reserved
}

// inProgress is what a manager reads before it selects.
func (s *session) inProgress() work.InProgress {
	s.f.Helper()
	seen, err := s.work.InProgress(s.f.Context(), dig)
	require.NoError(s.f, err)
	return seen
}
