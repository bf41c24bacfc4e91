package pspace

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/foreign/foreigntest"
	"leasehold/shared/fault"
	"leasehold/shared/tuple"
)

// FuzzDecodeRequest checks that a request is refused or can be answered, and that a put tuple reads back the
// same.
func FuzzDecodeRequest(f *testing.F) {
	foreigntest.AddSent(f, "testdata/conversations")
	f.Add([]byte(`{"Action":"GET_REQUEST","Session":"s","Target":"t","Template":[{"TypeName":"int"},{"TypeName":"enum","Value":{"b":1,"a":[]}}]}`))
	f.Add([]byte(`{"messageType":"GET_REQUEST","clientSession":1,"template":[{"formal":false,"value":1.5}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var whole frame
		n, err := whole.findEnd(data)
		if err != nil || n == 0 {
			return
		}
		for split := range min(n, 64) { // the end does not depend on how the bytes arrive
			var parts frame
			first, err := parts.findEnd(data[:split])
			require.NoError(t, err)
			require.Zero(t, first)
			again, err := parts.findEnd(data)
			require.NoError(t, err)
			require.Equal(t, n, again)
		}
		r, err := decodeRequest(data[:n])
		if errors.Is(err, errMalformed) {
			require.ErrorIs(t, err, fault.ErrInvalid)
			return
		}
		require.True(t, json.Valid(data[:n]), "accepted: %q", data[:n])
		answer := appendAnswer(nil, r, nil, err)
		require.True(t, json.Valid(answer), "%s", answer)
		if err != nil || !r.isPut() || r.tuple.Validate() != nil {
			return
		}
		answer = appendAnswer(nil, request{dialect: r.dialect}, []tuple.Tuple{r.tuple}, nil)
		require.True(t, json.Valid(answer), "%s", answer)
		again, err := r.dialect.readTuple(&scanner{data: r.dialect.appendTuple(nil, r.tuple)})
		require.NoError(t, err)
		require.True(t, r.tuple.Equal(again), "%v and then %v", r.tuple, again)
	})
}
