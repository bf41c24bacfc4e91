package node

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheGateAndTheAPIShareTheFileDescriptors(t *testing.T) {
	t.Parallel()
	for files, want := range map[uint64]int{0: 1, 64: 8, 66: 9, 200: 68, 1024: 480, 20_000: 9_968, 1 << 40: 10_000, 1<<64 - 1: 10_000} {
		require.Equal(t, want, connectionShare(files), "%d", files)
	}
}
