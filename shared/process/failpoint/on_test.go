//go:build failpoints

package failpoint

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFuseBurnsAtItsVisitOnly(t *testing.T) {
	t.Parallel()
	f, err := parse("commit.after/put:2")
	require.NoError(t, err)
	require.False(t, f.met("commit.before", "put"))
	require.False(t, f.met("commit.after", "get"))
	require.False(t, f.met("commit.after", "put"))
	require.True(t, f.met("commit.after", "put"))
	require.False(t, f.met("commit.after", "put"))
	f, err = parse("commit.after:1")
	require.NoError(t, err)
	require.True(t, f.met("commit.after", "anything"))
}

func TestMomentsAreMetOneAfterTheOther(t *testing.T) {
	t.Parallel()
	f, err := parse("call.before/put:1 commit.after:1")
	require.NoError(t, err)
	require.False(t, f.met("commit.after", ""))
	require.False(t, f.met("call.before", "put"))
	require.False(t, f.met("call.before", "put"))
	require.True(t, f.met("commit.after", ""))
}

func TestAFuseEndsOrStops(t *testing.T) {
	t.Parallel()
	for text, stops := range map[string]bool{"commit.after:2": false, "commit.after:2:stop": true} {
		f, err := parse(text)
		require.NoError(t, err)
		require.Equal(t, stops, f.stops)
		require.False(t, f.met("commit.after", ""))
		require.True(t, f.met("commit.after", ""))
	}
}

func TestWhatIsNoFuseIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"commit", "commit:", "commit:0", "commit:x", ":1", "commit:1:halt", "commit:1:stop commit:1"} {
		f, err := parse(text)
		require.Error(t, err, text)
		require.False(t, f.met("commit", ""))
	}
}
