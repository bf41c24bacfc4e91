package retry

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"leasehold/shared/fault"
)

// maxLater is how many calls a Later holds before Check fails.
const maxLater = 1_024

// Later repeats calls whose errors can pass in the goroutine of Run, so that their callers go on meanwhile. Each call
// must tolerate to be repeated after an error. Its methods may be called concurrently.
type Later struct {
	loop  Loop          // that warns
	added chan struct{} // has a value after a call was added

	mu    sync.Mutex // guards calls
	calls []func(context.Context) error
}

// NewLater returns a Later that warns with message while calls fail, at most once a minute.
func NewLater(message string, log *slog.Logger) *Later {
	return &Later{loop: Loop{Message: message, Log: log}, added: make(chan struct{}, 1)}
}

// Do makes a call, and returns its error unless that can pass; then Run repeats the call, and Do returns nil. A nil
// Later repeats nothing.
func (l *Later) Do(ctx context.Context, call func(context.Context) error) error {
	err := call(ctx)
	if l == nil || !CanPass(err) {
		return err
	}
	l.loop.warn(err)
	l.mu.Lock()
	l.calls = append(l.calls, call)
	l.mu.Unlock()
	select {
	case l.added <- struct{}{}:
	default:
	}
	return nil
}

// Check returns fault.ErrOverloaded while so many calls are to be repeated that nothing may begin that ends with
// another one. So their number is bounded by that and by what has begun.
func (l *Later) Check() error {
	if n := l.count(); n >= maxLater {
		return fmt.Errorf("%w: %d acknowledgements were refused and are being repeated, the maximum", fault.ErrOverloaded, n)
	}
	return nil
}

func (l *Later) count() int {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.calls)
}

// Run repeats calls, with pauses, until ctx ends. Then it repeats each once more, and returns nil. Calls that come later are
// not repeated, so the callers of Do end before ctx does.
func (l *Later) Run(ctx context.Context) error {
	backoff := l.loop.Backoff.WithDefaults()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-l.added:
		}
		for pause := backoff.First(); l.count() > 0 && ctx.Err() == nil; pause = backoff.Next(pause) {
			select {
			case <-ctx.Done():
			case <-time.After(pause):
				l.repeat(ctx)
			}
		}
	}
	l.repeat(ctx)
	return nil
}

// repeat makes each call once, and keeps those whose errors can pass. The end of ctx ends no call, because its effect
// matters in any case.
func (l *Later) repeat(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	l.mu.Lock()
	calls := l.calls
	l.calls = nil
	l.mu.Unlock()
	left := slices.DeleteFunc(calls, func(call func(context.Context) error) bool {
		err := call(ctx)
		if CanPass(err) {
			l.loop.warn(err)
			return false
		}
		return true // it succeeded, or what it belongs to has ended
	})
	l.mu.Lock()
	l.calls = append(left, l.calls...)
	l.mu.Unlock()
}
