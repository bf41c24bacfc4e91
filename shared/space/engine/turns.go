package engine

import (
	"context"
	"slices"
	"sync"

	"leasehold/shared/space"
)

// Requests that put many bytes take turns, because a small one waits until the batch that it is in is written. So a
// batch has few large requests, whoever sends them and however many at once.
const (
	largeRequest = 32 << 10  // bytes from which a request takes a turn
	largeAtOnce  = 128 << 10 // bytes of them that are executed and not durable; one more request may go beyond
)

// sizeOf returns the bytes of a request that changes something.
func sizeOf(r space.Request) int {
	if !r.Verb.Changes() {
		return 0
	}
	return r.Tuple.Size() + r.Args.Size()
}

// turns lets large requests of sessions go on: of one session in their order, of several in turn, so that a session
// with many does not delay the one of another. Its methods may be called concurrently.
type turns struct {
	mu     sync.Mutex // guards the fields below
	used   int        // bytes of requests that have their turn
	queued map[*session][]turn
	ring   []*session // those of queued, the next one first
}

// turn is a request that waits.
type turn struct {
	size int
	come chan struct{} // closed when it is its turn
}

// take waits until a request of that size has its turn, or ctx ends. give must be called after it, unless it failed.
func (t *turns) take(ctx context.Context, s *session, size int) error {
	t.mu.Lock()
	if t.used < largeAtOnce && len(t.ring) == 0 {
		t.used += size
		t.mu.Unlock()
		return nil
	}
	x := turn{size, make(chan struct{})}
	if t.queued == nil {
		t.queued = map[*session][]turn{}
	}
	if len(t.queued[s]) == 0 {
		t.ring = append(t.ring, s)
	}
	t.queued[s] = append(t.queued[s], x)
	t.mu.Unlock()
	select {
	case <-x.come:
		return nil
	case <-ctx.Done():
	case <-s.ended:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-x.come: // meanwhile
		t.release(size)
	default:
		t.remove(s, x)
	}
	if ctx.Err() != nil {
		return space.ContextError(ctx)
	}
	return s.endError()
}

// give ends the turn of a request.
func (t *turns) give(size int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.release(size)
}

// release gives freed bytes to the requests that are next. The caller holds mu.
func (t *turns) release(size int) {
	t.used -= size
	for t.used < largeAtOnce && len(t.ring) > 0 {
		s := t.ring[0]
		x := t.queued[s][0]
		t.remove(s, x)
		if len(t.queued[s]) > 0 { // the others of the session come after those of the other sessions
			t.ring = append(t.ring[1:], s)
		}
		t.used += x.size
		close(x.come)
	}
}

// remove removes a request from the queue of its session, and the session if that was its last one. The caller holds
// mu.
func (t *turns) remove(s *session, x turn) {
	t.queued[s] = slices.DeleteFunc(t.queued[s], func(other turn) bool { return other.come == x.come })
	if len(t.queued[s]) == 0 {
		delete(t.queued, s)
		t.ring = slices.DeleteFunc(t.ring, func(other *session) bool { return other == s })
	}
}
