package cliplint

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/match"
)

const (
	gap       = RateHz // of silence between two clips
	whole     = .8     // coverage from which a clip counts as found
	sameStart = .05    // seconds by which duplicates may differ at either end
)

// comparison is an episode that plays all clips of an index in order, with gaps, over a background.
type comparison struct {
	index      *index.Index
	background background
	starts     []int // first sample of each clip
	next, end  int   // next clip to play, and the one before which the episode ends
	rest       []float32
}

// newComparison returns an episode of all clips of an index over a background.
func newComparison(x *index.Index, b background) *comparison {
	p := &comparison{index: x, background: b, end: x.Clips()}
	at := 0
	for i := range x.Clips() {
		p.starts = append(p.starts, at)
		at += x.Samples(i) + gap
	}
	return p
}

// Read implements match.Reader: each clip in turn over the background, and a gap behind it. It
// fails only with io.EOF, behind the last one.
func (p *comparison) Read(dst []float32) (int, error) {
	if len(p.rest) == 0 {
		if p.next == p.end {
			return 0, io.EOF
		}
		wave := p.index.Wave(p.next)
		p.rest = slices.Concat(wave, make([]float32, gap))
		p.background.addUnder(p.rest, len(wave), p.starts[p.next])
		p.next++
	}
	n := copy(dst, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// at returns the number of the clip played at a sample.
func (p *comparison) at(sample int) int { return sort.SearchInts(p.starts, sample+1) - 1 }

// compare searches for each clip in the others, and reports at most one fault for each clip, in the
// order of the episode. Of two clips with the same sound, it reports the later one. A clip within a
// longer one is Contained.
func compare(ctx context.Context, x *index.Index) ([]Notice, error) {
	var all []Notice
	named := map[int]bool{}
	p := newComparison(x, background{})
	err := match.Find(ctx, x, p, match.Options{}, func(f match.Finding) error {
		host := p.at(f.Offset + f.Length/2)
		if host == f.Clip || f.Coverage < whole || named[f.Clip] {
			return nil
		}
		start := float64(f.Offset-p.starts[host]) / RateHz
		end := float64(x.Samples(host)-x.Samples(f.Clip))/RateHz - start // seconds of the host after the clip
		same := math.Abs(start) <= sameStart && math.Abs(end) <= sameStart
		switch {
		case same && host < f.Clip:
			all = append(all, Notice{
				Clip: f.ID, Fault: Duplicate, Other: x.ID(host), OffsetS: start,
				Why: fmt.Sprintf("the same sound as %s%s", x.ID(host), pace(f.Speed)), Advice: "remove one of the two",
			})
		case !same && x.Samples(f.Clip) < x.Samples(host):
			all = append(all, Notice{
				Clip: f.ID, Fault: Contained, Other: x.ID(host), OffsetS: start,
				Why:    fmt.Sprintf("part of %s, at %.2f s%s, and found wherever that is", x.ID(host), start, pace(f.Speed)),
				Advice: "keep both only if each is played alone",
			})
		default:
			return nil
		}
		named[f.Clip] = true
		return nil
	})
	return all, err
}

// pace describes the speed of a clip in percent. It returns "" within 0.5 % of normal speed.
func pace(speed float64) string {
	if math.Abs(speed-1) < .005 {
		return ""
	}
	return fmt.Sprintf(" (%+.0f %% faster)", 100*(speed-1))
}
