package page_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/page"
)

func TestLargeProgramsAreAnswered(t *testing.T) {
	t.Parallel()
	s := serve(t, page.Limits{})
	statements := "x := 1" + strings.Repeat(";\nx := 1", 25_000)
	for _, view := range []string{"graph", "run", "states", "check", "format"} {
		require.Nil(t, post(t, s, view, "x = 0", statements)["errors"], view)
	}
	long := "// " + strings.Repeat("a", 256<<10-9) + "\nskip"
	require.Equal(t, "holds", post(t, s, "check", "", long)["outcome"])
}
