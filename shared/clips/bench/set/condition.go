package set

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A condition is a change that shows make to a clip when they play it. Its parameters are
// drawn for each insertion, from ranges that were chosen independently of the speeds, bands
// and lengths at which an index or a search has steps.
type condition struct {
	name string
	// fits reports whether a clip of that length may be played so; nil is usualLength.
	fits func(seconds float64) bool
	draw func(r *rand.Rand) play
	// apart is set if the condition plays less than 60 % of a clip, plays a clip below 0.5 s,
	// or plays it more than 6 dB under another sound. It does not count for the overall target.
	apart bool
}

// play is a condition with its parameters. The zero value plays a clip as it is.
type play struct {
	detail  string   // the parameters, for people
	sox     string   // effects, in the syntax of sox
	codecs  []string // passed through one after the other, such as "mp3 48"
	gainDB  float64  // relative to the common loudness
	over    bool     // another sound is played under it, overDB quieter than the clip
	overDB  float64
	speed   float64 // 1.03 is 3 % faster; 0 is unchanged
	from    float64 // share of the clip at which it begins
	to      float64 // and ends; 0 is its end
	fade    float64 // share of the clip that fades in, and that fades out
	dc      float32 // added to all samples
	clipped float64 // dB by which it exceeds full scale before it is clipped
	mid     float64 // share in the mid channel of a stereo recording; 0 is 1 if side is 0, too
	side    float64 // share in the side channel
	again   bool    // played twice in a row
	second  bool    // another clip begins before it has ended
}

func usualLength(s float64) bool { return s >= .5 && s <= 15 }

// between draws a number from a range.
func between(r *rand.Rand, low, high float64) float64 { return low + (high-low)*r.Float64() }

// maxChange of speed, tempo and pitch, as a share.
const maxChange = .04

// conditions are in the order of the tables.
var conditions = []condition{
	{name: "clean", draw: func(*rand.Rand) play { return play{} }},
	{name: "gain", draw: func(r *rand.Rand) play {
		g := between(r, -20, 3)
		return play{gainDB: g, detail: fmt.Sprintf("%.1f dB", g)}
	}},
	mix(6), mix(0), mix(-6), mix(-12),
	{name: "equaliser", draw: func(r *rand.Rand) play {
		var bands []string
		for range 3 {
			bands = append(bands, fmt.Sprintf("equalizer %.0f %.2fq %.1f", between(r, 150, 3500), between(r, .5, 2), between(r, -12, 12)))
		}
		return sox("gain -12 %s", strings.Join(bands, " "))
	}},
	{name: "compressor", draw: func(r *rand.Rand) play {
		return sox("compand %.3f,%.2f 6:-70,-60,-%.0f,-%.0f -5 -90 0.1", between(r, .005, .05), between(r, .1, .8), between(r, 20, 40), between(r, 10, 18))
	}},
	{name: "limiter", draw: func(r *rand.Rand) play { return sox("gain -l %.1f", between(r, 6, 18)) }},
	{name: "telephone", draw: func(r *rand.Rand) play {
		return sox("rate 8000 sinc %.0f-%.0f", between(r, 250, 400), between(r, 3000, 3500))
	}},
	{name: "MP3, AAC", draw: func(r *rand.Rand) play {
		p := play{codecs: []string{"mp3 48", fmt.Sprintf("aac %.0f", between(r, 40, 96))}}
		p.detail = strings.Join(p.codecs, ", ")
		return p
	}},
	{name: "Opus", draw: func(*rand.Rand) play { return play{codecs: []string{"opus 24"}, detail: "opus 24"} }},
	{name: "speed", draw: func(r *rand.Rand) play {
		v := 1 + between(r, -maxChange, maxChange)
		p := sox("speed %.5f", v)
		p.speed = v
		return p
	}},
	{name: "tempo", draw: func(r *rand.Rand) play {
		v := 1 + between(r, -maxChange, maxChange)
		p := sox("tempo -s %.5f", v)
		p.speed = v
		return p
	}},
	{name: "pitch", draw: func(r *rand.Rand) play { return sox("pitch %.1f", between(r, -68, 68)) }}, // cents: 4 %
	{name: "inverted", draw: func(*rand.Rand) play { return play{mid: -1} }},
	{name: "one channel", draw: func(*rand.Rand) play { return play{mid: .5, side: .5} }},
	{name: "antiphase", draw: func(*rand.Rand) play { return play{side: 1} }},
	{name: "DC", draw: func(r *rand.Rand) play {
		v := between(r, .02, .2)
		return play{dc: float32(v), detail: fmt.Sprintf("%.2f", v)}
	}},
	{name: "clipping", draw: func(r *rand.Rand) play {
		v := between(r, 6, 18)
		return play{clipped: v, detail: fmt.Sprintf("%.1f dB", v)}
	}},
	{name: "fades", draw: func(r *rand.Rand) play {
		v := between(r, .1, .3)
		return play{fade: v, detail: fmt.Sprintf("%.2f of it", v)}
	}},
	{name: "reverb", draw: func(r *rand.Rand) play {
		return sox("gain -6 reverb %.0f 50 %.0f", between(r, 20, 60), between(r, 30, 100))
	}},
	{name: "tail or head cut", draw: func(r *rand.Rand) play {
		kept := between(r, .6, .9)
		if r.IntN(2) == 0 {
			return part(0, kept)
		}
		return part(1-kept, 1)
	}},
	{name: "twice in a row", draw: func(*rand.Rand) play { return play{again: true} }},
	{name: "overlapping", draw: func(*rand.Rand) play { return play{second: true} }},
	{name: "0.5 to 1 s", fits: func(s float64) bool { return s >= .5 && s < 1 }, draw: func(*rand.Rand) play { return play{} }},
	{name: "2 min", fits: func(s float64) bool { return s >= minLongS }, draw: func(*rand.Rand) play { return play{} }},
	{name: "0.3 to 0.5 s", fits: func(s float64) bool { return s >= .3 && s < .5 }, draw: func(*rand.Rand) play { return play{} }, apart: true},
	{name: "first half", fits: halves, draw: func(r *rand.Rand) play { return part(0, between(r, .45, .55)) }, apart: true},
	{name: "second half", fits: halves, draw: func(r *rand.Rand) play { return part(between(r, .45, .55), 1) }, apart: true},
	{name: "middle half", fits: halves, draw: func(r *rand.Rand) play {
		from := between(r, .15, .35)
		return part(from, from+between(r, .45, .55))
	}, apart: true},
	{name: "a third", fits: func(s float64) bool { return s >= 3.3 && s <= 15 }, draw: func(r *rand.Rand) play {
		from := between(r, 0, .66)
		return part(from, from+1./3)
	}, apart: true},
}

