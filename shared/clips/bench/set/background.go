package set

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"leasehold/shared/clips"
	"leasehold/shared/clips/decode"
)

const (
	underMusic = -15.0 // dB of music under speech
	minScene   = 15    // seconds of one kind of background
	maxScene   = 45
	maxPause   = .4 // seconds between two prompts
	maxPartS   = 180
)

// background is the sound between the clips: speech, speech over music, or music.
type background struct {
	rand   *rand.Rand
	speech *recording
	music  *recording
	scene  int // kind of the current scene: 0 and 1 speech, 2 both, 3 music
	left   int // samples until the next scene
}

// next returns the next n samples of the background: scenes of random lengths, each of speech, of
// music, or of both.
func (b *background) next(ctx context.Context, n int) ([]float32, error) {
	out := make([]float32, 0, n)
	for len(out) < n {
		if b.left == 0 {
			b.scene, b.left = b.rand.IntN(4), rateHz*(minScene+b.rand.IntN(maxScene-minScene))
		}
		part, err := b.part(ctx, min(b.left, n-len(out)))
		if err != nil {
			return nil, err
		}
		b.left -= len(part)
		out = append(out, part...)
	}
	return out, nil
}

// part returns the next n samples of the current scene, which lasts at least as long: speech in
// scenes 0 and 1, speech over quiet music in 2, music in 3.
func (b *background) part(ctx context.Context, n int) ([]float32, error) {
	if b.scene == 3 {
		return b.music.next(ctx, n)
	}
	out, err := b.speech.next(ctx, n)
	if err != nil || b.scene < 2 {
		return out, err
	}
	music, err := b.music.next(ctx, n)
	if err != nil {
		return nil, err
	}
	addAt(out, gain(music, decibel(underMusic)), 0)
	return out, nil
}

// recording plays the first maxPartS seconds of each file, in a random order. After the last
// file it draws a new order.
type recording struct {
	rand  *rand.Rand
	kind  Kind
	files []string
	pause float64 // most seconds between two files
	order []int
	rest  []float32
	// known has the part of each played file, 0.2 MB a second, so that each is decoded and
	// resampled once: twenty clip-free hours play it some thirty times.
	known map[string][]float32
}

// next returns the next n samples of the files in their order.
func (r *recording) next(ctx context.Context, n int) ([]float32, error) {
	out := make([]float32, 0, n)
	for len(out) < n {
		if len(r.rest) == 0 {
			if err := r.startNext(ctx); err != nil {
				return nil, err
			}
		}
		k := min(len(r.rest), n-len(out))
		out = append(out, r.rest[:k]...)
		r.rest = r.rest[k:]
	}
	return out, nil
}

// startNext starts the next file, and a pause behind it. All files are played in a random order
// before one is played again.
func (r *recording) startNext(ctx context.Context) error {
	if len(r.order) == 0 {
		r.order = r.rand.Perm(len(r.files))
	}
	x, err := r.load(ctx, r.files[r.order[0]])
	if err != nil {
		return err
	}
	r.order = r.order[1:]
	r.rest = append(slices.Clone(x), make([]float32, samples(r.pause*r.rand.Float64()))...)
	return nil
}

// load returns the part of a played file. It is kept for the next time, so the caller must not
// change it.
func (r *recording) load(ctx context.Context, path string) ([]float32, error) {
	if x := r.known[path]; x != nil {
		return x, nil
	}
	x, err := load(ctx, path)
	if err != nil {
		return nil, err
	}
	x = fade(level(x[:min(len(x), maxPartS*rateHz)]), shortFade)
	if r.known == nil {
		r.known = map[string][]float32{}
	}
	r.known[path] = x
	return x, nil
}

// enough returns as many of the first files as last the given seconds together (0: all), and the
// parts of them to play, at clips.RateHz. Files that cannot be decoded are left out: packages have
// files without sound, damaged ones, and some that last too long.
func enough(ctx context.Context, files []string, seconds float64) (some []string, wave []float32, err error) {
	for _, path := range files {
		if seconds > 0 && float64(len(wave)) >= seconds*clips.RateHz {
			break
		}
		x, err := clips.Load(ctx, path, maxTrack)
		if errors.As(err, new(*decode.Error)) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		some, wave = append(some, path), append(wave, x[:min(len(x), maxPartS*clips.RateHz)]...)
	}
	return some, wave, nil
}
