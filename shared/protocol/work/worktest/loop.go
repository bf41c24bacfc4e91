package worktest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/work"
)

var loopScenarios = []scenario{
	{"LoopIssuesWhileThereIsCapacityAndIngestsAllResults", loopDrains},
	{"LoopIssuesOnAWakeAndAtATickWhileACallIsPending", loopIssuesBeside},
	{"LoopEndsWithItsContextAndWithErrors", loopEnds},
}

// looping is a manager's loop and what it has done.
type looping struct {
	*session
	wake  chan struct{}
	stop  context.CancelFunc
	ended chan error

	mu       sync.Mutex // guards what follows
	waiting  []string   // parts that can be selected
	ingested []string
	issues   int   // calls of Issue
	err      error // of Ingest
}

// change changes what the loop uses.
func (l *looping) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// issued returns how often the loop has called Issue.
func (l *looping) issued() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.issues
}

// startLoop starts a manager's loop that issues one task for each part, and waits a second for
// its first step. more is whether its first call waits for capacity.
func (f *fixture) startLoop(more bool, parts ...string) *looping {
	ctx, stop := context.WithCancel(f.Context())
	l := &looping{session: f.manager("manager-1"), waiting: parts, wake: make(chan struct{}, 1), stop: stop, ended: make(chan error, 1)}
	run := work.Loop{
		Client: l.work, Action: dig, Look: time.Minute, Wake: l.wake, More: more,
		Ingest: func(ctx context.Context, c work.Client, h *work.Held) (bool, error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.ingested = append(l.ingested, h.Part)
			return true, errors.Join(l.err, c.Ingested(ctx, h))
		},
		Issue: l.issueAll,
	}
	go func() { l.ended <- run.Run(ctx) }()
	f.pass(time.Second)
	return l
}

// issueAll issues a task for each part that waits, until one is refused. more is true then, so
// that the loop waits for capacity.
func (l *looping) issueAll(ctx context.Context, c work.Client) (more bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.issues++
	for len(l.waiting) > 0 {
		seen, err := c.InProgress(ctx, dig)
		if err != nil {
			return false, err
		}
		issued, err := c.Issue(ctx, seen, toDig("site", l.waiting[0]), 0)
		if err != nil || !issued {
			return true, err
		}
		l.waiting = l.waiting[1:]
	}
	return false, nil
}

// loopDrains checks that the loop issues only while there is capacity, so that the queue stays
// short, and ingests all results in their order.
func loopDrains(f *fixture) {
	var parts []string
	for n := range 10 {
		parts = append(parts, fmt.Sprintf("part-%d", n))
	}
	l := f.startLoop(true, parts...)
	require.Len(f, f.state().tasks, 1, "without workers, one task waits")
	w := f.worker("worker-1", 2)
	for range parts {
		i := w.claim()
		require.NoError(f, w.report(i, i.Parts[0], true))
		f.pass(time.Second)
		require.LessOrEqual(f, len(f.state().tasks), 3, "the queue is short")
	}
	l.stop()
	require.NoError(f, receive(f, l.ended))
	require.Equal(f, parts, l.ingested)
	require.Empty(f, l.waiting)
	require.Empty(f, f.state().leases)
}

// loopIssuesBeside checks that the loop issues on a wake and at each tick while its call for a
// result is pending.
func loopIssuesBeside(f *fixture) {
	l := f.startLoop(false)
	f.pass(time.Second)
	require.Zero(f, l.issued(), "the pending call waits for results only")
	l.change(func() { l.waiting = []string{"a"} })
	l.wake <- struct{}{}
	f.pass(time.Second)
	require.Equal(f, 1, l.issued())
	w := f.worker("worker-1", 1)
	require.NoError(f, w.report(w.claim(), "a", true))
	f.pass(time.Second)
	l.change(func() { require.Equal(f, []string{"a"}, l.ingested, "the call that was pending got the result") })
	require.Equal(f, 2, l.issued(), "it wants capacity now, and there is some")
	f.pass(time.Minute)
	require.Equal(f, 3, l.issued(), "a minute has passed")
	l.stop()
	require.NoError(f, receive(f, l.ended))
}

// loopEnds checks that the loop returns nil when its context ends, an error of Ingest, and an
// error when its session is lost.
func loopEnds(f *fixture) {
	l := f.startLoop(true, "a")
	full := errors.New("the catalog is full")
	l.change(func() { l.err = full })
	w := f.worker("worker-1", 1)
	require.NoError(f, w.report(w.claim(), "a", true))
	require.ErrorIs(f, receive(f, l.ended), full)
	l.stop()
	l.closeInOrder()

	l = f.startLoop(true)
	l.kill()
	f.pass(sessionTTL)
	require.Error(f, receive(f, l.ended), "the session is lost")
}
