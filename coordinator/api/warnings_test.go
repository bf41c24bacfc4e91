package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnEndingWayBackIsAWarning(t *testing.T) {
	t.Parallel()
	h := newAuthFixture(t)
	_, w := h.by(h.token("eve", "reader"), "GET", "warnings", "")
	require.Equal(t, []any{}, w["items"])
}
