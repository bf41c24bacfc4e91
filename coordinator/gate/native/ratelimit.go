package native

import (
	"context"
	"time"
)

// rateLimit bounds how many connections are accepted in a second: at first a burst
// without waiting, and then as many as the rate allows on average. Connections beyond
// that wait in the listener's backlog; accepted ones are not slowed down.
type rateLimit struct {
	interval time.Duration // between two connections, on average
	burst    int
	next     time.Time // when the latest connection was due at the average rate
}

// newRateLimit returns a limit of rate connections a second; a tenth of them may come at
// once.
func newRateLimit(rate int) *rateLimit {
	return &rateLimit{interval: time.Second / time.Duration(rate), burst: max(1, rate/10)}
}

// wait waits until one more connection may be accepted, or ctx ends. next moves on by an
// interval for each connection, but is never more than a burst of them behind now, so that a
// quiet time allows one burst and no more. Only the accepting goroutine calls it.
func (l *rateLimit) wait(ctx context.Context) {
	now := time.Now()
	if earliest := now.Add(-time.Duration(l.burst) * l.interval); l.next.Before(earliest) {
		l.next = earliest
	}
	l.next = l.next.Add(l.interval)
	delay := l.next.Sub(now)
	if delay <= 0 {
		return
	}
	select {
	case <-time.After(delay):
	case <-ctx.Done():
	}
}
