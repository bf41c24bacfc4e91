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
	for _, action := range slices.Sorted(maps.Keys(serves)) {
		h.serves = append(h.serves, tuple.New(action, int64(serves[action])))
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

// Beat tells the coordinator once. It may be repeated whatever came of it.
func (h *Heart) Beat(ctx context.Context) error {
	if _, err := h.repo.Call(ctx, space.OpID{}, procBeat, h.args()); err != nil {
		return fmt.Errorf("heartbeat of %s: %w", h.repo.Session(), err)
	}
	return nil
}

func (h *Heart) args() tuple.Tuple {
	h.mu.Lock()
	defer h.mu.Unlock()
	args := tuple.New(h.state, h.since.UTC().Format(time.RFC3339))
	for _, s := range h.serves {
		args = append(args, s)
	}
	return args
}

// Run beats until ctx ends, which is no error, or a beat fails for good:
// fault.ErrClosed says that the session is lost. A beat of unknown outcome is
// followed by the next one in its time.
func (h *Heart) Run(ctx context.Context) error {
	tick := time.NewTicker(h.interval)
	defer tick.Stop()
	for {
		err := h.Beat(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !errors.Is(err, fault.ErrUnavailable):
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
