package bench_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/bench"
)

// noise returns n samples of noise.
func noise(r *rand.Rand, n int, loud float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(loud * r.NormFloat64())
	}
	return x
}

func TestBothBaselinesFindAClipThatIsPlayedAlone(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]bench.Method{"exact": &bench.Exact{}, "cosine": &bench.Cosine{}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 2))
			episode, clip := noise(r, 4*m.RateHz(), .01), noise(r, m.RateHz(), .2)
			copy(episode[2*m.RateHz():], clip)
			require.NoError(t, m.Index(t.Context(), []bench.Clip{{ID: "other", Wave: noise(r, m.RateHz(), .2)}, {ID: "clip", Wave: clip}}))
			found, err := m.Match(t.Context(), episode)
			require.NoError(t, err)
			require.Len(t, found, 1)
			require.Equal(t, "clip", found[0].Clip)
			require.InDelta(t, 2, found[0].OffsetS, .0005)
			require.InDelta(t, 1, found[0].DurationS, .001)
		})
	}
}

func TestASearchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, m := range []bench.Method{&bench.Exact{}, &bench.Cosine{}} {
		x := noise(rand.New(rand.NewPCG(1, 2)), m.RateHz(), .1)
		require.NoError(t, m.Index(t.Context(), []bench.Clip{{ID: "a", Wave: x}}))
		_, err := m.Match(ctx, x)
		require.ErrorIs(t, err, context.Canceled)
	}
}

func Example() {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(1, 2))
	method := &bench.Exact{} // or your own
	clip, episode := noise(r, 8000, .2), noise(r, 40000, .01)
	copy(episode[16000:], clip)
	_ = method.Index(ctx, []bench.Clip{{ID: "jingle", Wave: clip}})
	found, err := method.Match(ctx, episode)
	fmt.Println(found[0].Clip, found[0].OffsetS, err)
	// Output: jingle 2 <nil>
}
