// Package retry repeats calls whose errors can pass, with jittered pauses.
//
// An error can pass if its kind is fault.ErrOverloaded or fault.ErrUnavailable. A loop that should live as long
// as its process must not end on such an error. Every package that repeats calls or connections takes its pauses
// from here, so that many clients of one coordinator never return at the same moment.
//
// The package decides neither which calls may be repeated (their callers do) nor how
// often: a Loop gives up only when its context ends.
package retry

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"leasehold/shared/fault"
)

// warnInterval is the shortest time between two warnings of one Loop.
const warnInterval = time.Minute

// Backoff bounds the random pauses between attempts, which tend to grow with each
// attempt.
type Backoff struct {
	Min time.Duration // the longest first pause; 0: 100 ms
	Max time.Duration // the longest of all; 0: 2 s
}

// WithDefaults fills in the defaults.
func (b Backoff) WithDefaults() Backoff {
	b.Min = cmp.Or(max(0, b.Min), 100*time.Millisecond)
	b.Max = max(b.Min, cmp.Or(max(0, b.Max), 2*time.Second))
	return b
}

// First returns the first pause. b must have its defaults.
func (b Backoff) First() time.Duration { return Jitter(b.Min) }

// Next returns the pause that follows another. b must have its defaults.
func (b Backoff) Next(pause time.Duration) time.Duration {
	return Jitter(min(b.Max, max(2*b.Min, 3*pause)))
}

// Jitter returns a random time from 1 ns to d, which must be positive.
func Jitter(d time.Duration) time.Duration { return 1 + rand.N(d) }

// CanPass reports whether the same call may succeed later.
func CanPass(err error) bool {
	return errors.Is(err, fault.ErrOverloaded) || errors.Is(err, fault.ErrUnavailable)
}

// Loop repeats calls, of one goroutine or of many. It warns when a call fails, at most
// once a minute over all of its calls.
type Loop struct {
	Message string       // of the warning
	Log     *slog.Logger // nil: slog.Default
	Backoff Backoff
	Retry   func(error) bool // whether a call is repeated after an error; nil: CanPass

	mu     sync.Mutex // guards warned
	warned time.Time
}

// Do repeats call until it returns nil or an error after which it is not repeated, or
// until ctx ends; then it returns the last error of call.
func (l *Loop) Do(ctx context.Context, call func() error) error {
	mayRepeat := l.Retry
	if mayRepeat == nil {
		mayRepeat = CanPass
	}
	backoff := l.Backoff.WithDefaults()
	for pause := backoff.First(); ; pause = backoff.Next(pause) {
		err := call()
		if err == nil || !mayRepeat(err) || ctx.Err() != nil {
			return err
		}
		l.warn(err)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// warn logs an error, unless it warned less than warnInterval ago.
func (l *Loop) warn(err error) {
	l.mu.Lock()
	now := time.Now()
	due := l.warned.IsZero() || now.Sub(l.warned) >= warnInterval
	if due {
		l.warned = now
	}
	l.mu.Unlock()
	if due {
		cmp.Or(l.Log, slog.Default()).Warn(l.Message, "error", err)
	}
}
