package set

import (
	"context"
	"math/rand/v2"
)

const (
	underMusic = -15.0 // dB of music under speech
	minScene   = 15    // seconds of one kind of background
	maxScene   = 45
	maxPause   = .4 // seconds between two prompts
)

// background is what goes on between the clips: speech, speech over music, music.
type background struct {
	rand   *rand.Rand
	speech *recording
	music  *recording
	scene  int // what is played: 0 and 1 speech, 2 both, 3 music
	left   int // samples until the next scene
}

// next returns the next n samples of the background.
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

// recording plays files one after another, in a random order, again and again.
type recording struct {
	rand  *rand.Rand
	files []string
	pause float64 // up to so many seconds between two
	order []int
	rest  []float32
}

func (t *recording) next(ctx context.Context, n int) ([]float32, error) {
	out := make([]float32, 0, n)
	for len(out) < n {
		if len(t.rest) == 0 {
			if err := t.turn(ctx); err != nil {
				return nil, err
			}
		}
		k := min(len(t.rest), n-len(out))
		out = append(out, t.rest[:k]...)
		t.rest = t.rest[k:]
	}
	return out, nil
}

// turn starts the next file.
func (t *recording) turn(ctx context.Context) error {
	if len(t.order) == 0 {
		t.order = t.rand.Perm(len(t.files))
	}
	x, err := load(ctx, t.files[t.order[0]])
	if err != nil {
		return err
	}
	t.order = t.order[1:]
	t.rest = append(fade(level(x)), make([]float32, samples(t.pause*t.rand.Float64()))...)
	return nil
}
