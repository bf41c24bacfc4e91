package gospace

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/foreign/foreigntest"
	"leasehold/shared/tuple"
)

// FuzzDecodeRequest checks that a request is refused, or that its tuple is the same after it
// was answered and read again.
func FuzzDecodeRequest(f *testing.F) {
	foreigntest.AddSent(f, "testdata/conversations")
	f.Fuzz(func(t *testing.T, data []byte) {
		reserved := int64(0)
		q, err := decodeRequest(bytes.NewReader(data), func(n int64) error { reserved += n; return nil })
		require.LessOrEqual(t, reserved, int64(len(data)+64<<10))
		if err != nil || q.tuple.Validate() != nil {
			return
		}
		answer := encodeAnswer(maybeAnswer, []tuple.Tuple{q.tuple}, 0)
		require.NotEmpty(t, answer)
		require.NoError(t, q.template.Validate())
	})
}
