package work

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTwoItemsOfWorkShareAPairWhicheverOfItIsTheSubject(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		subject    string
		parts      []string
		other      string
		otherParts []string
		want       bool
	}{
		{"e1", []string{"c1", "c2"}, "e1", []string{"c2", "c3"}, true},
		{"e1", []string{"c1", "c2"}, "e1", []string{"c3"}, false},
		{"e1", nil, "e1", []string{"c3"}, true},
		{"e1", []string{"c1", "c2"}, "e2", []string{"c1"}, false},
		{"e1", []string{"c1", "c2"}, "c2", []string{"e0", "e1"}, true},
		{"e1", []string{"c1", "c2"}, "c2", []string{"e2"}, false},
		{"e1", []string{"c1", "c2"}, "c3", []string{"e1"}, false},
	} {
		require.Equal(t, c.want, share(c.subject, c.parts, c.other, c.otherParts), "%v", c)
		require.Equal(t, c.want, share(c.other, c.otherParts, c.subject, c.parts), "%v the other way round", c)
	}
}

func TestSubjectsAreInTheSameSetEachTime(t *testing.T) {
	t.Parallel()
	used := map[int]bool{}
	for _, subject := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "episode-1", "episode-2"} {
		require.Equal(t, setOf(subject), setOf(subject))
		require.Less(t, setOf(subject), subjectSets)
		require.GreaterOrEqual(t, setOf(subject), 0)
		used[setOf(subject)] = true
	}
	require.Greater(t, len(used), 5)
}
