package binary

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Two allocators of one process exclude each other as two processes do.
func TestAPortIsGivenOutOnce(t *testing.T) {
	t.Parallel()
	var all [3]allocator
	seen := map[string]bool{}
	for range blockSize + 1 {
		for i := range all {
			address, err := all[i].freeAddress()
			require.NoError(t, err)
			require.False(t, seen[address], address)
			seen[address] = true
		}
	}
	for i := range all {
		for _, l := range all[i].locks {
			require.NoError(t, l.Close())
		}
	}
}
