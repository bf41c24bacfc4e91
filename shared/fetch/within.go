package fetch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
)

// longestWaits is for how long the requests of one visit may wait for their turns, all together. A visit is lost
// after 30 minutes.
const longestWaits = 10 * time.Minute

// Within calls read with a context that ends when reading an origin of a kind has taken too long
// (models.KindInfo.ReadWithin), without the waits for turns at hosts, which take at most longestWaits. It then fails
// with fault.ErrUnavailable.
func Within(ctx context.Context, kind models.OriginKind, read func(context.Context) error) error {
	most := kind.Info().ReadWithin
	if most == 0 {
		return read(ctx)
	}
	late := fmt.Errorf("no complete answer within %s: %w", most, fault.ErrUnavailable)
	limited, cancel := withoutWaits(ctx, most, longestWaits, late)
	defer cancel()
	err := read(limited)
	if err != nil && context.Cause(limited) == late {
		return late
	}
	return err
}

// WithoutWaits returns a context that ends after a time in which requests do not wait for turns at hosts, or after
// they have waited for as long again.
func WithoutWaits(ctx context.Context, most, waits time.Duration) (context.Context, context.CancelFunc) {
	return withoutWaits(ctx, most, waits, context.DeadlineExceeded)
}

func withoutWaits(ctx context.Context, most, waits time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	a := &allowance{left: most, waits: waits, began: time.Now()}
	a.timer = time.AfterFunc(most, func() { cancel(cause) })
	return context.WithValue(ctx, allowanceKey{}, a), func() {
		a.timer.Stop()
		cancel(nil)
	}
}

type allowanceKey struct{}

// allowance is the time that is left to a context of withoutWaits.
type allowance struct {
	mu      sync.Mutex
	timer   *time.Timer
	left    time.Duration // when the timer was set
	began   time.Time     // when it was set, or when the waits under way began
	waiting int           // requests
	waits   time.Duration // that are left
}

// waiting stops the time of the context of withoutWaits, if ctx has one, until ready is called. The returned
// context ends when no more waits are left.
func waiting(ctx context.Context) (limited context.Context, ready func()) {
	a, _ := ctx.Value(allowanceKey{}).(*allowance)
	if a == nil {
		return ctx, func() {}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting++; a.waiting == 1 && a.timer.Stop() {
		a.left -= time.Since(a.began)
		a.began = time.Now()
	}
	limited, cancel := context.WithTimeoutCause(ctx, a.waits, fmt.Errorf("its host asks for too long pauses: %w", fault.ErrUnavailable))
	return limited, func() {
		cancel()
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.waiting--; a.waiting == 0 && ctx.Err() == nil {
			a.waits -= time.Since(a.began)
			a.began = time.Now()
			a.timer.Reset(max(a.left, 0))
		}
	}
}
