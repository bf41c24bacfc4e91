package cmd

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/models"
	"leasehold/shared/api/types"
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
		require.Equal(t, want, printable(text), "%q", text)
	}
	rapid.Check(t, func(t *rapid.T) {
		for _, r := range printable(rapid.StringOf(rapid.SampledFrom([]rune("\x1b[]0;m\x07\\P\u009b\u009d\u202e\u2067ab\n"))).Draw(t, "text")) {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("%q is left", r)
			}
		}
	})
}

func TestPrintedWordsOfOthersArePrintable(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	_, err := sayf(&b, "\x1b[1m%s %v %s %s %d\n", "a\x1b[35mb\n", errors.New("c\u009b2Jd"), models.OriginKind("e\x07"), &url.URL{Path: "f\x1b[0m"}, 1)
	require.NoError(t, err)
	require.Equal(t, "\x1b[1mab  cd e  f%1B%5B0m 1\n", b.String())
	require.Equal(t, "a\nb c\n", printableLines("\x1b[35ma\nb\tc\n"))
}

func TestJSONHasNoCharactersThatControlATerminal(t *testing.T) {
	t.Parallel()
	text := map[string]string{"name\u009b": "\x1b[0m\u009b2J\x7f\u202ex<&>\u00e9"}
	var b strings.Builder
	require.NoError(t, (&app{out: &b}).printJSON(text))
	require.Equal(t, `{"name\u009b":"\u001b[0m\u009b2J\u007f\u202ex<&>é"}`+"\n", b.String())
	var back map[string]string
	require.NoError(t, json.Unmarshal([]byte(b.String()), &back))
	require.Equal(t, text, back)
}

func TestCommandsPrintWordsOfOthersWithSayf(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	raw := regexp.MustCompile(`fmt\.Fprintf\((a\.out|a\.err|w), .*%[-0-9]*[sv]`)
	escaped := regexp.MustCompile(`oneLine\(|ln\.Addr\(\)|"put %s|printable`) // a tuple's line has quoted strings
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if !strings.HasSuffix(file, "_test.go") && raw.MatchString(line) && !escaped.MatchString(line) {
				t.Errorf("%s: use sayf: %s", file, line)
			}
		}
	}
}

func TestAnUnknownTimeIsAbsentFromJSON(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(shownOrigin{Origin: models.Origin{ID: "o"}, Schedule: &types.Schedule{}})
	require.NoError(t, err)
	require.NotContains(t, string(data), "0001-01-01")
}
