package client

import (
	"context"
	"net/url"
	"time"

	"leasehold/models"
	"leasehold/shared/api/types"
)

// claimWait is how long one claim waits at most, in seconds.
const claimWait = 25

// WorkerSession is the session of a worker at the API. It is lost, and its tasks are offered
// again, if no call is made for its TTL. It may be used concurrently. The calls about a task
// fail with fault.ErrStaleToken once the session does not have that attempt any more.
type WorkerSession struct {
	types.WorkerSession // as it was when the session was opened
	client              *Client
}

// OpenWorker opens the session of a worker. EndSession of the client ends it.
func (c *Client) OpenWorker(ctx context.Context, n types.NewSession) (*WorkerSession, error) {
	s := &WorkerSession{client: c}
	if _, err := c.Do(ctx, Call{Method: "POST", Path: "sessions", Body: n, Answer: &s.WorkerSession}); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *WorkerSession) path() string { return "sessions/" + url.PathEscape(s.ID) }

// Heartbeat keeps the session, and returns which tasks it has and whether it shall drain.
func (s *WorkerSession) Heartbeat(ctx context.Context) (now types.WorkerSession, err error) {
	_, err = s.client.Do(ctx, Call{Method: "POST", Path: s.path() + "/heartbeat", Answer: &now, Repeat: true})
	return now, err
}

// Claim claims up to limit tasks of the actions, or of those that the session serves if there
// are none. It waits for the first one for at most wait, and at most 25 s; an empty answer
// means that there was none.
func (s *WorkerSession) Claim(ctx context.Context, limit int, wait time.Duration, actions ...string) ([]types.ClaimedTask, error) {
	claimed, err := s.Next(ctx, nil, limit, wait, actions...)
	return claimed.Items, err
}

// Next is Claim in one request with the ends of tasks, at most 64. What became of each is in the answer: a
// refused end does not undo the others.
func (s *WorkerSession) Next(ctx context.Context, finish []types.Finish, limit int, wait time.Duration, actions ...string) (next types.ClaimedTasks, err error) {
	n := types.NewTaskClaims{Actions: actions, Limit: &limit, Wait: min(models.SecondsOf(wait), claimWait), Finish: finish}
	_, err = s.client.Do(ctx, Call{Method: "POST", Path: s.path() + "/claims", Body: n, Answer: &next, Operation: operationOf(ctx)})
	return next, err
}

// Extend restarts the timeout of a task, and notes its progress unless p is nil.
func (s *WorkerSession) Extend(ctx context.Context, t types.ClaimedTask, p *models.Progress) error {
	return s.answer(ctx, t, "extend", types.Extension{Token: t.Token, Progress: p}, nil)
}

// Resolve ends a task with its result, which is JSON, and creates others in the same
// transaction.
func (s *WorkerSession) Resolve(ctx context.Context, t types.ClaimedTask, result []byte, create ...types.NewTask) ([]types.Task, error) {
	var made types.Tasks
	err := s.answer(ctx, t, "resolve", types.Resolution{Token: t.Token, Result: result, Create: create}, &made)
	return made.Items, err
}

// Release gives a task back after an attempt that failed. The token of r is not used.
func (s *WorkerSession) Release(ctx context.Context, t types.ClaimedTask, r types.Release) error {
	r.Token = t.Token
	return s.answer(ctx, t, "release", r, nil)
}

// HandBack gives a task back without counting an attempt; no worker gets it before the delay.
func (s *WorkerSession) HandBack(ctx context.Context, t types.ClaimedTask, delay time.Duration) error {
	return s.answer(ctx, t, "hand-back", types.HandBack{Token: t.Token, Delay: models.SecondsOf(delay)}, nil)
}

func (s *WorkerSession) answer(ctx context.Context, t types.ClaimedTask, verb string, body, answer any) error {
	_, err := s.client.Do(ctx, Call{Method: "POST", Path: s.path() + "/claims/" + url.PathEscape(t.ID) + "/" + verb, Body: body, Answer: answer, Operation: operationOf(ctx)})
	return err
}
