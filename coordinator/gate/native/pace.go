package native

import (
	"context"
	"time"
)

// pace bounds how many connections are taken in a second: a burst at once, and then
// so many that the average is the rate. Those that come too early wait in the
// listener's backlog, and so does who comes after them; those that are in do not.
type pace struct {
	each  time.Duration // between two, on average
	burst int
	next  time.Time // when the latest one would have been due without a burst
}

func newPace(rate int) *pace {
	return &pace{each: time.Second / time.Duration(rate), burst: max(1, rate/10)}
}

// wait waits until one more may be taken, or ctx ends.
func (p *pace) wait(ctx context.Context) {
	now := time.Now()
	if earliest := now.Add(-time.Duration(p.burst) * p.each); p.next.Before(earliest) {
		p.next = earliest
	}
	p.next = p.next.Add(p.each)
	ahead := p.next.Sub(now)
	if ahead <= 0 {
		return
	}
	select {
	case <-time.After(ahead):
	case <-ctx.Done():
	}
}
