package simulate

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestListsOfTimesAreSlicesOfTheirOwn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var all timesOf
		lists, want := make([]times, 4), make([][]int64, 4)
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			i := rapid.IntRange(0, len(lists)-1).Draw(t, "list")
			if rapid.IntRange(0, 4).Draw(t, "clear") == 0 {
				all.clear(&lists[i])
				want[i] = nil
				continue
			}
			at := start + rapid.Int64Range(-history, 10*day).Draw(t, "at")
			all.add(&lists[i], at)
			want[i] = append(want[i], at)
		}
		for i := range lists {
			require.Equal(t, want[i], slices.Collect(all.of(&lists[i])))
			require.Len(t, want[i], int(lists[i].length))
		}
		require.LessOrEqual(t, len(all.nodes), 61, "nodes of lists that were cleared are used again")
	})
}
