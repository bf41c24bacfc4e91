package warp_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/warp"
)

func sine(n int, hz float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.Sin(2 * math.Pi * hz * float64(i) / 8000))
	}
	return x
}

func TestASineIsHigherAtASpeedAndNotDelayed(t *testing.T) {
	t.Parallel()
	for _, speed := range []int{-30, -13, 1, 10, 30} {
		for _, hz := range []float64{100, 1000, 3000} {
			got := warp.Play(sine(8000, hz), speed)
			require.Len(t, got, warp.Len(8000, speed))
			want := sine(len(got), hz*(1+float64(speed)/1000))
			for i := 20; i < len(got)-20; i++ {
				require.InDelta(t, want[i], got[i], .02, "%v Hz at %d, sample %d", hz, speed, i)
			}
		}
	}
}

func TestSpeedZeroIsTheSoundAndOthersAreHeldToTheirBounds(t *testing.T) {
	t.Parallel()
	x := sine(100, 440)
	require.Equal(t, x, warp.Play(x, 0))
	require.Equal(t, warp.Play(x, warp.MaxSpeed), warp.Play(x, 4000))
	require.Equal(t, warp.Play(x, -warp.MaxSpeed), warp.Play(x, -4000))
	require.Len(t, warp.Play(x, -4000), warp.Len(len(x), -4000))
	require.Empty(t, warp.Play(nil, 10))
}

func TestAPartIsOfTheWhole(t *testing.T) {
	t.Parallel()
	x := sine(3000, 440)
	for _, speed := range []int{-50, -13, 0, 1, 46} {
		whole := warp.Play(x, speed)
		for _, from := range []int{0, 1, 7, 8, 15, 16, 17, 1000, len(whole) - 1} {
			for _, to := range []int{from, from + 1, from + 17, from + 1000, len(whole)} {
				to = min(to, len(whole))
				require.True(t, slices.Equal(whole[from:to], warp.Part(x, speed, from, to)), "speed %d, %d to %d", speed, from, to)
			}
		}
	}
}

func Example() {
	second := make([]float32, 8000)
	fmt.Println(len(warp.Play(second, +30)), len(warp.Play(second, -30)))
	// Output: 7767 8248
}
