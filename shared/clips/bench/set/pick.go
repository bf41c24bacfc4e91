package set

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"leasehold/shared/clips"
	"leasehold/shared/clips/decode"
	"leasehold/shared/clips/resample"
)

const (
	minClipS, maxClipS = .3, 15.0
	minLongS, maxLongS = 100.0, 119.0 // length of long cuts; their share is longShare
	longShare          = .06
	minCutS            = .8   // shortest cut of music
	minLevel           = .003 // root mean square; less is silence
	maxTries           = 60   // most attempts to cut a clip out of one track
)

// candidate is a clip that may become part of the set.
type candidate struct {
	Clip
	wave []float32 // at clips.RateHz, for the comparisons
}

// pool is the material of one kind for a set.
type pool struct {
	kind        Kind
	clips       []string // files that are clips, or from which clips are cut
	backgrounds []string
	whole       bool
}

// split divides the files of each material: half may become clips, the other half
// backgrounds; effects are never backgrounds.
func split(r *rand.Rand, m Material, files []string) pool {
	files = slices.Clone(files)
	r.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	half := (len(files) + 1) / 2
	if m.Kind == Effect {
		half = len(files)
	}
	return pool{kind: m.Kind, clips: files[:half], backgrounds: files[half:], whole: m.Whole}
}

// pick takes up to n clips out of a pool, evenly over its files, and stores them in the set's
// folder. A whole file is tried once, a track up to maxTries times, because a cut may be too quiet
// or repeat itself.
func (b *builder) pick(ctx context.Context, p pool, n int) ([]candidate, error) {
	var all []candidate
	tries := 1
	if !p.whole {
		tries = maxTries
	}
	for i, path := range p.clips {
		due := n * (i + 1) / len(p.clips) // after this file
		if p.whole {
			due = n
		}
		for range tries {
			if len(all) >= due {
				break
			}
			c, ok, err := b.candidate(ctx, p, path)
			if err != nil {
				return nil, err
			}
			if ok {
				all = append(all, c)
			}
		}
	}
	return all, nil
}

// candidate makes a clip of a file and stores it. ok is false if the file cannot be decoded,
// because packages have files without sound and damaged ones, or if the clip is too quiet, repeats
// itself or has no permitted length.
func (b *builder) candidate(ctx context.Context, p pool, path string) (c candidate, ok bool, err error) {
	x, err := b.track(ctx, path)
	if errors.As(err, new(*decode.Error)) {
		return c, false, nil
	}
	if err != nil {
		return c, false, err
	}
	source, _ := filepath.Rel(b.packages, path)
	if !p.whole {
		var from int
		x, from = b.cut(x)
		source = fmt.Sprintf("%s at %.3f", source, seconds(from))
	}
	if s := seconds(len(x)); s < minClipS || s > maxClipS && s < minLongS || s > maxLongS || math.Sqrt(power(x)) < minLevel {
		return c, false, nil
	}
	r, err := resample.New(rateHz, clips.RateHz)
	if err != nil {
		return c, false, err
	}
	wave := r.Flush(r.Push(nil, x))
	if repeats(wave) {
		return c, false, nil
	}
	b.count++
	c = candidate{wave: wave, Clip: Clip{
		ID: fmt.Sprintf("%s-%04d", p.kind, b.count), Kind: p.kind, Source: source, DurationS: seconds(len(x)),
	}}
	c.File = "clips/" + c.ID + ".wav"
	c.Class = c.ID
	return c, true, WriteWAV(filepath.Join(b.set.Dir, c.File), x, rateHz)
}

// cut takes a piece out of a track at random, fades its ends, and returns its first sample. The
// logarithm of its length is drawn evenly, except for the long cuts. A track no longer than the
// piece has none.
func (b *builder) cut(x []float32) (piece []float32, from int) {
	length := samples(minCutS * math.Pow(maxClipS/minCutS, b.rand.Float64()))
	if b.rand.Float64() < longShare {
		length = samples(between(b.rand, minLongS, maxLongS))
	}
	if length >= len(x) {
		return nil, 0
	}
	from = b.rand.IntN(len(x) - length)
	return fade(slices.Clone(x[from:from+length]), shortFade), from
}

// track decodes a file. It keeps the last one, because several clips are cut from it; so the
// caller must not change the result. The error names the file.
func (b *builder) track(ctx context.Context, path string) ([]float32, error) {
	if b.lastPath == path {
		return b.last, nil
	}
	x, err := load(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	b.lastPath, b.last = path, x
	return x, nil
}
