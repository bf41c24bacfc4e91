package set

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEachClipIsPlayedAboutEquallyOften(t *testing.T) {
	t.Parallel()
	const clips, each = 30, 28
	for seed := range uint64(5) {
		b := &builder{set: &Set{}, rand: rand.New(rand.NewPCG(seed, 1)), recipe: Recipe{PerCondition: each}}
		for i := range clips {
			b.set.Clips = append(b.set.Clips, Clip{ID: fmt.Sprint(i), DurationS: 6, Played: true})
		}
		plays := map[string]int{}
		total := 0
		for _, turn := range b.turns() {
			for _, c := range turn.clips {
				plays[c.ID]++
				total++
			}
		}
		require.Len(t, plays, clips, "no clip is lost, and none is made up")
		for id, n := range plays {
			require.InDelta(t, float64(total)/clips, n, 1, "clip %s of seed %d", id, seed)
		}
	}
}
