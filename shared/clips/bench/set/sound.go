package set

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"time"

	"leasehold/shared/clips"
	"leasehold/shared/clips/resample"
)

const (
	// rateHz is the rate at which episodes are mixed and encoded.
	rateHz = 44100
	// loudness is the root mean square to which everything is brought.
	loudness = 0.08
	peak     = 0.9 // largest magnitude of a sample
	maxTrack = 20 * time.Minute
)

// load decodes a file to rateHz.
func load(ctx context.Context, path string) ([]float32, error) {
	return clips.LoadAt(ctx, path, rateHz, maxTrack)
}

// level brings the sound to the common loudness. It measures the loudness without the pauses, the
// blocks of 20 ms that are 20 dB below the loudest. Silence stays as it is.
func level(x []float32) []float32 {
	const block = rateHz / 50
	var loudest float64
	var powers []float64
	for at := 0; at < len(x); at += block {
		part := x[at:min(len(x), at+block)]
		p := power(part)
		powers = append(powers, p)
		loudest = math.Max(loudest, p)
	}
	sum, n := 0.0, 0
	for _, p := range powers {
		if p > loudest/100 {
			sum, n = sum+p, n+1
		}
	}
	if n == 0 || sum == 0 {
		return x
	}
	return gain(x, loudness/math.Sqrt(sum/float64(n)))
}

// power returns the mean square of a sound, 0 of none.
func power(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum / float64(max(1, len(x)))
}

// gain returns x multiplied by g.
func gain(x []float32, g float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = v * float32(g)
	}
	return out
}

func decibel(db float64) float64 { return math.Pow(10, db/20) }

// shortFade is the length of the fade that avoids a click at a cut, in samples.
const shortFade = rateHz / 200

// fade fades n samples in and n out, in place; at most half of the sound each.
func fade(x []float32, n int) []float32 {
	n = min(len(x)/2, n)
	for i := range n {
		g := float32(i) / float32(n)
		x[i] *= g
		x[len(x)-1-i] *= g
	}
	return x
}

// loudest returns the largest magnitude of a sample.
func loudest(x []float32) float64 {
	most := 0.0
	for _, v := range x {
		most = max(most, math.Abs(float64(v)))
	}
	return most
}

// stretched changes the speed and the pitch of a sound to a percentage. At 125 it lasts four fifths
// as long.
func stretched(x []float32, percent int) ([]float32, error) {
	r, err := resample.New(percent*rateHz/100, rateHz)
	if err != nil {
		return nil, err
	}
	return r.Flush(r.Push(nil, x)), nil
}

// addAt adds y to x from a position on.
func addAt(x, y []float32, at int) {
	for i, v := range y {
		if at+i >= 0 && at+i < len(x) {
			x[at+i] += v
		}
	}
}

func seconds(n int) float64   { return float64(n) / rateHz }
func samples(s float64) int   { return int(math.Round(s * rateHz)) }
func seconds8k(n int) float64 { return float64(n) / clips.RateHz }

// WriteWAV stores mono sound as 16-bit WAV. It clips samples beyond full scale.
func WriteWAV(path string, x []float32, rate int) error { return writeWAV(path, rate, x) }

// writeWAV stores channels of equal length, at least one, as 16-bit WAV. Samples outside -1 to 1
// are cut.
func writeWAV(path string, rate int, channels ...[]float32) error {
	le, frame, size := binary.LittleEndian, 2*len(channels), 2*len(channels)*len(channels[0])
	b := make([]byte, 0, 44+size)
	b = append(b, "RIFF"...)
	b = le.AppendUint32(b, uint32(36+size))
	b = append(b, "WAVEfmt \x10\x00\x00\x00\x01\x00"...)
	b = le.AppendUint16(b, uint16(len(channels)))
	b = le.AppendUint32(b, uint32(rate))
	b = le.AppendUint32(b, uint32(frame*rate))
	b = le.AppendUint16(b, uint16(frame))
	b = append(b, "\x10\x00data"...)
	b = le.AppendUint32(b, uint32(size))
	for i := range channels[0] {
		for _, x := range channels {
			b = le.AppendUint16(b, uint16(int16(math.Round(math.Max(-1, math.Min(1, float64(x[i])))*32767))))
		}
	}
	return os.WriteFile(path, b, 0o644)
}
