//go:build linux

package cmd

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"leasehold/shared/api/types"
)

const terminalColumns = 80

// openTerminal opens a pseudo-terminal: bytes written to terminal are read from screen.
func openTerminal(t *testing.T) (screen, terminal *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	fd := int(screen.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	terminal, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: terminalColumns}))
	return screen, terminal
}

// onTerminal runs leasehold with standard error, and standard output if both is true, on a
// terminal, and returns what the terminal got.
func onTerminal(t *testing.T, dir, kind string, both bool, args ...string) string {
	t.Helper()
	screen, terminal := openTerminal(t)
	c := exec.CommandContext(t.Context(), filepath.Join(realBinary(t), "leasehold"), args...)
	c.Dir, c.Stderr = dir, terminal
	if both {
		c.Stdout = terminal
	}
	c.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TERM=" + kind}
	require.NoError(t, c.Start())
	require.NoError(t, terminal.Close())
	seen, _ := io.ReadAll(screen) // ends with EIO when the process has closed the terminal
	require.NoError(t, c.Wait(), string(seen))
	require.NoError(t, screen.Close())
	return string(seen)
}

var escapeSequence = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)

// widestLine returns the widest line that was drawn, without escape sequences.
func widestLine(seen string) (widest string) {
	for _, line := range regexp.MustCompile(`[\r\n]+`).Split(escapeSequence.ReplaceAllString(seen, ""), -1) {
		if utf8.RuneCountInString(line) > utf8.RuneCountInString(widest) {
			widest = line
		}
	}
	return widest
}

func TestProgressIsNeverWiderThanTheTerminal(t *testing.T) {
	t.Parallel()
	example, err := filepath.Abs("../examples/podcast")
	require.NoError(t, err)
	dir := t.TempDir()
	long := strings.Repeat("a long name ", 15) + ".mp3"
	require.NoError(t, os.Symlink(filepath.Join(example, "episodes/one.mp3"), filepath.Join(dir, long)))
	for name, args := range map[string][]string{
		"run":         {"run", example, "--until-idle", "--data", "data"},
		"clips match": {"clips", "match", "--clips", filepath.Join(example, "clips"), long},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := onTerminal(t, dir, "xterm", false, args...)
			require.Regexp(t, `\[[#.]{10,}\]`, seen)
			frame, _, _ := strings.Cut(escapeSequence.ReplaceAllString(seen, ""), "]")
			require.Regexp(t, `^\s*(visiting origins|reading clips, [0-8] of 8) \[`, frame, "the first frame has text")
			require.Contains(t, seen, "left", "the time left, or that it is not known yet")
			require.LessOrEqual(t, utf8.RuneCountInString(widestLine(seen)), terminalColumns, widestLine(seen))
			last := seen[strings.LastIndex(seen, "\x1b[")+1:]
			require.NotContains(t, last, "[#", "the bar is removed at the end")
		})
	}
}

func TestEveryHelpTextFitsTheTerminal(t *testing.T) {
	t.Parallel()
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		help := c.Long + "\n" + c.UsageString()
		if c.Long == "" {
			help = c.Short + "\n" + help
		}
		for line := range strings.Lines(help) {
			line = strings.TrimRight(line, "\n")
			require.True(t, strings.HasPrefix(line, "  leasehold ") || utf8.RuneCountInString(line) <= terminalColumns, "%s: %q", c.CommandPath(), line)
		}
		require.Regexp(t, `^[a-z][^.]*$`, c.Short, c.CommandPath())
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit((&app{}).newRoot())
}

func TestATerminalThatCannotRedrawGetsPlainLines(t *testing.T) {
	t.Parallel()
	example, err := filepath.Abs("../examples/podcast")
	require.NoError(t, err)
	seen := onTerminal(t, t.TempDir(), "dumb", false, "run", example, "--until-idle", "--data", "data")
	require.NotContains(t, seen, "\x1b")
	require.Regexp(t, `(?m)^[0-9]+ of [0-9]+ pairs researched \(`, seen)
}

func TestFindingsOnATerminalAreNotMixedWithABar(t *testing.T) {
	t.Parallel()
	example, err := filepath.Abs("../examples/podcast")
	require.NoError(t, err)
	seen := onTerminal(t, t.TempDir(), "xterm", true, "clips", "match", "--json", "--clips", filepath.Join(example, "clips"), filepath.Join(example, "episodes/one.mp3"))
	require.NotContains(t, seen, "\x1b")
	require.Equal(t, 7, strings.Count(seen, `{"file":`))
}

func TestCSVIsPrintableOnATerminalAndCompleteElsewhere(t *testing.T) {
	t.Parallel()
	rows := []problemRow{{Subject: "\x1b[31mred\u202e", Reason: "r"}}
	screen, terminal := openTerminal(t)
	require.NoError(t, printCSV(&app{out: terminal}, rows))
	require.NoError(t, terminal.Close())
	seen, _ := io.ReadAll(screen) // ends with EIO, because the terminal is closed
	require.Contains(t, string(seen), "\nred,r,")
	require.NoError(t, screen.Close())
	var file bytes.Buffer
	require.NoError(t, printCSV(&app{out: &file}, rows))
	require.Contains(t, file.String(), "\x1b[31mred\u202e,r,")
}

func TestATerminalExecutesNothingOfAMatchAlsoWithoutColours(t *testing.T) {
	for name, value := range map[string]string{"NO_COLOR": "1", "TERM": "dumb"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TERM", "xterm")
			t.Setenv(name, value)
			screen, terminal := openTerminal(t)
			p := newMatchPrinter(terminal, 1)
			require.NoError(t, p.print(types.CodeMatch{
				Repo: "r", Path: "a\x1b[31m.go", Line: 2, Text: "b\x1b]0;title\x07c", Before: []string{"d\x1b[2Je"}, After: []string{"f\u202eg"},
				Ranges: []types.CodeRange{{Start: 0, End: 1}},
			}))
			require.NoError(t, terminal.Close())
			seen, _ := io.ReadAll(screen) // ends with EIO, because the terminal is closed
			require.Equal(t, "r:a.go-1-de\r\nr:a.go:2:bc\r\nr:a.go-3-fg\r\n", string(seen))
			require.NoError(t, screen.Close())
		})
	}
}
