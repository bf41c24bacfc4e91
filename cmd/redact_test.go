package cmd

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPasswordsAreRedactedWhereverAWriteIsCut(t *testing.T) {
	t.Parallel()
	const text = "Zoë \xff https://bob:s3crët@example.org/日本\xe6 http://a\xfe:b@y/ a:b c://d\n"
	const want = "Zoë \xff https://xxxxx@example.org/日本\xe6 http://xxxxx@y/ a:b c://d\n"
	for first := range len(text) {
		for second := first; second < len(text); second++ {
			var got bytes.Buffer
			r := &redactor{to: &got}
			for _, part := range []string{text[:first], text[first:second], text[second:]} {
				n, err := r.Write([]byte(part))
				require.NoError(t, err)
				require.Equal(t, len(part), n)
			}
			r.flush()
			require.Equal(t, want, got.String(), "cut at %d and %d", first, second)
		}
	}
}

// csv.Writer writes blocks of 4 KiB, whose ends may be within a character.
func TestPasswordsOfALongCSVAreRedacted(t *testing.T) {
	t.Parallel()
	for shift := range 3 {
		var got bytes.Buffer
		r := &redactor{to: &got}
		w := csv.NewWriter(r)
		require.NoError(t, w.Write([]string{strings.Repeat("-", shift)}))
		for range 200 {
			require.NoError(t, w.Write([]string{"https://bob:s3cret@example.org/" + strings.Repeat("日", 30)}))
		}
		w.Flush()
		r.flush()
		require.NotContains(t, got.String(), "s3cret")
		require.Equal(t, 200, strings.Count(got.String(), "https://xxxxx@example.org/日"))
	}
}
