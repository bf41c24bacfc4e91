package syntax_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/syntax"
)

func TestNextIsAnsweredByWhatToWriteInstead(t *testing.T) {
	t.Parallel()
	for _, f := range []string{"[] (x = 1 -> X x = 2)", "X (x = 1)", "X put(S, 1)", "X [] x = 1", "X !(x = 1)", "<> X true"} {
		_, err := syntax.Parse("m", "x = 0, S = (R, 1, {})\n---\nx := 1\n---\nltl p: "+f+";")
		require.ErrorContains(t, err, "there is no next: another process may take a step in between; write [] (a -> <> b), or a U b", f)
	}
	for _, f := range []string{"[] (X = 1 -> <> X = 2)", "X > 1 U X = 1", "(X) = 1", "forall i in 1..2: X != i"} {
		_, err := syntax.Parse("m", "X = 0\n---\nX := 1\n---\nltl p: "+f+";")
		require.NoError(t, err, f)
	}
}
