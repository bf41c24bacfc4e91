package match

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/audio/index"
)

func TestACorrelationIsToldAsALevel(t *testing.T) {
	t.Parallel()
	for c, want := range map[float64]string{.6: "2.5 dB below", .8: "2.5 dB above", .5: "4.8 dB below", 1: "90.0 dB above"} {
		require.Equal(t, want, level(c))
	}
}

func TestReasonsNameWhyAClipIsCorrelated(t *testing.T) {
	t.Parallel()
	e := Explanation{plain: true, Landmarks: 3, Exact: .5, plainThreshold: .8, Attempt: Attempt{Outcome: FewVotes}}
	e.reason()
	require.Contains(t, e.Reasons[1], "they are fewer than 15")
	require.Equal(t, "the best correlation within a second is 0.500, as if it were 4.8 dB below the rest; 0.800 is needed, which is 2.5 dB above", e.Reasons[2])
	require.Equal(t, "so it is not found", e.Reasons[3])
	e = Explanation{plain: true, tonal: true, Landmarks: index.FewLandmarks}
	e.reason()
	require.Contains(t, e.Reasons[1], "made of a few tones")
	require.Contains(t, e.Reasons[2], "something else is much louder")
}
