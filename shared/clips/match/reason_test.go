package match

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/verify"
	"leasehold/shared/clips/vote"
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
	require.Equal(t, "so it is not found", e.Conclusion[0])
	e = Explanation{plain: true, tonal: true, Landmarks: index.FewLandmarks}
	e.reason()
	require.Contains(t, e.Reasons[1], "made of a few tones or of held ones")
	require.Contains(t, e.Reasons[2], "something else is much louder")
}

func TestARejectedNumberIsPrintedBelowItsLimit(t *testing.T) {
	t.Parallel()
	e := Explanation{Landmarks: 650, Threshold: .6, minCoverage: .4}
	e.Attempt = Attempt{Hit: vote.Hit{Votes: 32}, Result: verify.Result{Z: 20, Speed: 1, Coverage: .5, Blocks: make([]verify.Block, 12)}, Score: .8, Outcome: NoTrace}
	e.reason()
	require.Contains(t, e.Reasons[4], "4.9 % of its landmarks agree, and 5 % are needed if less than 87.5 % of the blocks match: perhaps another sound")
	e.Reasons, e.Score, e.Outcome = nil, .59996, Weak
	e.reason()
	require.Contains(t, e.Reasons[2], "a score of 0.59996, and 0.600 is needed")
	e.Reasons, e.Result.Coverage, e.Outcome = nil, .398, LittleOfIt
	e.reason()
	require.Contains(t, e.Reasons[3], "39.8 % of its 12 blocks")
	e.Reasons, e.Outcome, e.Hit.Spread = nil, Found, .75
	e.reason()
	require.Equal(t, "that is enough, because its landmarks are sure, and lie in 6 of 8 parts of the clip", e.Reasons[4])
	e.Reasons, e.Result.Run, e.Result.RunCoverage = nil, 5, 1
	e.reason()
	require.Equal(t, "that is enough, because one part of at least a second is sure by itself", e.Reasons[4])
	e = Explanation{plain: true, Exact: .79997, plainThreshold: .8, Attempt: Attempt{Outcome: FewVotes}}
	e.reason()
	require.Contains(t, e.Reasons[2], "is 0.79997, as if")
}
