package match

import (
	"fmt"
	"time"

	"leasehold/shared/audio/index"
	"leasehold/shared/fault"
)

// RateHz is the sample rate of everything in this package.
const RateHz = index.RateHz

// DefaultThreshold is the score at which a place is a finding: seven and a half
// standard deviations (package verify). docs/clips.md says what moving it costs.
const DefaultThreshold = 0.6

// Options; the zero value is the default.
type Options struct {
	// Threshold of the score, above 0 and below 1; 0 is DefaultThreshold.
	Threshold float64
}

func (o Options) check() (Options, error) {
	if o.Threshold == 0 {
		o.Threshold = DefaultThreshold
	}
	if !(o.Threshold > 0 && o.Threshold < 1) {
		return o, fmt.Errorf("match: threshold %v: above 0 and below 1 is accepted: %w", o.Threshold, fault.ErrInvalid)
	}
	return o, nil
}

// Finding is one place where a clip is played.
type Finding struct {
	Clip   int    // its number in the index
	ID     string // that it was added with
	Offset int    // samples from the start of the episode to where the clip begins, at least 0
	// Length is how many samples of the episode the clip takes: those from the first
	// block of it that is found to the last one, where its ends were cut.
	Length   int
	Coverage float64 // share of the clip that is found there, 0 to 1
	Score    float64 // how sure; the threshold to below 1
	Speed    float64 // 1.01 is 1 % faster than the clip
	How      How
	// Within is the ID of a longer clip that is found around this one; "" if none is.
	Within string
}

// How a finding was decided.
type How string

// The ways.
const (
	ByWaveform  How = "waveform"  // block by block, to the sample
	ByLandmarks How = "landmarks" // tempo or pitch was changed: to some milliseconds
	ByExact     How = "exact"     // a clip with too few landmarks: by plain correlation
)

// Start is the offset as time.
func (f Finding) Start() time.Duration { return samples(f.Offset) }

// Duration is the length as time.
func (f Finding) Duration() time.Duration { return samples(f.Length) }

func samples(n int) time.Duration { return time.Duration(n) * (time.Second / RateHz) }