// halves reports whether each half of a clip lasts at least a second.
func halves(s float64) bool { return s >= 2.3 && s <= 15 }

// mix returns the condition in which a clip is played over another sound that is db quieter than
// it.
func mix(db float64) condition {
	return condition{
		name: fmt.Sprintf("mix %+.0f dB", db), apart: db < -6,
		draw: func(*rand.Rand) play { return play{over: true, overDB: db} },
	}
}

// sox returns a play with effects of sox, in its syntax.
func sox(format string, values ...any) play {
	effects := fmt.Sprintf(format, values...)
	return play{sox: effects, detail: effects}
}

// part returns a play of the part of a clip between two shares of it.
func part(from, to float64) play {
	return play{from: from, to: to, detail: fmt.Sprintf("%.2f to %.2f of it", from, to)}
}

// Conditions returns the names of all conditions, in the order of the tables.
func Conditions() []string {
	var names []string
	for _, c := range conditions {
		names = append(names, c.name)
	}
	return names
}

// Apart reports whether a condition leaves so little of a clip that it does not count for
// the overall target: less than 60 % of the clip, less than 0.5 s, or more than 6 dB under
// another sound.
func Apart(name string) bool {
	for _, c := range conditions {
		if c.name == name {
			return c.apart
		}
	}
	return false
}

// apply returns the clip as it sounds under the condition, and the number of samples that are
// missing at its start. It does not change clip. dir has the files of the tools.
func (p play) apply(ctx context.Context, clip []float32, dir string) (x []float32, missing int, err error) {
	x = clip
	if p.sox != "" {
		if x, err = effect(ctx, x, p.sox, dir); err != nil {
			return nil, 0, err
		}
	}
	for _, codec := range p.codecs {
		if x, err = transcode(ctx, x, codec, dir); err != nil {
			return nil, 0, err
		}
	}
	if p.clipped > 0 {
		x = gain(x, decibel(p.clipped)*peak/loudest(x))
		for i, v := range x {
			x[i] = max(-peak, min(v, peak))
		}
		x = level(x)
	}
	if to := p.to; to > 0 {
		missing = int(p.from * float64(len(x)))
		x = fade(append([]float32(nil), x[missing:min(len(x), int(to*float64(len(x))))]...), shortFade)
	}
	if p.fade > 0 {
		x = fade(append([]float32(nil), x...), int(p.fade*float64(len(x))))
	}
	if p.dc != 0 {
		x = append([]float32(nil), x...)
		for i := range x {
			x[i] += p.dc
		}
	}
	return x, missing, nil
}

// effect applies sox effects to a sound, by files in dir, in which only one call may run at a time.
// -R makes the result the same each time.
func effect(ctx context.Context, x []float32, effects, dir string) ([]float32, error) {
	in, out := filepath.Join(dir, "in.wav"), filepath.Join(dir, "out.wav")
	if err := WriteWAV(in, x, rateHz); err != nil {
		return nil, err
	}
	args := append([]string{"-R", in, "-b", "24", out}, strings.Fields(effects)...)
	if _, err := run(ctx, dir, "sox", args...); err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(out) }() // the whole folder is removed later
	return load(ctx, out)
}

// encoders are ffmpeg's names of the encoders, and the endings of file formats that state the
// encoder's delay.
var encoders = map[string][2]string{"mp3": {"libmp3lame", ".mp3"}, "aac": {"aac", ".m4a"}, "opus": {"libopus", ".opus"}}

// transcode encodes a sound, as in "opus 24" (kbit/s), and decodes it. The result is not longer
// than the sound. The encoder must be one of encoders.
func transcode(ctx context.Context, x []float32, codec, dir string) ([]float32, error) {
	name, rate, _ := strings.Cut(codec, " ")
	kbps, err := strconv.Atoi(rate)
	if err != nil {
		return nil, err
	}
	in, out := filepath.Join(dir, "in.wav"), filepath.Join(dir, "out"+encoders[name][1])
	if err := WriteWAV(in, x, rateHz); err != nil {
		return nil, err
	}
	_, err = run(ctx, dir, "ffmpeg", "-nostdin", "-v", "error", "-y", "-i", in, "-c:a", encoders[name][0], "-b:a", fmt.Sprintf("%dk", kbps), out)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(out) }() // the whole folder is removed later
	y, err := load(ctx, out)
	return y[:min(len(x), len(y))], err
}
