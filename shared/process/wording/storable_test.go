package wording

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStorableReplacesWhatPostgreSQLRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "é": "é", "a\x00b": "a\uFFFDb", "\xffa\xc3": "\uFFFDa\uFFFD", "\n\x1b": "\n\x1b"} {
		require.Equal(t, want, Storable(text))
		require.Equal(t, text == want, IsStorable(text))
	}
}
