package analyse

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/shared/code"
)

var update = flag.Bool("update", false, "write the golden files again")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// analyse returns the document of a file, without ctags.
func analyse(t testing.TB, name string, content []byte) code.Blob {
	t.Helper()
	a := New("")
	defer a.Close()
	b, err := a.Blob(t.Context(), name, code.OIDOf(content), content)
	require.NoError(t, err)
	return b
}

// Defects 9, 10, 17 of earlier indexers: each file of testdata has an outcome, and the
// numbers of abc.go.txt are those that its comments count by hand.
func TestGoldenFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*")
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, ".golden") {
			continue
		}
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		got := describe(analyse(t, "dir/"+strings.TrimSuffix(filepath.Base(file), ".txt"), content))
		golden := file + ".golden"
		if *update {
			require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.Equal(t, string(want), got, file)
	}
}

// describe prints a document.
func describe(b code.Blob) string {
	var s strings.Builder
	fmt.Fprintf(&s, "language %q, %d bytes, %d lines: %d code, %d comment; complexity %d; generated %v; skipped %q\n",
		b.Lang, b.Size, b.Lines, b.Code, b.Comment, b.Complexity, b.Generated, b.Skipped)
	for _, x := range b.Symbols {
		about := ""
		if x.Approx {
			about = " (approximate)"
		}
		fmt.Fprintf(&s, "%d-%d %s %s in %q: %s%s\n", x.Line, x.End, x.Kind, x.Name, x.Scope, x.Signature, about)
	}
	for _, f := range b.Functions {
		fmt.Fprintf(&s, "%d %s.%s: A %d, B %d, C %d, score %.2f, abc_seed %.2f\n", f.Line, f.Receiver, f.Function, f.A, f.B, f.C, f.Score, f.ABCSeed)
	}
	return s.String()
}
