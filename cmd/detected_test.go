package cmd

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAWordForAShellIsQuotedIfItMustBe(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/srv/a.mp3": "/srv/a.mp3", "https://example.org/f.xml": "https://example.org/f.xml", "/srv/my jingles": "'/srv/my jingles'",
		"/srv/it's": `'/srv/it'\''s'`, "$HOME": "'$HOME'", "https://example.org/?a=1&b": "'https://example.org/?a=1&b'", "": "''",
	} {
		require.Equal(t, want, shellWord(text))
	}
}
