package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A block of a page: indented commands, or what stands between fences.
type block struct {
	info  string // "": what the commands before print
	lines []string
}

// blocksOf takes a page apart. The text before a fenced block is in its info, if the
// fence has one.
func blocksOf(page string) (all []block) {
	var text []string
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case strings.HasPrefix(line, "```"):
			b := block{info: "output"}
			if line != "```" {
				b.info = strings.Join(text, " ")
			}
			for i++; lines[i] != "```"; i++ {
				b.lines = append(b.lines, lines[i])
			}
			all = append(all, b)
			text = nil
		case strings.HasPrefix(line, "    "):
			if n := len(all); n == 0 || all[n-1].info != "commands" || len(text) > 0 {
				all = append(all, block{info: "commands"})
			}
			b := &all[len(all)-1]
			b.lines = append(b.lines, strings.TrimSpace(line))
			text = nil
		case line != "":
			text = append(text, line)
		}
	}
	return all
}

var (
	tupFile  = regexp.MustCompile("`([a-z]+\\.tup)`")
	exitCode = regexp.MustCompile(`# .*exit code (\d)|# exit code (\d)`)
)

// TestTheTutorialOfTup4funCanBeTyped does what docs/tup4fun.md says: it writes the
// files that are shown, runs the commands, and looks for the output that is shown.
// A … in it stands for anything.
func TestTheTutorialOfTup4funCanBeTyped(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	page, err := os.ReadFile(filepath.Join(root, "docs/tup4fun.md"))
	require.NoError(t, err)
	dir := t.TempDir()
	for _, folder := range []string{"examples", "tup4fun"} {
		require.NoError(t, os.Symlink(filepath.Join(root, folder), filepath.Join(dir, folder)))
	}
	path := realBinary(t) + string(os.PathListSeparator) + os.Getenv("PATH")
	var printed string
	commands := 0
	for _, b := range blocksOf(string(page)) {
		text := strings.Join(b.lines, "\n") + "\n"
		switch name := tupFile.FindStringSubmatch(b.info); {
		case name != nil:
			require.NoError(t, os.WriteFile(filepath.Join(dir, name[1]), []byte(text), 0o600))
		case b.info == "commands" && strings.Contains(text, "leasehold "):
			printed = ""
			for _, line := range b.lines {
				printed += typed(t, dir, path, line)
				commands++
			}
		case b.info == "output" && printed != "":
			shows(t, printed, b.lines)
			printed = ""
		}
	}
	require.Greater(t, commands, 15)
}

// typed runs a command, and returns what it prints. It must end with the exit code
// that its comment names.
func typed(t *testing.T, dir, path, line string) string {
	t.Helper()
	want := 0
	if m := exitCode.FindStringSubmatch(line); m != nil {
		want, _ = strconv.Atoi(m[1] + m[2])
	}
	c := exec.Command("sh", "-c", line)
	c.Dir, c.Env = dir, append(os.Environ(), "PATH="+path)
	out, _ := c.CombinedOutput()
	require.Equal(t, want, c.ProcessState.ExitCode(), "%s\n%s", line, out)
	return string(out)
}

// shows fails unless the lines are printed in that order, others between them.
func shows(t *testing.T, printed string, lines []string) {
	t.Helper()
	rest := printed
	for _, line := range lines {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(line)), "…", ".*")
		at := regexp.MustCompile(pattern).FindStringIndex(rest)
		require.NotNil(t, at, "%q is not printed where the page shows it:\n%s", line, printed)
		rest = rest[at[1]:]
	}
}
