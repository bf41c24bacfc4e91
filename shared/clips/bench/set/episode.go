package set

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

const minStretch = rateHz // samples of background between two insertions

// turn is one clip to be played under a condition.
type turn struct {
	condition condition
	clips     []Clip // more than one if the condition needs it
}

// piece is the sound of a turn. Offsets count from its start.
type piece struct {
	wave   []float32
	mid    float64 // share of the wave in the mid channel
	side   float64 // share in the side channel
	played []Insertion
}

// turns returns the turns of the set in a random order. A condition has PerCondition turns,
// unless no clip fits or maxLong is reached. Clips are to be played about equally often: one that
// was played goes to the end of the list, and the first that fits is played.
func (b *builder) turns() []turn {
	var clips []Clip
	for _, c := range b.set.Clips {
		if c.Played {
			clips = append(clips, c)
		}
	}
	b.rand.Shuffle(len(clips), func(i, j int) { clips[i], clips[j] = clips[j], clips[i] })
	var all []turn
	for _, c := range conditions {
		fits := c.fits
		if fits == nil {
			fits = usualLength
		}
		for range b.recipe.PerCondition {
			t := turn{condition: c}
			for range 1 + btoi(c.name == "overlapping") {
				i := slices.IndexFunc(clips, func(c Clip) bool { return fits(c.DurationS) })
				if i < 0 {
					break
				}
				c := clips[i]
				clips = append(slices.Delete(clips, i, i+1), c) // its next turn is the last
				t.clips = append(t.clips, c)
			}
			if len(t.clips) == 0 || c.name == "2 min" && len(all) > 0 && longTurns(all) >= maxLong {
				break
			}
			all = append(all, t)
		}
	}
	b.rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// maxLong is the most turns of two-minute clips, so that they do not fill the set.
const maxLong = 8

// longTurns counts the turns of two-minute clips.
func longTurns(all []turn) int {
	n := 0
	for _, t := range all {
		n += btoi(t.clips[0].DurationS >= minLongS)
	}
	return n
}

// btoi returns 1 for true and 0 for false.
func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// render returns the sound of one turn: each of its clips under the condition, twice in a row or
// overlapping if the condition is such, mixed with its background. Insertions count from the start
// of the piece: OffsetS is where the clip would begin, HeardS where what is played of it begins.
func (b *builder) render(ctx context.Context, t turn) (piece, error) {
	how := t.condition.draw(b.rand)
	p := piece{mid: how.mid, side: how.side}
	if p.mid == 0 && p.side == 0 {
		p.mid = 1
	}
	at := 0
	for i, clip := range t.clips {
		x, err := load(ctx, b.set.Path(clip.File))
		if err != nil {
			return p, err
		}
		x, missing, err := how.apply(ctx, level(x), b.scratch)
		if err != nil {
			return p, err
		}
		speed := how.speed
		if speed == 0 {
			speed = 1
		}
		for range 1 + btoi(how.again) {
			p.add(x, at, Insertion{
				Clip: clip.ID, OffsetS: seconds(at - missing), HeardS: seconds(at), DurationS: seconds(len(x)),
				Condition: t.condition.name, Detail: how.detail, Speed: speed,
			})
			at += len(x)
		}
		if i == 0 && how.second {
			at = int(between(b.rand, .5, .75) * float64(len(x)))
		}
	}
	return p, b.mix(ctx, how, &p)
}

// add mixes a sound into the piece at a sample, and notes its insertion. The piece grows as
// needed.
func (p *piece) add(x []float32, at int, i Insertion) {
	if missing := at + len(x) - len(p.wave); missing > 0 {
		p.wave = append(p.wave, make([]float32, missing)...)
	}
	addAt(p.wave, x, at)
	p.played = append(p.played, i)
}

// mix brings a piece to its level or, if the condition plays it over something (over), puts speech
// or music of as many decibels less (overDB) under it, and notes which. If the loudest sample would
// exceed peak, all become quieter.
func (b *builder) mix(ctx context.Context, how play, p *piece) error {
	if !how.over {
		p.wave = gain(p.wave, decibel(how.gainDB))
	} else {
		from := b.background.speech
		if b.rand.IntN(2) == 0 {
			from = b.background.music
		}
		under, err := from.next(ctx, len(p.wave))
		if err != nil {
			return err
		}
		p.wave = gain(p.wave, decibel(how.overDB/2))
		addAt(p.wave, gain(under, decibel(-how.overDB/2)), 0)
		for i := range p.played {
			p.played[i].Detail = "over " + string(from.kind)
		}
	}
	if most := loudest(p.wave); most > peak {
		p.wave = gain(p.wave, peak/most)
	}
	return nil
}

// episode plays turns with stretches of background between them, and encodes the result in stereo:
// background on both sides alike, a piece in the middle or partly on one side. The times of
// insertions count from the start of the episode then.
func (b *builder) episode(ctx context.Context, number, kbps int, turns []turn) (Episode, error) {
	e := Episode{File: fmt.Sprintf("episode-%d.mp3", number), Kbps: kbps}
	var pieces []piece
	spare := samples(b.recipe.EpisodeS)
	for _, t := range turns {
		p, err := b.render(ctx, t)
		if err != nil {
			return e, fmt.Errorf("%s: %w", t.condition.name, err)
		}
		pieces = append(pieces, p)
		spare -= len(p.wave) + minStretch
	}
	var left, right []float32
	for i, n := range b.stretches(len(pieces)+1, spare) {
		x, err := b.background.next(ctx, n)
		if err != nil {
			return e, err
		}
		left, right = append(left, fade(x, shortFade)...), append(right, x...) // the same samples
		if i == len(pieces) {
			break
		}
		p := pieces[i]
		for _, in := range p.played {
			in.OffsetS += seconds(len(left))
			in.HeardS += seconds(len(left))
			e.Played = append(e.Played, in)
		}
		left, right = append(left, gain(p.wave, p.mid+p.side)...), append(right, gain(p.wave, p.mid-p.side)...)
	}
	e.DurationS = seconds(len(left))
	return e, b.encode(ctx, e, left, right)
}

// free makes an episode of background without clips. The speed of each stretch differs by 7 to 25
// %, and about half of the stretches are played backwards, so that a recording sounds different
// each time it is played; else its own repeats could be taken for clips.
func (b *builder) free(ctx context.Context, number int, length float64) (Episode, error) {
	e := Episode{File: fmt.Sprintf("free-%d.mp3", number), Kbps: 64, DurationS: length, Free: true}
	wave := make([]float32, 0, samples(e.DurationS)+60*rateHz)
	for len(wave) < samples(e.DurationS) {
		x, err := b.background.next(ctx, 40*rateHz)
		if err != nil {
			return e, err
		}
		percent := 107 + b.rand.IntN(19)
		if b.rand.IntN(2) == 0 {
			percent = 200 - percent
		}
		if x, err = stretched(x, percent); err != nil {
			return e, err
		}
		if b.rand.IntN(2) == 0 {
			slices.Reverse(x)
		}
		wave = append(wave, fade(x, shortFade)...)
	}
	wave = wave[:samples(e.DurationS)]
	return e, b.encode(ctx, e, wave)
}

// stretches returns the lengths of n stretches of background, each at least minStretch, which
// divide the spare samples at random. Without spare samples each is minStretch.
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

// encode writes channels of equal length as the MP3 of an episode, with its bitrate.
func (b *builder) encode(ctx context.Context, e Episode, channels ...[]float32) error {
	wav := filepath.Join(b.scratch, "episode.wav")
	if err := writeWAV(wav, rateHz, channels...); err != nil {
		return err
	}
	defer func() { _ = os.Remove(wav) }() // the whole folder is removed later
	_, err := run(ctx, b.scratch, "lame", "--quiet", "-b", strconv.Itoa(e.Kbps), wav, b.set.Path(e.File))
	return err
}
