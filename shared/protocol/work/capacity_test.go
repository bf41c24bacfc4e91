package work

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The rules of capacity that the package comment states.
func TestCapacityForOneMore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		slots, waiting int64
		want           bool
	}{
		{0, 0, true}, {0, 1, false}, {0, 9, false},
		{1, 0, true}, {1, 1, true}, {1, 2, false},
		{3, 2, true}, {3, 3, true}, {3, 4, false},
		{1 << 40, 1 << 20, true},
	} {
		require.Equal(t, c.want, capacity(c.slots, c.waiting), fmt.Sprintf("%+v", c))
	}
}

func TestADamagedAnswerOfInProgressIsRefused(t *testing.T) {
	t.Parallel()
	for _, reply := range [][]any{nil, {[]byte{9}, int64(0)}, {[]byte{1, 255}, int64(0)}, {[]byte{}}} {
		_, _, err := decodeInProgress(reply)
		require.Error(t, err)
	}
}
