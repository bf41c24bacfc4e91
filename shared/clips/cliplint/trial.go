package cliplint

import (
	"context"
	"fmt"
	"math"
	"strings"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/match"
)

const (
	// underClip is how far a background is below the clip: 6 dB, as an editor mixes speech or music
	// under a jingle. Most misses of the benchmark are clips at 0 dB or below.
	underClip = .5
	// offPlace is how many samples a finding may lie off the place where the clip is played: as
	// much as a hit of the benchmark may.
	offPlace = RateHz / 4
	// beside is how many clips are played on either side of the explained one.
	beside = 2
)

// findMissed plays each clip of an index over each background, through the search that finds it in
// episodes, and reports the clips that it misses over at least one, with the reasons of the search
// over the first of these.
func findMissed(ctx context.Context, x *index.Index) ([]Notice, error) {
	missed := make([][]string, x.Clips()) // by clip, the names of backgrounds
	why := make([]string, x.Clips())      // over the first of them
	for _, b := range backgrounds() {
		p := newComparison(x, b)
		found := make([]bool, x.Clips())
		err := match.Find(ctx, x, p, match.Options{}, func(f match.Finding) error {
			at := f.Offset - p.starts[f.Clip]
			found[f.Clip] = found[f.Clip] || -offPlace <= at && at <= offPlace
			return nil
		})
		if err != nil {
			return nil, err
		}
		for clip, ok := range found {
			if ok {
				continue
			}
			missed[clip] = append(missed[clip], b.name)
			if why[clip] != "" {
				continue
			}
			if why[clip], err = explain(ctx, x, clip, b); err != nil {
				return nil, err
			}
		}
	}
	var all []Notice
	for clip, names := range missed {
		if len(names) == 0 {
			continue
		}
		all = append(all, Notice{
			Clip: x.ID(clip), Fault: Missed, Why: fmt.Sprintf("played over %s, it is not found: %s", strings.Join(names, " and over "), why[clip]),
			Advice: "cut it longer, or take in speech or music beside it",
		})
	}
	return all, nil
}

// explain returns the reasons of the search for not finding a clip over a background, in an episode
// of this clip and the ones beside it, because those could be the reason too. If it is found there,
// the reason is what else the whole episode plays.
func explain(ctx context.Context, x *index.Index, clip int, b background) (string, error) {
	var builder index.Builder
	if err := builder.Add(x.ID(clip), x.Wave(clip)); err != nil {
		return "", err
	}
	alone, err := builder.Build()
	if err != nil {
		return "", err
	}
	p := newComparison(x, b)
	p.next = max(0, clip-beside)
	from := p.starts[p.next]
	p.end = min(clip+beside+1, x.Clips())
	e, err := match.Explain(ctx, alone, p, p.starts[clip]-from, match.Options{})
	if err != nil {
		return "", err
	}
	if e.Found {
		return "it depends on what is played before and after it", nil
	}
	return strings.Join(e.Reasons, "; "), nil
}

// addUnder mixes a background into x, which begins at the sample at of the episode: the first clip
// samples are a clip, and the rest is the gap behind it. The level is relative to the clip's, so
// nothing is heard under a silent one. The conversions keep the compiler from fusing operations,
// which would round differently on other processors.
func (b background) addUnder(x []float32, clip, at int) {
	if len(b.samples) == 0 {
		return
	}
	sum := 0.0
	for _, v := range x[:clip] {
		sum += float64(float64(v) * float64(v))
	}
	gain := float32(underClip * math.Sqrt(sum/float64(max(1, clip))))
	for i := range x {
		x[i] += float32(gain * b.samples[(at+i)%len(b.samples)])
	}
}
