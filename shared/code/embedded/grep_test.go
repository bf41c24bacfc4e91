package embedded_test

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
	"leasehold/shared/code/embedded"
)

// grep returns the lines, as PATH:LINE, that grep -rn finds in the files of paths. It reads
// bytes that are not UTF-8 as text, as the index does.
func grep(t testing.TB, dir string, c comparison, paths map[string]bool) []string {
	arguments := []string{"-rnaZ"}
	for _, option := range c.options {
		arguments = append(arguments, "-"+string(option))
	}
	pattern := c.pattern
	if strings.HasSuffix(pattern, "$") && !strings.Contains(c.options, "F") {
		pattern = strings.TrimSuffix(pattern, "$") + "\r?$" // $ of the index is also before CRLF
	}
	cmd := exec.CommandContext(t.Context(), "grep", append(arguments, "-e", pattern, "--", dir)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	var out, errors bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errors
	if err := cmd.Run(); err != nil {
		require.Equal(t, 1, cmd.ProcessState.ExitCode(), errors.String())
	}
	var found []string
	for line := range bytes.Lines(out.Bytes()) {
		path, rest, ok := bytes.Cut(line, []byte{0})
		if number, _, _ := bytes.Cut(rest, []byte(":")); ok && paths[string(path)] {
			found = append(found, string(path)+":"+string(number))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// linesOf returns the lines, as PATH:LINE, that the index finds without a limit.
func linesOf(t testing.TB, x *embedded.Index, query string) []string {
	q, err := code.Parse(query)
	require.NoError(t, err)
	var found []string
	stats, err := x.Search(t.Context(), q, code.Options{Timeout: time.Hour}, func(m code.Match) bool {
		found = append(found, m.Path+":"+strconv.Itoa(m.Line))
		return true
	})
	require.NoError(t, err)
	require.Empty(t, stats.Stopped, query)
	slices.Sort(found)
	require.Equal(t, len(found), len(slices.Compact(slices.Clone(found))), "%s: each line comes once", query)
	return found
}

func TestTheLinesFoundAreThoseOfGrep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := generated(t, dir, 150, 7)
	for name, o := range map[string]embedded.Options{"raw": {}, "compressed": {Compress: true}} {
		x := open(t, o)
		c.indexed(t, x)
		requireGrep(t, dir, c, x, name)
	}
}

// requireGrep compares the index with grep for each committed query.
func requireGrep(t testing.TB, dir string, c *corpus, x *embedded.Index, name string) {
	paths := map[string]bool{}
	for _, p := range c.indexedPaths() {
		paths[p] = true
	}
	total := 0
	for _, q := range committedQueries(t) {
		want, got := grep(t, dir, q, paths), linesOf(t, x, q.query())
		if !slices.Equal(want, got) {
			require.Failf(t, "other lines than grep", "%s, %s: %d lines, grep %d; only in one: %s", name, q.query(), len(got), len(want), strings.Join(difference(want, got), " "))
		}
		total += len(got)
	}
	require.Positive(t, total)
	t.Logf("%s: %d lines of %d queries equal those of grep", name, total, len(committedQueries(t)))
}

// difference returns up to ten entries that only one of two sorted lists has.
func difference(a, b []string) (only []string) {
	for len(only) < 10 && (len(a) > 0 || len(b) > 0) {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			only, a = append(only, "grep:"+a[0]), a[1:]
		case len(a) == 0 || b[0] < a[0]:
			only, b = append(only, "index:"+b[0]), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return only
}
