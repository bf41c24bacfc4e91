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

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/api/types"
)

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
	escaped := regexp.MustCompile(`OneLine\(|ln\.Addr\(\)|"put %s|Printable`) // a tuple's line has quoted strings
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
