package members

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheMemberThatServedLastIsTriedFirst(t *testing.T) {
	t.Parallel()
	l := Parse("a:1,b:1,c:1")
	require.Equal(t, "a:1", l.First())
	l.Serves("c:1")
	require.Equal(t, []string{"c:1", "a:1", "b:1"}, l.Order(), "the others in their order")
	l.Serves("unknown:1")
	require.Equal(t, "c:1", l.First())
}

func TestAMemberThatFailsIsTriedLast(t *testing.T) {
	t.Parallel()
	l := New("a:1", "b:1", "c:1")
	l.Failed("a:1")
	l.Failed("a:1")
	require.Equal(t, "b:1,c:1,a:1", l.String(), "the second call was about the same failure")
	one := New("a:1")
	one.Failed("a:1")
	require.Equal(t, "a:1", one.First())
}
