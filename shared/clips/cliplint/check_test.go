package cliplint_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/cliplint"
	"leasehold/shared/fault"
)

const rate = cliplint.RateHz

// tune returns plucked notes of random pitch for a number of seconds.
func tune(seed uint64, seconds float64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, int(seconds*rate))
	for at := 0; at < len(x); at += rate / 8 {
		for range 2 {
			f := 200 * math.Pow(2, 3*r.Float64())
			for i := at; i < min(len(x), at+rate/4); i++ {
				t := float64(i-at) / rate
				for h := 1.; h < 5; h++ {
					x[i] += float32(.1 / h * math.Exp(-8*t) * math.Sin(2*math.Pi*f*h*t))
				}
			}
		}
	}
	return x
}

// noise returns white noise, or coloured noise if a share of each sample leaks into the next.
func noise(seed uint64, seconds, leak float64) []float32 {
	r := rand.New(rand.NewPCG(seed, 2))
	x := make([]float32, int(seconds*rate))
	last := 0.0
	for i := range x {
		last = leak*last + r.NormFloat64()
		x[i] = float32(.05 * last)
	}
	return x
}

func tone(seconds float64) []float32 {
	x := make([]float32, int(seconds*rate))
	for i := range x {
		x[i] = float32(.3 * math.Sin(float64(i)/7))
	}
	return x
}

func clip(name string, wave []float32) cliplint.Clip {
	return cliplint.Clip{Name: name, Load: func(context.Context) ([]float32, error) { return wave, nil }}
}

func broken(name string, err error) cliplint.Clip {
	return cliplint.Clip{Name: name, Load: func(context.Context) ([]float32, error) { return nil, err }}
}

func TestEachFaultIsNamed(t *testing.T) {
	t.Parallel()
	long, other := tune(1, 6), tune(2, 2)
	part := slices.Clone(long[2*rate : 4*rate])
	quieter := slices.Clone(other)
	for i := range quieter {
		quieter[i] /= 2
	}
	notices, err := cliplint.Check(t.Context(), []cliplint.Clip{
		clip("long", long),
		clip("other", other),
		clip("third", tune(3, 3)),
		clip("silence", make([]float32, 2*rate)),
		clip("nothing", nil),
		clip("constant", slices.Repeat([]float32{.3}, 2*rate)),
		clip("blip", tune(4, .1)),
		clip("blip in silence", append(make([]float32, 2*rate), tune(4, .1)...)),
		clip("programme", make([]float32, 200*rate)),
		broken("page", fmt.Errorf("looks like an HTML page: %w", fault.ErrInvalid)),
		clip("white", noise(1, 2, 0)),
		clip("rumble", noise(2, 2, .95)),
		clip("tone", tone(2)),
		clip("again", quieter),
		clip("part", part),
	})
	require.NoError(t, err)
	got := map[string]cliplint.Fault{}
	for _, n := range notices {
		got[n.Clip] = n.Fault
		require.NotEmpty(t, n.Advice, n.Clip)
		require.Contains(t, n.Text(), string(n.Fault))
	}
	require.Equal(t, map[string]cliplint.Fault{
		"silence": cliplint.Silent, "nothing": cliplint.Silent, "constant": cliplint.Silent, "blip": cliplint.TooShort, "blip in silence": cliplint.TooShort,
		"programme": cliplint.TooLong, "page": cliplint.Unreadable, "white": cliplint.Noise, "rumble": cliplint.Noise,
		"tone": cliplint.Steady, "again": cliplint.Duplicate, "part": cliplint.Contained,
	}, got)
	last := notices[len(notices)-1]
	require.Equal(t, "long", last.Other)
	require.InDelta(t, 2, last.OffsetS, .005)
}

func TestWhatMayPassEndsTheCheck(t *testing.T) {
	t.Parallel()
	gone := errors.New("the disk is gone")
	_, err := cliplint.Check(t.Context(), []cliplint.Clip{broken("a", gone)})
	require.ErrorIs(t, err, gone)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = cliplint.Check(ctx, []cliplint.Clip{clip("a", tune(1, 1))})
	require.ErrorIs(t, err, context.Canceled)
}

func TestNoClipsHaveNoFaults(t *testing.T) {
	t.Parallel()
	notices, err := cliplint.Check(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, notices)
}

func ExampleCheck() {
	notices, err := cliplint.Check(context.Background(), []cliplint.Clip{
		clip("jingle.wav", tune(1, 2)),
		clip("blip.wav", tune(2, .1)),
	})
	for _, n := range notices {
		fmt.Printf("%s: %s\n", n.Clip, n.Text())
	}
	fmt.Println(err)
	// Output:
	// blip.wav: too short: 0.10 s of sound; cut it longer, at least 250ms
	// <nil>
}
