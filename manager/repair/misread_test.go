package repair

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATextThatWasReadInTheWrongCharsetIsRepairedIfThatIsCertain(t *testing.T) {
	t.Parallel()
	for misread, want := range map[string]string{
		"cafÃ©":                         "café",
		"donâ€™t":                       "don’t",
		"ÐœÐ°Ñ\u008fÐº":                 "Маяк",
		"â€œHafenâ€\u009d im FrÃ¼hling": "“Hafen” im Frühling",
	} {
		got, ok := Misread(misread)
		require.True(t, ok, misread)
		require.Equal(t, want, got)
	}
	for _, s := range []string{"", "plain", "café", "Ã", "ROMÂ»", "Â®", "cafÃ© café", "Ã© и", "灯台"} {
		got, ok := Misread(s)
		require.False(t, ok, s)
		require.Equal(t, s, got)
	}
}
