package wording

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDistanceCountsEditsAndSwaps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"run", "run", 0}, {"rnu", "run", 1}, {"wroker", "worker", 1}, {"kitten", "sitting", 3}} {
		require.Equal(t, c.want, Distance(c.a, c.b), c)
		require.Equal(t, c.want, Distance(c.b, c.a), c)
	}
}

func TestNothingIsSuggestedThatIsFarAway(t *testing.T) {
	t.Parallel()
	modes := []string{"run", "coordinator", "manager", "worker"}
	require.Empty(t, DidYouMean("x", modes))
	require.Empty(t, DidYouMean("elephants", modes))
	require.Equal(t, " (did you mean manager?)", DidYouMean("manger", modes))
}

func TestWordsAreListed(t *testing.T) {
	t.Parallel()
	type kind string
	require.Empty(t, Or[string]())
	require.Equal(t, "a", Or("a"))
	require.Equal(t, "a or b", Or("a", "b"))
	require.Equal(t, "a, b and c", And([]kind{"a", "b", "c"}...))
}
