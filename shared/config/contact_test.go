package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAContactFitsIntoAUserAgent(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"", "https://example.org/crawler?x=1", "http://a", "crawler@example.org", "mailto:a@b"} {
		var got string
		require.NoError(t, contact{&got}.set(good), good)
		require.Equal(t, good, got)
	}
	long := "https://example.org/" + string(make([]byte, 200))
	for _, bad := range []string{"me", "ftp://a@b/", "https://", "a@", "@b", "a@b\r\nX-Evil: 1", "https://a/\x00", "https://a/(b)", "a b@c", "https://ä.example", long} {
		got := "unchanged"
		require.ErrorIs(t, contact{&got}.set(bad), errNotAccepted, "%q", bad)
		require.Equal(t, "unchanged", got)
	}
}

func TestThePublicURLHasAnAllowedHost(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"https://a.example/x//": "https://a.example/x", "http://127.0.0.1:80": "http://127.0.0.1:80", "": ""} {
		var got string
		require.NoError(t, publicURL{&got}.set(text))
		require.Equal(t, want, got)
	}
	for _, bad := range []string{"a.example", "ftp://a.example", "https://", "https://:80", "https://u@a.example", "https://a.example?x", "https://a.example#x"} {
		require.ErrorIs(t, publicURL{new(string)}.set(bad), errNotAccepted, bad)
	}
	for _, allowed := range []string{"https://A.example", "https://127.0.0.1:80/x", "http://[::1]:80", "http://coordinator"} {
		require.True(t, allowsHost([]string{"a.example"}, allowed), allowed)
	}
	require.True(t, allowsHost([]string{"*"}, "https://b.example"))
	require.False(t, allowsHost([]string{"a.example"}, "https://b.example"))
}
