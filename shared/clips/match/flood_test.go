package match_test

import (
	"flag"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/match"
)

// TestAMonotonousEpisodeIsNoFlood has episodes of one sound for two minutes, and clips that are
// of the same sound, or short, or many times the same.
func TestAMonotonousEpisodeIsNoFlood(t *testing.T) {
	t.Parallel()
	tone := func(hz float64, n int, clipped bool) []float32 {
		x := make([]float32, n)
		for i := range x {
			v := .3 * math.Sin(2*math.Pi*hz*float64(i)/second)
			if clipped {
				v = math.Copysign(.9, v)
			}
			x[i] = float32(v)
		}
		return x
	}
	clips := [][]float32{tone(1000, second*3/10, false), tone(440, 2*second, false), tone(440, second, true), noise(61, second*3/10, .2), tune(62, 3*second)}
	for range 5 {
		clips = append(clips, tune(63, second))
	}
	x := indexed(t, clips...)
	const length = 120 * second
	for name, e := range map[string][]float32{
		"noise": noise(70, length, .2), "a tone": tone(1000, length, false), "another tone": tone(440, length, false),
		"a square wave": tone(440, length, true), "silence": make([]float32, length), "full scale": slab(length),
	} {
		found := find(t, x, e, match.Options{})
		require.LessOrEqual(t, len(found), 10, "%s: %v", name, played(found))
	}
}

// slab is samples that are all at full scale.
func slab(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

var crowd = flag.Int("match.crowd", 100, "identical clips, and short clips, in the test of many clips")

// The episode plays one clip once; it is found once for each index entry with that sound, and
// thousands of short clips that are not played are not found.
func TestManyIdenticalAndManyShortClipsAreNoFlood(t *testing.T) {
	t.Parallel()
	same := make([][]float32, *crowd)
	for i := range same {
		same[i] = tune(64, second)
	}
	short := make([][]float32, *crowd)
	for i := range short {
		short[i] = tune(uint64(1000+i), second*3/10)
	}
	e := tune(65, 20*second)
	mix(e, same[0], 10*second, 2)
	found := find(t, indexed(t, same...), e, match.Options{})
	require.Len(t, found, len(same))
	for _, f := range found {
		require.InDelta(t, 10*second, f.Offset, 2)
	}
	found = find(t, indexed(t, short...), e, match.Options{})
	require.LessOrEqual(t, len(found), max(10, *crowd/100), "%v", played(found))
}
