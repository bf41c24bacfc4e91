package match

import (
	"fmt"
	"time"

	"leasehold/shared/clips/index"
	"leasehold/shared/fault"
)

// RateHz is the sample rate of everything in this package.
const RateHz = index.RateHz

// DefaultThreshold is the score at which a place is a finding: seven and a half
// standard deviations (package verify). docs/matching.md lists the effects of other values.
const DefaultThreshold = 0.6

// DefaultMinCoverage finds a clip if half of it is played. It does not find a clip if only a
// third is played, because songs and series of jingles share a third far more often than half.
const DefaultMinCoverage = 0.4

// Options; the zero value is the default.
type Options struct {
	// Threshold of the score, above 0 and below 1; 0 is DefaultThreshold.
	Threshold float64
	// MinCoverage is the share of a clip that must be found for a place to be a finding, 0 to
	// 1; 0 is DefaultMinCoverage. Below a coverage of 0.6, a place also needs a part of at least
	// a second, or many landmarks that agree.
	MinCoverage float64
}

// check returns the options with defaults for zeros. Values outside their ranges, NaN included,
// give fault.ErrInvalid.
func (o Options) check() (Options, error) {
	if o.Threshold == 0 {
		o.Threshold = DefaultThreshold
	}
	if !(o.Threshold > 0 && o.Threshold < 1) {
		return o, fmt.Errorf("match: threshold %v: want above 0 and below 1: %w", o.Threshold, fault.ErrInvalid)
	}
	if o.MinCoverage == 0 {
		o.MinCoverage = DefaultMinCoverage
	}
	if !(o.MinCoverage > 0 && o.MinCoverage <= 1) {
		return o, fmt.Errorf("match: minimum coverage %v: want above 0 and at most 1: %w", o.MinCoverage, fault.ErrInvalid)
	}
	return o, nil
}

// Finding is one place where a clip is played.
type Finding struct {
	Clip   int    // its number in the index
	ID     string // that it was added with
	Offset int    // samples from the start of the episode to where the clip begins, at least 0
	// Length is how many samples of the episode the clip takes, at most up to its end. If an end of
	// the clip was cut, only the samples from the first matching block, or to the last one, count.
	Length   int
	Coverage float64 // share of the clip found there, 0 to 1
	Score    float64 // how sure; the threshold to 1
	// PartFrom and PartTo are the samples of the clip between which it is found. If an eighth of
	// the clip's power or more is missing where it begins or ends, they are accurate to a quarter of a second;
	// else they are the clip's ends.
	PartFrom, PartTo int
	Speed            float64 // 1.01 is 1 % faster than the clip
	How              How
	// Within is the ID of a longer clip found around this one; "" if none is.
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

// Part is PartFrom and PartTo as times.
func (f Finding) Part() (from, to time.Duration) { return samples(f.PartFrom), samples(f.PartTo) }

// Duration is the length as time.
func (f Finding) Duration() time.Duration { return samples(f.Length) }

func samples(n int) time.Duration { return time.Duration(n) * (time.Second / RateHz) }
