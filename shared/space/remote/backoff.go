package remote

import (
	"cmp"
	"math/rand/v2"
	"time"
)

// Backoff bounds the random pauses between attempts to connect, which tend to grow
// with each attempt.
type Backoff struct {
	Min time.Duration // the longest first pause; 0: 100 ms
	Max time.Duration // the longest of all; 0: 2 s
}

func (b Backoff) withDefaults() Backoff {
	b.Min = cmp.Or(max(0, b.Min), 100*time.Millisecond)
	b.Max = max(b.Min, cmp.Or(max(0, b.Max), 2*time.Second))
	return b
}

// first returns the first pause, next the one after a pause.
func (b Backoff) first() time.Duration { return jitter(b.Min) }

func (b Backoff) next(pause time.Duration) time.Duration {
	return jitter(min(b.Max, max(2*b.Min, 3*pause)))
}

// jitter returns a random time from 1 ns to d.
func jitter(d time.Duration) time.Duration { return 1 + rand.N(d) }
