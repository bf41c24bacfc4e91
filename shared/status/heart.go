package status

import (
	"context"
	"fmt"
	"sync"
	"time"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Heart keeps one session alive: it beats at an interval and at each change of
// state. Set may be called concurrently.
type Heart struct {
	repo     space.Repository
	interval time.Duration
	serves   []tuple.Tuple
	changed  chan struct{}

	mu    sync.Mutex // guards state and since
	state string
	since time.Time
}

// NewHeart returns a heart for repo's session, which serves the given actions
// with so many slots each. Run starts it.
func NewHeart(repo space.Repository, interval time.Duration, serves map[string]int) *Heart {
	h := &Heart{repo: repo, interval: interval, changed: make(chan struct{}, 1), state: "idle", since: time.Now()}
	for action, slots := range serves {
		h.serves = append(h.serves, tuple.New(action, int64(slots)))
	}
	return h
}

// Set changes the state that is shown; the next beat, which is due at once,
// carries it.
func (h *Heart) Set(state string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if state == h.state {
		return
	}
	h.state, h.since = state, time.Now()
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

// Beat tells the coordinator once.
func (h *Heart) Beat(ctx context.Context) error {
	h.mu.Lock()
	args := tuple.New(h.state, h.since.UTC().Format(time.RFC3339))
	h.mu.Unlock()
	for _, s := range h.serves {
		args = append(args, s)
	}
	if _, err := h.repo.Call(ctx, space.OpID{}, procBeat, args); err != nil {
		return fmt.Errorf("heartbeat of %s: %w", h.repo.Session(), err)
	}
	return nil
}

// Run beats until ctx ends, which is no error, or a beat fails.
func (h *Heart) Run(ctx context.Context) error {
	tick := time.NewTicker(h.interval)
	defer tick.Stop()
	for {
		if err := h.Beat(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-h.changed:
		}
	}
}
