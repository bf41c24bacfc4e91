//go:build linux

package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/work"
)

// workload is traffic of work-items: managers issue and ingest, workers claim, report,
// resolve, release and hand back, and both die. The catalog is in this process and
// survives them.
type workload struct {
	mu        sync.Mutex                 // guards the fields below
	subjects  int                        // number of subjects so far
	done      map[string]map[string]bool // by subject and part
	issued    int                        // confirmed work-items
	perhaps   int                        // possible further ones, by managers that died
	tokens    map[string]int64           // the newest token of each task
	finals    map[string]int             // current final reports by task
	completed map[string]int             // current final reports by subject
	unsure    int                        // final reports that were late, or whose session was lost
	wrong     []string
}

const dig = "dig"

var parts = []string{"east", "north", "west"}

func newWorkload() *workload {
	return &workload{done: map[string]map[string]bool{}, tokens: map[string]int64{}, finals: map[string]int{}, completed: map[string]int{}}
}

// runManager works as a manager until its session is closed or abandoned.
func (l *workload) runManager(ctx context.Context, c *session, _ int, r *rand.Rand) error {
	client := work.Client{Repo: c}
	for range 1 + r.IntN(60) {
		if ctx.Err() != nil {
			break
		}
		call, cancel := context.WithTimeout(context.Background(), time.Second)
		step, err := client.Next(call, dig, true)
		cancel()
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return c.close() // the answer may be a result held for this session
		case err != nil:
			return err
		case step.Result == nil:
			err = l.issue(client)
		case r.IntN(8) == 0:
			c.abandon() // while it holds the result
			return nil
		default:
			l.ingest(step.Result)
			err = client.Ingested(context.Background(), step.Result)
		}
		if err != nil && !errors.Is(err, fault.ErrStaleToken) && !errors.Is(err, fault.ErrConflict) {
			return err
		}
	}
	if r.IntN(2) == 0 {
		c.abandon()
		return nil
	}
	return c.close()
}

// issue selects the next work and issues it.
func (l *workload) issue(client work.Client) error {
	seen, err := client.InProgress(context.Background(), dig)
	if err != nil {
		return err
	}
	subject, open := l.next(seen.Reserved)
	t := models.Task{Action: dig, Subject: subject, Parts: open, Timeout: 3}
	l.note(func() { l.perhaps++ })
	issued, err := client.Issue(context.Background(), seen, t, 0)
	if closed(err) {
		return err // it may have been issued
	}
	l.note(func() {
		l.perhaps--
		if issued {
			l.issued++
		}
	})
	return err
}

// next returns the first subject with parts that are neither done nor reserved. The
// number of subjects is unbounded, so there is always one.
func (l *workload) next(claimed []work.Reserved) (subject string, open []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := 0; ; n++ {
		subject = fmt.Sprint("garden-", n)
		l.subjects = max(l.subjects, n+1)
		open = slices.DeleteFunc(slices.Clone(parts), func(p string) bool {
			return l.done[subject][p] || slices.ContainsFunc(claimed, func(c work.Reserved) bool {
				return c.Subject == subject && (len(c.Parts) == 0 || slices.Contains(c.Parts, p))
			})
		})
		if len(open) > 0 {
			return subject, open
		}
	}
}

// ingest stores a result in the catalog: of one part, or of a dead task.
func (l *workload) ingest(h *work.Held) {
	var failure models.Failure
	err := json.Unmarshal([]byte(h.Body), &failure)
	l.note(func() {
		if err != nil {
			l.wrong = append(l.wrong, fmt.Sprintf("result %+v: %v", h, err))
		}
		if l.done[h.Subject] == nil {
			l.done[h.Subject] = map[string]bool{}
		}
		for _, p := range lease.SplitParts(h.Part) {
			l.done[h.Subject][p] = true
		}
	})
}

// runWorker works as a worker until its session is closed or abandoned.
func (l *workload) runWorker(ctx context.Context, c *session, _ int, r *rand.Rand) error {
	client := task.Client{Repo: c}
	var tasks []task.ClaimedTask // that are not begun
	for range 1 + r.IntN(30) {
		if ctx.Err() != nil {
			break
		}
		var err error
		if len(tasks) == 0 {
			call, cancel := context.WithTimeout(context.Background(), time.Second)
			tasks, err = client.ClaimUpTo(call, 1, dig)
			cancel()
		}
		if errors.Is(err, context.DeadlineExceeded) {
			break // the answer may be a task held for this session
		}
		if err == nil {
			l.claimed(tasks[0].Item)
			tasks, err = l.do(client, tasks[0].Item, r)
		}
		if errors.Is(err, errDies) {
			c.abandon()
			return nil
		}
		if err != nil && !errors.Is(err, fault.ErrStaleToken) {
			return err
		}
	}
	return c.close()
}

var errDies = errors.New("the worker dies")

// do handles one task, and returns the next one if it claimed that with the last result; most
// tasks are completed.
func (l *workload) do(client task.Client, item task.Item, r *rand.Rand) (next []task.ClaimedTask, err error) {
	ctx := context.Background()
	if strings.HasSuffix(item.Subject, "13") {
		return nil, client.Release(ctx, item, "the soil is frozen") // every worker releases it
	}
	switch r.IntN(20) {
	case 0:
		return nil, client.Release(ctx, item, "no spade")
	case 1:
		return nil, client.HandBack(ctx, item)
	case 2:
		return nil, errDies
	}
	return l.report(ctx, client, item, r.IntN(2) == 0, func() bool { return r.IntN(20) > 0 })
}

