package verify_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/verify"
	"leasehold/shared/clips/warp"
)

const rate = index.RateHz

func noise(seed uint64, n int, level float64) []float32 {
	r := rand.New(rand.NewPCG(seed, 7))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(level * r.NormFloat64())
	}
	return x
}

// dull is noise with most of its energy at low frequencies, like speech and music.
func dull(seed uint64, n int, level float64) []float32 {
	x, last := noise(seed, n, level), float32(0)
	for i, v := range x {
		last = .8*last + .6*v
		x[i] = last
	}
	return x
}

type memory []float32

func (m memory) ReadAt(dst []float32, offset int) error {
	clear(dst)
	if from := max(0, offset); from < min(len(m), offset+len(dst)) {
		copy(dst[from-offset:], m[from:])
	}
	return nil
}

// played is an episode in which a clip begins at a sample.
func played(clip []float32, at int, gain, under float64) memory {
	e := noise(99, 20*rate, under)
	for i, v := range clip {
		if k := at + i; k >= 0 && k < len(e) {
			e[k] += float32(gain) * v
		}
	}
	return e
}

func indexed(clip []float32) *index.Index {
	var b index.Builder
	_ = b.Add("clip", clip)
	x, _ := b.Build()
	return x
}

func TestTheSampleIsFoundUnderNoiseAndWithin100ms(t *testing.T) {
	t.Parallel()
	clip := noise(1, 3*rate, .1)
	v := verify.New(indexed(clip))
	for _, c := range []struct {
		at, guess   int
		gain, under float64
	}{{40000, 40000, 1, .01}, {40000, 40800, 1, .1}, {40001, 39201, 2, .2}, {-7000, -7100, 1, .05}, {140000, 140300, 1, .05}} {
		r, err := v.Verify(verify.Place{Begin: c.guess}, played(clip, c.at, c.gain, c.under))
		require.NoError(t, err)
		require.Equal(t, c.at, r.Begin, "%+v", c)
		require.Greater(t, r.Score, .7)
		require.Equal(t, 1.0, r.Speed)
	}
}

func TestOtherSoundDoesNotPass(t *testing.T) {
	t.Parallel()
	v := verify.New(indexed(noise(1, 3*rate, .1)))
	for seed := range uint64(20) {
		r, err := v.Verify(verify.Place{Begin: 30000, Ungated: true}, memory(noise(50+seed, 20*rate, .1)))
		require.NoError(t, err)
		require.Less(t, r.Score, .55)
		require.Less(t, r.Coverage, .3)
	}
	r, err := v.Verify(verify.Place{Begin: 30000}, make(memory, 20*rate))
	require.NoError(t, err)
	require.Zero(t, r.Score, "silence")
}

func TestAnErrorOfSpeedIsMended(t *testing.T) {
	t.Parallel()
	clip := noise(1, 5*rate, .1)
	x := indexed(clip)
	for _, speed := range []int{-4, 3, 5} {
		r, err := verify.New(x).Verify(verify.Place{Variant: x.Own(0), Begin: 40000, Ungated: true}, played(warp.Play(clip, speed), 40000, 1, .03))
		require.NoError(t, err)
		require.InDelta(t, 1+float64(speed)/1000, r.Speed, .0003)
		require.InDelta(t, 40000, r.Begin, 4)
		require.Greater(t, r.Score, .7)
		require.Greater(t, r.Coverage, .9)
	}
}

// TestTheGateFollowsAnySpeed has blocks whose peaks drift apart: their sum along a straight
// line does not pass the gate, but one of them does alone.
func TestTheGateFollowsAnySpeed(t *testing.T) {
	t.Parallel()
	clip := dull(1, 5*rate, .1)
	x := indexed(clip)
	for _, speed := range []int{-5, -4, 3, 5} {
		r, err := verify.New(x).Verify(verify.Place{Variant: x.Own(0), Begin: 40000}, played(warp.Play(clip, speed), 40000, 1, .03))
		require.NoError(t, err)
		require.InDelta(t, 1+float64(speed)/1000, r.Speed, .0003)
		require.Greater(t, r.Score, .7)
	}
	long := noise(2, 15*rate, .1)
	x = indexed(long)
	r, err := verify.New(x).Verify(verify.Place{Variant: x.Own(0), Begin: 8000, Pace: 5}, played(warp.Play(long, 5), 8000, 1, .03))
	require.NoError(t, err)
	require.InDelta(t, 1.005, r.Speed, .0003)
	require.InDelta(t, 8000, r.Begin, 4)
}

