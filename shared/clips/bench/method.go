package bench

import "context"

// Method finds clips; Run measures it. One goroutine uses it, for one run.
type Method interface {
	// RateHz returns the sample rate that the method needs.
	RateHz() int
	// Index gets all clips. It is called once, before the first Match.
	Index(ctx context.Context, clips []Clip) error
	// Match returns each place where a clip is played, in any order.
	Match(ctx context.Context, episode []float32) ([]Found, error)
}

// Clip is one short recording, mono.
type Clip struct {
	ID   string
	Wave []float32
}

// Found is one place where a clip is played. Only Clip and OffsetS are scored.
type Found struct {
	Clip      string
	OffsetS   float64
	DurationS float64
	Coverage  float64
	Score     float64
	Speed     float64 // 1.03 is 3 % faster; 0 if the method knows only one speed
}