// report reports the parts in order, the last one as final, until lives returns false. If
// claims is set, it claims the next task with the last part.
func (l *workload) report(ctx context.Context, client task.Client, item task.Item, claims bool, lives func() bool) (next []task.ClaimedTask, err error) {
	for n, part := range item.Parts {
		final := n == len(item.Parts)-1
		if final && claims {
			var ends []task.Ended
			ends, next, err = client.Next(ctx, []task.Outcome{task.ToResolve(item, part, struct{}{})}, 1, dig)
			if len(ends) > 0 {
				err = errors.Join(ends[0].Err, err)
			}
		} else {
			err = client.Report(ctx, item, part, final, struct{}{})
		}
		switch {
		case err == nil && final:
			l.resolved(item)
		case err == nil && !lives():
			return nil, errDies
		case err != nil && final:
			l.note(func() { l.unsure++ })
		}
		if err != nil {
			return next, err
		}
	}
	return next, nil
}

func (l *workload) note(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// claimed records that a task was claimed. Its token must have risen since the last
// claim.
func (l *workload) claimed(i task.Item) {
	l.note(func() {
		if last, ok := l.tokens[i.ID]; ok && i.Token <= last {
			l.wrong = append(l.wrong, fmt.Sprintf("task %s was claimed with token %d, and then with %d", i.ID, last, i.Token))
		}
		l.tokens[i.ID] = i.Token
	})
}

func (l *workload) resolved(i task.Item) {
	l.note(func() {
		l.finals[i.ID]++
		l.completed[i.Subject]++
	})
}

// finish completes all work that was begun, with sessions that do not die.
func (l *workload) finish(t *testing.T, h *fixture) {
	t.Helper()
	worker, err := h.dial(within(t), "worker", longTTL, map[string]int{dig: 1})
	require.NoError(t, err)
	defer worker.abandon()
	manager := h.mustDial("manager", longTTL)
	begun := max(1, l.subjects) // a slow machine may not have begun any
	working, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { l.doAll(working, task.Client{Repo: worker}) })
	running.Go(func() { l.ingestAll(working, work.Client{Repo: manager}) })
	defer running.Wait()
	defer stop()
	for deadline := time.Now().Add(2 * binary.WaitLimit); !l.idle(t, manager, begun); after(10 * time.Millisecond) {
		require.True(t, time.Now().Before(deadline), "what was begun is not done: %+v", l.open(begun))
		if len(l.open(begun)) > 0 {
			if err := l.issue(work.Client{Repo: manager}); err != nil {
				require.ErrorIs(t, err, fault.ErrConflict)
			}
		}
	}
}

// doAll completes one task after the other.
func (l *workload) doAll(ctx context.Context, tasks task.Client) {
	for {
		item, err := tasks.Claim(ctx, dig)
		if err == nil {
			l.claimed(item)
			_, err = l.report(ctx, tasks, item, false, func() bool { return true })
		}
		if !l.continues(ctx, err) {
			return
		}
	}
}

// ingestAll ingests one result after the other. Its calls have no timeout, because the answer may be a result
// held for this session.
func (l *workload) ingestAll(ctx context.Context, client work.Client) {
	for {
		step, err := client.Next(ctx, dig, false)
		if err == nil {
			l.ingest(step.Result)
			err = client.Ingested(ctx, step.Result)
		}
		if !l.continues(ctx, err) {
			return
		}
	}
}

// continues reports whether to continue after err. A slow client may be late, but other
// errors are wrong, because nothing disturbs this phase.
func (l *workload) continues(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	if err == nil || errors.Is(err, fault.ErrStaleToken) {
		return true
	}
	l.note(func() { l.wrong = append(l.wrong, fmt.Sprintf("though nobody disturbs: %v", err)) })
	return false
}

// open lists the first begun subjects that have unfinished parts.
func (l *workload) open(begun int) (subjects []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := range begun {
		if s := fmt.Sprint("garden-", n); len(l.done[s]) < len(parts) {
			subjects = append(subjects, s)
		}
	}
	return subjects
}

// idle reports whether no task, result or unfinished subject is left.
func (l *workload) idle(t *testing.T, c *session, begun int) bool {
	t.Helper()
	return c.countTuples(t, task.Space) == 0 && c.countTuples(t, task.Result) == 0 && len(l.open(begun)) == 0
}

func (l *workload) check(t *testing.T, c *session) {
	t.Helper()
	require.Empty(t, l.wrong)
	for id, n := range l.finals {
		require.Equal(t, 1, n, "task %s was resolved more than once", id)
	}
	for subject, n := range l.completed {
		require.Equal(t, 1, n, "the work on %s was done to the end more than once", subject)
	}
	dead, err := c.Space(task.Dead).Count(within(t), task.AnyDead())
	require.NoError(t, err)
	claims, err := c.Space(lease.Space).Count(within(t), task.AnyClaim())
	require.NoError(t, err)
	require.Zero(t, claims, "no claim is left over")
	done := l.subjects - len(l.open(l.subjects))
	require.LessOrEqual(t, len(l.completed)+dead, done, "what was resolved is ingested")
	require.GreaterOrEqual(t, len(l.completed)+dead+l.unsure, done, "what is ingested was resolved once, or is dead")
	t.Logf("workload: %d subjects, %d resolved, %d dead", done, len(l.completed), dead)
	require.NotEmpty(t, l.completed)
}
