package set

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// A condition is what happens to a clip when it is played.
type condition struct {
	name   string
	sox    string  // effects, "" for none
	gainDB float64 // against the loudness of all else
	over   bool    // speech goes on under it, gainDB quieter than the clip
	speed  float64 // how much faster; 0 is as it is
	head   float64 // share of the clip that is cut off at its start
	tail   float64 // and at its end
	times  int     // played so often in a row; 0 is once
	second bool    // another clip begins before it has ended
}

// Conditions in the order of the tables. Those that a time-stretcher made are
// apart: Stretched.
var conditions = []condition{
	{name: "clean"},
	{name: "-12 dB", gainDB: -12},
	{name: "over speech, +10 dB", over: true, gainDB: 10},
	{name: "over speech, 0 dB", over: true},
	{name: "over speech, -5 dB", over: true, gainDB: -5},
	{name: "head cut 25 %", head: .25},
	{name: "tail cut 25 %", tail: .25},
	{name: "11 kHz", sox: "rate 11025"},
	{name: "telephone", sox: "rate 8000 sinc 300-3400"},
	{name: "speed -3 %", sox: "speed 0.97", speed: .97},
	{name: "speed -2 %", sox: "speed 0.98", speed: .98},
	{name: "speed -1 %", sox: "speed 0.99", speed: .99},
	{name: "speed +1 %", sox: "speed 1.01", speed: 1.01},
	{name: "speed +2 %", sox: "speed 1.02", speed: 1.02},
	{name: "speed +3 %", sox: "speed 1.03", speed: 1.03},
	{name: "twice in a row", times: 2},
	{name: "overlapping", second: true},
	{name: tempo, sox: "tempo -s 1.03", speed: 1.03},
	{name: pitch, sox: "pitch 51"}, // cents: 3 %
}

const tempo, pitch = "tempo +3 %", "pitch +3 %"

// Conditions names them, in the order of the tables.
func Conditions() []string {
	var names []string
	for _, c := range conditions {
		names = append(names, c.name)
	}
	return names
}

// Stretched reports whether a condition changes tempo or pitch alone, which moves
// the waveform's parts against each other.
func Stretched(name string) bool { return name == tempo || name == pitch }

// apply returns the clip as it sounds under the condition, and how much of it is
// missing at its start.
func (c condition) apply(ctx context.Context, clip []float32, dir string) (x []float32, missing int, err error) {
	x = clip
	if c.sox != "" {
		if x, err = effect(ctx, clip, c.sox, dir); err != nil {
			return nil, 0, err
		}
	}
	missing = int(c.head * float64(len(x)))
	x = x[missing : len(x)-int(c.tail*float64(len(x)))]
	if c.head+c.tail > 0 {
		x = fade(append([]float32(nil), x...))
	}
	return x, missing, nil
}

// effect has sox change a sound.
func effect(ctx context.Context, x []float32, effects, dir string) ([]float32, error) {
	in, out := filepath.Join(dir, "in.wav"), filepath.Join(dir, "out.wav")
	if err := WriteWAV(in, x, rateHz); err != nil {
		return nil, err
	}
	args := append([]string{"-R", in, "-b", "24", out}, strings.Fields(effects)...)
	if _, err := run(ctx, dir, "sox", args...); err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(out) }() // the folder goes anyway
	return load(ctx, out)
}
