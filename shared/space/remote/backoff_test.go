package remote

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFault41PausesGrowAndAreJittered(t *testing.T) {
	t.Parallel()
	b := Backoff{}.withDefaults()
	pauses := map[time.Duration]bool{}
	for range 100 {
		pause := b.first()
		pauses[pause] = true
		require.LessOrEqual(t, pause, b.Min+1)
		for range 20 {
			pause = b.next(pause)
			require.Positive(t, pause)
			require.LessOrEqual(t, pause, b.Max+1)
		}
	}
	require.Greater(t, len(pauses), 50, "the pauses differ")
}
