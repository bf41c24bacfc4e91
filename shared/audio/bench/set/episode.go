package set

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

const minStretch = rateHz // of background between two insertions

// turn is one clip to be played under a condition.
type turn struct {
	condition condition
	clips     []Clip // more than one where the condition asks for it
}

// piece is a turn as it sounds; offsets count from its start.
type piece struct {
	wave   []float32
	played []Insertion
}

// turns draws up what is played, in a random order: every condition as often, and
// every clip as often as the others.
func (b *builder) turns() []turn {
	var clips []Clip
	for _, c := range b.set.Clips {
		if c.Played {
			clips = append(clips, c)
		}
	}
	b.rand.Shuffle(len(clips), func(i, j int) { clips[i], clips[j] = clips[j], clips[i] })
	var all []turn
	next := 0
	for range b.recipe.PerCondition {
		for _, c := range conditions {
			t := turn{condition: c}
			for range 1 + btoi(c.second) {
				t.clips = append(t.clips, clips[next%len(clips)])
				next++
			}
			all = append(all, t)
		}
	}
	b.rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// render plays one turn.
func (b *builder) render(ctx context.Context, t turn) (piece, error) {
	var p piece
	at := 0
	for i, clip := range t.clips {
		x, err := load(ctx, b.set.Path(clip.File))
		if err != nil {
			return p, err
		}
		x, missing, err := t.condition.apply(ctx, level(x), b.scratch)
		if err != nil {
			return p, err
		}
		for range max(1, t.condition.times) {
			p.add(x, at, Insertion{
				Clip: clip.ID, OffsetS: seconds(at - missing), HeardS: seconds(at), DurationS: seconds(len(x)),
				Condition: t.condition.name, Speed: max(t.condition.speed, btof(t.condition.speed == 0)),
			})
			at += len(x)
		}
		if i == 0 && t.condition.second {
			at = int((.5 + .25*b.rand.Float64()) * float64(len(x)))
		}
	}
	return p, b.mix(ctx, t.condition, &p)
}

func btof(b bool) float64 { return float64(btoi(b)) }

func (p *piece) add(x []float32, at int, i Insertion) {
	if missing := at + len(x) - len(p.wave); missing > 0 {
		p.wave = append(p.wave, make([]float32, missing)...)
	}
	addAt(p.wave, x, at)
	p.played = append(p.played, i)
}

// mix brings a piece to its level, and puts speech under it if it should.
func (b *builder) mix(ctx context.Context, c condition, p *piece) error {
	if !c.over {
		p.wave = gain(p.wave, decibel(c.gainDB))
	} else {
		under, err := b.speech.next(ctx, len(p.wave))
		if err != nil {
			return err
		}
		p.wave = gain(p.wave, decibel(c.gainDB/2))
		addAt(p.wave, gain(under, decibel(-c.gainDB/2)), 0)
	}
	loudest := 0.0
	for _, v := range p.wave {
		loudest = math.Max(loudest, math.Abs(float64(v)))
	}
	if loudest > peak {
		p.wave = gain(p.wave, peak/loudest)
	}
	return nil
}

// episode plays turns with stretches of background between them, and encodes it.
func (b *builder) episode(ctx context.Context, number, kbps int, turns []turn) (Episode, error) {
	e := Episode{File: fmt.Sprintf("episode-%d.mp3", number), Kbps: kbps}
	var pieces []piece
	spare := samples(b.recipe.EpisodeS)
	for _, t := range turns {
		p, err := b.render(ctx, t)
		if err != nil {
			return e, err
		}
		pieces = append(pieces, p)
		spare -= len(p.wave) + minStretch
	}
	var wave []float32
	for i, n := range b.stretches(len(pieces)+1, spare) {
		x, err := b.background.next(ctx, n)
		if err != nil {
			return e, err
		}
		wave = append(wave, fade(x)...)
		if i == len(pieces) {
			break
		}
		for _, in := range pieces[i].played {
			in.OffsetS += seconds(len(wave))
			in.HeardS += seconds(len(wave))
			e.Played = append(e.Played, in)
		}
		wave = append(wave, pieces[i].wave...)
	}
	e.DurationS = seconds(len(wave))
	return e, b.encode(ctx, e, wave)
}

// stretches divides what is spare at random.
func (b *builder) stretches(n, spare int) []int {
	cuts := []int{0, max(0, spare)}
	for range n - 1 {
		cuts = append(cuts, b.rand.IntN(max(1, spare)))
	}
	slices.Sort(cuts)
	lengths := make([]int, n)
	for i := range lengths {
		lengths[i] = cuts[i+1] - cuts[i] + minStretch
	}
	return lengths
}

func (b *builder) encode(ctx context.Context, e Episode, wave []float32) error {
	wav := filepath.Join(b.scratch, "episode.wav")
	if err := WriteWAV(wav, wave, rateHz); err != nil {
		return err
	}
	defer func() { _ = os.Remove(wav) }() // the folder goes anyway
	_, err := run(ctx, b.scratch, "lame", "--quiet", "-b", strconv.Itoa(e.Kbps), wav, b.set.Path(e.File))
	return err
}