// TestALongClipDriftsBeyondItsCurves has single blocks that agree by chance on a drift at which
// the clip's ends would be a third of a second off.
func TestALongClipDriftsBeyondItsCurves(t *testing.T) {
	t.Parallel()
	clip := dull(1, 120*rate, .1)
	x := indexed(clip)
	e := make(memory, 130*rate)
	for k := range 24 {
		at := k * (len(clip) - verify.BlockSamples) / 23
		copy(e[at+4000+at*5/1000:], clip[at:at+verify.BlockSamples])
	}
	r, err := verify.New(x).Verify(verify.Place{Variant: x.Own(0), Begin: 4000 + 2400}, e)
	require.NoError(t, err)
	require.Less(t, r.Coverage, .6)
	r, err = verify.New(x).Verify(verify.Place{Variant: x.Own(0), Begin: 4000, Pace: -5}, e)
	require.NoError(t, err)
	require.Greater(t, r.Score, .8)
}

func TestPolarityDoesNotMatter(t *testing.T) {
	t.Parallel()
	clip := noise(1, 3*rate, .1)
	v := verify.New(indexed(clip))
	upright, err := v.Verify(verify.Place{Begin: 40100}, played(clip, 40000, 1, .05))
	require.NoError(t, err)
	inverted, err := v.Verify(verify.Place{Begin: 40100}, played(clip, 40000, -1, .05))
	require.NoError(t, err)
	require.Equal(t, 40000, inverted.Begin)
	require.True(t, inverted.Inverted)
	require.False(t, upright.Inverted)
	require.InEpsilon(t, upright.Z, inverted.Z, .1)
}

func TestAPartIsToldByItsOwnBlocks(t *testing.T) {
	t.Parallel()
	clip := noise(1, 8*rate, .1)
	v := verify.New(indexed(clip))
	heard := make([]float32, len(clip))
	copy(heard[3*rate:5*rate], clip[3*rate:5*rate])
	r, err := v.Verify(verify.Place{Begin: 40000, From: 3 * rate / 64, To: 5 * rate / 64}, played(heard, 40000, 1, .05))
	require.NoError(t, err)
	require.Equal(t, 40000, r.Begin)
	require.InDelta(t, 40000+3*rate, r.First, 2048)
	require.InDelta(t, 40000+5*rate, r.Last, 2048)
	require.InDelta(t, .25, r.Coverage, .05)
	require.Greater(t, r.Score, .8)
}

func TestCoverageSaysWhatIsThere(t *testing.T) {
	t.Parallel()
	clip := noise(1, 4*rate, .1)
	v := verify.New(indexed(clip))
	r, err := v.Verify(verify.Place{Begin: 40000}, played(clip[:3*rate], 40000, 1, .02))
	require.NoError(t, err)
	require.InDelta(t, .75, r.Coverage, .07)
	require.Equal(t, 40000, r.First)
	require.InDelta(t, 40000+3*rate, r.Last, 2048)
	r, err = v.Verify(verify.Place{Begin: 40000}, played(append(make([]float32, rate), clip[rate:]...), 40000, 1, .02))
	require.NoError(t, err)
	require.InDelta(t, 40000+rate, r.First, 2048)
	require.Equal(t, 40000+4*rate, r.Last)
}

func TestTheSourcesErrorIsTold(t *testing.T) {
	t.Parallel()
	_, err := verify.New(indexed(noise(1, rate, .1))).Verify(verify.Place{Begin: 0}, broken{})
	require.ErrorIs(t, err, errBroken)
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) ReadAt([]float32, int) error { return errBroken }

// BenchmarkVerify is a place where the clip is, and one where it is not.
func BenchmarkVerify(b *testing.B) {
	clip := noise(1, 5*rate, .1)
	v, e := verify.New(indexed(clip)), played(clip, 40000, 1, .05)
	for name, at := range map[string]int{"true": 40000, "false": 100000} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := v.Verify(verify.Place{Begin: at}, e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ExampleVerifier() {
	clip := noise(1, rate, .1)
	r, err := verify.New(indexed(clip)).Verify(verify.Place{Begin: 24100}, played(clip, 24000, 1, .02))
	fmt.Println(r.Begin, r.Coverage, r.Score > .9, err)
	// Output: 24000 1 true <nil>
}
