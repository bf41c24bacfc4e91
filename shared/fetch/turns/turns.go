// Package turns has the requests of one process wait for their turn at a host.
//
// Invariants:
//
//   - At most as many requests of a host are under way as it has slots; one if it asks for a gap.
//   - If a host asks for a gap, the next request begins at least that long after the end of the last one.
//   - Memory is bounded: a host is forgotten once nothing waits for it or is under way and its gap is over, at the
//     latest when mostHosts others are known.
//
// Turns of several processes do not know of each other. The package starts no goroutines.
package turns

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"leasehold/shared/fault"
)

// mostHosts is how many hosts are known before those that are idle are forgotten.
const mostHosts = 10_000

// Turns are the turns of the hosts that a process requests from. All methods may be called concurrently.
type Turns struct {
	mu    sync.Mutex
	slots int
	hosts map[string]*host
}

type host struct {
	underWay int
	waiting  int           // calls of Take
	next     time.Time     // before it no request begins
	changed  chan struct{} // closed when a turn ends
}

// New returns turns with a number of slots for each host, at least 1.
func New(slots int) *Turns { return &Turns{slots: max(slots, 1), hosts: map[string]*host{}} }

// SetSlots changes the number of slots of each host, at least 1. Requests under way go on.
func (t *Turns) SetSlots(slots int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.slots = max(slots, 1)
}

// Take waits for a turn of a host. gap is the pause that the host asks for between two requests; 0: none. The caller
// calls end once when the request has ended. If ctx ends before, the error is its cause; if it would end before the
// turn can begin, Take fails at once with fault.ErrUnavailable.
func (t *Turns) Take(ctx context.Context, name string, gap time.Duration) (end func(), err error) {
	t.mu.Lock()
	h := t.host(name)
	h.waiting++
	defer func() {
		t.mu.Lock()
		h.waiting--
		t.mu.Unlock()
	}()
	for {
		slots := t.slots
		if gap > 0 {
			slots = 1
		}
		wait := time.Until(h.next)
		if h.underWay < slots && wait <= 0 {
			h.underWay++
			t.mu.Unlock()
			return sync.OnceFunc(func() { t.end(h, gap) }), nil
		}
		changed := h.changed
		t.mu.Unlock()
		if err := sleep(ctx, wait, changed); err != nil {
			return nil, fmt.Errorf("no turn at %s: %w", name, err)
		}
		t.mu.Lock()
	}
}

// sleep waits until a turn ends or, if wait is above 0, for so long.
func sleep(ctx context.Context, wait time.Duration, changed <-chan struct{}) error {
	var timer <-chan time.Time
	if wait > 0 {
		if end, limited := ctx.Deadline(); limited && time.Until(end) < wait {
			return fmt.Errorf("the host asks to wait %s longer: %w", wait.Round(time.Millisecond), fault.ErrUnavailable)
		}
		waited := time.NewTimer(wait)
		defer waited.Stop()
		timer = waited.C
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer:
	case <-changed:
	}
	return nil
}

// end ends a turn.
func (t *Turns) end(h *host, gap time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h.underWay--
	if gap > 0 {
		h.next = time.Now().Add(gap)
	}
	close(h.changed)
	h.changed = make(chan struct{})
}

// host returns a host, and makes it known if it is not; mu must be held.
func (t *Turns) host(name string) *host {
	h := t.hosts[name]
	if h == nil {
		if len(t.hosts) >= mostHosts {
			now := time.Now()
			maps.DeleteFunc(t.hosts, func(_ string, h *host) bool {
				return h.underWay == 0 && h.waiting == 0 && !now.Before(h.next)
			})
		}
		h = &host{changed: make(chan struct{})}
		t.hosts[name] = h
	}
	return h
}
