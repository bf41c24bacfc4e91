package wording

import (
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPrintableTextHasNoEscapeSequencesAndIsNotReordered(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\x1b[31mred\x1b[0m alert":                 "red alert",
		"\u009b2Jgone":                             "gone",
		"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b": "ab",
		"\u009d52;c;Zm9v\u009cc":                   "c",
		"\x1bPq#0\x1b\\d\x1b(Be\x1bcf":             "def",
		"cut \x1b[3":                               "cut ",
		"invoice\u202excod.exe\u2066\u2069\u200f":  "invoicexcod.exe",
		"a\tb\nc\rd\u2028e":                        "a b c d e",
		"Zoë, 日本語, עברית, 👩‍👩‍👧":                   "Zoë, 日本語, עברית, 👩‍👩‍👧",
		"[31m is text":                             "[31m is text",
	} {
		require.Equal(t, want, Printable(text), "%q", text)
	}
	rapid.Check(t, func(t *rapid.T) {
		for _, r := range Printable(rapid.StringOf(rapid.SampledFrom([]rune("\x1b[]0;m\x07\\P\u009b\u009d\u202e\u2067ab\n"))).Draw(t, "text")) {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("%q is left", r)
			}
		}
	})
}
