//go:build linux

package cmd

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"leasehold/cmd/doctor"
	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
)

// tableOnTerminal returns the lines of a table on a terminal of terminalColumns columns.
func tableOnTerminal[T row](t *testing.T, rows ...T) []string {
	t.Helper()
	screen, terminal := openTerminal(t)
	out := &redactor{to: terminal}
	require.NoError(t, printTable(&app{out: out}, rows))
	out.flush()
	require.NoError(t, terminal.Close())
	seen, _ := io.ReadAll(screen) // ends with EIO, because the terminal is closed
	require.NoError(t, screen.Close())
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(seen), "\r\n", "\n")), "\n")
	for _, line := range lines {
		require.LessOrEqual(t, utf8.RuneCountInString(line), terminalColumns, line)
	}
	return lines
}

func TestATableFitsTheTerminal(t *testing.T) {
	t.Parallel()
	long := strings.TrimSpace(strings.Repeat("a long text ", 30))
	path := "/" + strings.Repeat("folder/", 40) + "feed.xml"
	lines := tableOnTerminal(t, episodeRow{models.Episode{Recording: models.Recording{ID: "0123456789ab", Title: long}}}, episodeRow{models.Episode{Recording: models.Recording{ID: "b", Title: "short"}}})
	require.Len(t, lines, 3, "a title is cut")
	require.True(t, strings.HasPrefix(lines[1], "0123456789ab "), "an id is not")
	require.True(t, strings.HasSuffix(lines[1], "…"), lines[1])

	lines = tableOnTerminal(t, originRow{models.Origin{ID: "0123456789ab", Kind: models.Repositories, URI: path}})
	require.Contains(t, lines[1], "…")
	require.True(t, strings.HasSuffix(lines[1], "/feed.xml"), "a path keeps its end")

	for name, lines := range map[string][]string{
		"clips check": tableOnTerminal(t, noticeRow{Clip: "jingle.wav", Fault: "missed", Why: long, Advice: "cut it longer, or take in speech or music beside it"}),
		"doctor":      tableOnTerminal(t, examRow{Check: "decodes other formats", State: doctor.Warn, What: long, Advice: "apt install ffmpeg"}),
		"problems":    tableOnTerminal(t, problemRow{Subject: long, Reason: long}),
		"log":         tableOnTerminal(t, logRow{At: "2026-11-21T06:00:00.5Z", Level: "WARN", Session: "worker-7f3a9c01", Message: long}),
		"next visits": tableOnTerminal(t, nextRow{NextVisit: types.NextVisit{Origin: "0123456789ab", Kind: models.Feed, Pool: "known", URI: path}, Why: long}),
	} {
		require.Greater(t, len(lines), 3, name)
		words := strings.Fields(strings.Join(lines[1:], " "))
		require.GreaterOrEqual(t, strings.Count(strings.Join(words, " "), "long"), 30, "%s: the reason is complete: %s", name, lines)
	}

	tableOnTerminal(t, findingRow{catalog.Finding{EpisodeTitle: long, ClipTitle: long}})
	tableOnTerminal(t, matchRow{File: path, Clip: long})
	tableOnTerminal(t, taskRow{types.Task{ID: "t1", Action: "research", State: "waiting", Subject: long, Note: long}})
	tableOnTerminal(t, sessionRow{types.Session{ID: "worker-7f3a9c01", State: long, Since: "2026-11-21T06:00:00Z", Tasks: []string{long}}})
	tableOnTerminal(t, symbolRow{types.SymbolPlace{CodeSymbol: types.CodeSymbol{Name: long, Signature: long}, Path: path}})
	tableOnTerminal(t, skippedRow{types.IndexedFile{Path: path, Skipped: long}})
}

func TestAPasswordIsRemovedBeforeACellIsCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 20) + " https://bob:s3cret-that-is-longer-than-the-terminal-is-wide@example.org/"
	lines := tableOnTerminal(t, taskRow{types.Task{ID: "t1", Subject: long}})
	require.NotContains(t, strings.Join(lines, "\n"), "s3c")
}

func TestATableIsCompleteInAPipe(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("title ", 60) + "end"
	var out bytes.Buffer
	require.NoError(t, printTable(&app{out: &out}, []episodeRow{{models.Episode{Recording: models.Recording{Title: long}}}}))
	require.Contains(t, out.String(), long)
}
