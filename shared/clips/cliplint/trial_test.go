package cliplint_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/cliplint"
)

func TestClipsThatTheSearchMissesAreReportedWithItsReasons(t *testing.T) {
	t.Parallel()
	var clips []cliplint.Clip
	for i := range uint64(4) {
		clips = append(clips, clip(fmt.Sprintf("tune %d", i), tune(i, 2)), clip(fmt.Sprintf("rumble %d", i), noise(i, .3, .99)))
	}
	notices, err := cliplint.CheckPlayed(t.Context(), clips)
	require.NoError(t, err)
	missed := 0
	for _, n := range notices {
		require.Regexp(t, "^rumble", n.Clip, n.Text())
		if n.Fault != cliplint.Missed {
			continue
		}
		missed++
		require.Regexp(t, `^played over (silence|speech|music)( and over (speech|music))*, it is not found: strongest landmarks .*: \d+; `, n.Why)
		require.NotContains(t, n.Why, "so it is")
	}
	require.Positive(t, missed)
	again, err := cliplint.CheckPlayed(t.Context(), clips)
	require.NoError(t, err)
	require.Equal(t, notices, again)
	plain, err := cliplint.Check(t.Context(), clips)
	require.NoError(t, err)
	for _, n := range plain {
		require.NotEqual(t, cliplint.Missed, n.Fault, "only CheckPlayed plays them")
	}
}
