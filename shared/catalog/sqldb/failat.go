package sqldb

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"leasehold/shared/fault"
)

// ErrFailed is the error of a statement that FailAt selects.
var ErrFailed = errors.New("this statement fails for a test")

// countdown counts the statements of one call until one fails.
type countdown struct {
	left   int
	failed bool
	first  bool // only in the first transaction
}

type countdownKey struct{}

// FailAt returns a context for tests: of the statements that a Database runs in calls with it, the n-th
// fails with ErrFailed, counted from 1 and with the begin and the end of transactions. failed
// reports whether there were as many. The context is for one goroutine.
func FailAt(ctx context.Context, n int) (at context.Context, failed func() bool) {
	c := &countdown{left: n}
	return context.WithValue(ctx, countdownKey{}, c), func() bool { return c.failed }
}

// FailInFirst is FailAt for the statements of the first transaction alone. A call that it lets fail
// has done nothing.
func FailInFirst(ctx context.Context, n int) (at context.Context, failed func() bool) {
	c := &countdown{left: n, first: true}
	return context.WithValue(ctx, countdownKey{}, c), func() bool { return c.failed }
}

type lockedKey struct{}

// FailWhile returns a context for tests: while locked is true, each statement of a call with it fails as if another
// program locked the file. The context is for any number of goroutines.
func FailWhile(ctx context.Context, locked *atomic.Bool) context.Context {
	return context.WithValue(ctx, lockedKey{}, locked)
}

// countDown returns the error of a statement that should fail.
func (c *Conn) countDown() error {
	if c.locked != nil && c.locked.Load() {
		return fmt.Errorf("%w: locked for a test", fault.ErrUnavailable)
	}
	if c.countdown == nil {
		return nil
	}
	if c.countdown.left--; c.countdown.left == 0 {
		c.countdown.failed = true
		return ErrFailed
	}
	return nil
}

// endCountdown ends the countdown of FailInFirst.
func (c *Conn) endCountdown() {
	if c.countdown != nil && c.countdown.first {
		c.countdown.left = 0
	}
}
