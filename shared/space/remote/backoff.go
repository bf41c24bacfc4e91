package remote

import (
	"math/rand/v2"
	"time"
)

// Backoff says how long to wait between attempts to connect: a random time, which
// tends to grow with each attempt.
type Backoff struct {
	Min time.Duration // the longest first pause; 0: 100 ms
	Max time.Duration // the longest of all; 0: 2 s
}

func (b Backoff) normal() Backoff {
	if b.Min <= 0 {
		b.Min = 100 * time.Millisecond
	}
	if b.Max <= 0 {
		b.Max = 2 * time.Second
	}
	b.Max = max(b.Min, b.Max)
	return b
}

// first returns the first pause, next the one after a pause.
func (b Backoff) first() time.Duration { return jitter(b.Min) }

func (b Backoff) next(pause time.Duration) time.Duration {
	return jitter(min(b.Max, max(2*b.Min, 3*pause)))
}

// jitter returns a random time up to d.
func jitter(d time.Duration) time.Duration { return 1 + rand.N(d) }
