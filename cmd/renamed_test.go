package cmd

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnEarlierNameOfACommandIsRefusedWithTheNewOne(t *testing.T) {
	t.Parallel()
	for old, now := range renamed {
		for _, more := range [][]string{nil, {"--help"}, {"--data", "x", "y"}} {
			var out, err bytes.Buffer
			a := &app{out: &out, err: &err}
			require.Equal(t, 2, a.run(t.Context(), append(strings.Fields(old), more...)), old)
			require.Equal(t, "leasehold: \""+old+"\" is now \""+now+"\"\n", err.String())
			require.Empty(t, out.String())
		}
		c, rest, err := (&app{}).newRoot().Find(strings.Fields(now))
		require.NoError(t, err)
		require.Empty(t, rest)
		require.False(t, c.Hidden, "%s is a command", now)
	}
}

func TestEarlierNamesAreNotListed(t *testing.T) {
	t.Parallel()
	names := commandNames((&app{}).newRoot())
	require.Contains(t, names, "clips")
	require.NotContains(t, names, "clip")
	require.NotContains(t, names, "audio")
}
