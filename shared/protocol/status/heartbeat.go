package status

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// maxReports is how many heartbeats a second are sent at most, because a worker with short
// tasks changes its state thousands of times a second.
const maxReports = 4

// Heartbeat keeps one session alive: it reports the session's state at an interval,
// and when the state or the slots change, at most four times a second. SetState and SetSlots
// may be called concurrently.
type Heartbeat struct {
	Arrived func() // called after each heartbeat of Run that arrived; nil: nothing is called

	repo     space.Repository
	interval time.Duration
	changed  chan struct{}

	mu     sync.Mutex // guards the fields below
	serves []Serving
	state  string
	since  time.Time
}

// NewHeartbeat returns the heartbeat of repo's session, which has serves[action] slots for each
// action. Its first state is idle. The actions are sorted, so that equal heartbeats have equal
// arguments. Run starts it.
func NewHeartbeat(repo space.Repository, interval time.Duration, serves map[string]int) *Heartbeat {
	h := &Heartbeat{repo: repo, interval: interval, changed: make(chan struct{}, 1), state: "idle", since: time.Now()}
	for _, action := range slices.Sorted(maps.Keys(serves)) {
		h.serves = append(h.serves, Serving{Action: action, Slots: int64(serves[action])})
	}
	return h
}

// SetState changes the state that the session reports. Run sends it at once, unless it has sent
// four heartbeats within a second: of several changes in that time it sends the last. It does
// not wait.
func (h *Heartbeat) SetState(state string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if state == h.state {
		return
	}
	h.state, h.since = state, time.Now()
	select {
	case h.changed <- struct{}{}:
	default: // the next beat carries this change too
	}
}

// SetSlots changes how many slots the session reports for an action that it serves. It is sent as a state is.
func (h *Heartbeat) SetSlots(action string, slots int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.serves = slices.Clone(h.serves) // Beat may read the old ones
	for n, s := range h.serves {
		if s.Action == action {
			h.serves[n].Slots = int64(slots)
		}
	}
	select {
	case h.changed <- struct{}{}:
	default: // the next beat carries this change too
	}
}

// Beat sends one heartbeat. It may be repeated after any error. Errors: fault.ErrClosed if the session is lost,
// fault.ErrInvalid for an invalid action or a number of slots out of range.
func (h *Heartbeat) Beat(ctx context.Context) error {
	h.mu.Lock()
	args := beatArgs{State: h.state, Since: h.since.UTC().Format(time.RFC3339), Serves: h.serves}.encode()
	h.mu.Unlock()
	if _, err := h.repo.Call(ctx, space.OpID{}, procBeat, args); err != nil {
		return fmt.Errorf("heartbeat of %s: %w", h.repo.Session(), err)
	}
	return nil
}

// Run sends heartbeats until ctx ends, and then returns nil, or until one fails with any error but
// fault.ErrUnavailable; fault.ErrClosed means that the session is lost. After fault.ErrUnavailable it goes on,
// because a later heartbeat may still arrive in time. Before each one it waits until the one sent maxReports before
// is a second old, or an interval if that is shorter.
func (h *Heartbeat) Run(ctx context.Context) error {
	tick := time.NewTicker(h.interval)
	defer tick.Stop()
	var told time.Time             // when the clock was reported
	var sent [maxReports]time.Time // when the latest heartbeats were sent; sent[n] is the oldest
	for n := 0; ; n = (n + 1) % maxReports {
		if wait := time.Until(sent[n].Add(min(time.Second, h.interval))); wait > 0 {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(wait):
			}
		}
		select {
		case <-h.changed: // this heartbeat reports the change
		default:
		}
		sent[n] = time.Now()
		err := h.Beat(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !errors.Is(err, fault.ErrUnavailable):
			return err
		case err == nil && h.Arrived != nil:
			h.Arrived()
		}
		if time.Since(told) >= clockInterval {
			reportClock(ctx, h.repo)
			told = time.Now()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-h.changed:
		}
	}
}
