package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	code        = regexp.MustCompile("`([^`\n]+)`")
	goTest      = regexp.MustCompile(`go test[^;|&]*`)
	pattern     = regexp.MustCompile(`-(?:bench|run) '?([^ ']+)'?`)
	goPackage   = regexp.MustCompile(`\./[\w./-]*`)
	makeTarget  = regexp.MustCompile(`^make ([a-z-]+)`)
	placeholder = regexp.MustCompile(`\[[^\]]*\]|\{[^}]*\}`)
	number      = regexp.MustCompile(` [NX]\b`) // in place of a number
)

// TestEveryCommandInTextExists checks commands between backquotes, which are not
// executed because they take long (benchmarks) or stand for many.
func TestEveryCommandInTextExists(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	for _, page := range pages(t) {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(filepath.Join(root, page))
			require.NoError(t, err)
			for _, m := range code.FindAllStringSubmatch(string(content), -1) {
				checkInline(t, page, m[1], string(makefile))
			}
			for _, b := range blocks(t, page) {
				for _, command := range goTest.FindAllString(b.text, -1) {
					checkGoTest(t, page, command)
				}
			}
		})
	}
}

func checkInline(t *testing.T, page, text, makefile string) {
	t.Helper()
	for _, command := range goTest.FindAllString(text, -1) {
		checkGoTest(t, page, command)
	}
	if m := makeTarget.FindStringSubmatch(text); m != nil {
		require.Contains(t, makefile, "\n"+m[1]+":", "%s: `%s`: the Makefile has no such target", page, text)
	}
	if args, ok := strings.CutPrefix(strings.TrimPrefix(text, "./"), "leasehold "); ok {
		requireParsed(t, page, number.ReplaceAllString(placeholder.ReplaceAllString(args, ""), " 1"))
	}
}

// checkGoTest fails unless the packages of a go test command exist, and a test or a
// benchmark of the first one is named as its -run or -bench selects.
func checkGoTest(t *testing.T, page, command string) {
	t.Helper()
	dir := goPackage.FindString(command)
	require.NotEmpty(t, dir, "%s: %s: want a package", page, command)
	if strings.HasSuffix(dir, "...") {
		require.DirExists(t, filepath.Join(root, strings.TrimSuffix(dir, "...")), "%s: %s", page, command)
		return
	}
	names := testNames(t, dir)
	require.NotEmpty(t, names, "%s: %s: the package has no tests", page, command)
	for _, m := range pattern.FindAllStringSubmatch(command, -1) {
		first, _, _ := strings.Cut(m[1], "/")
		if first == "^$" || first == "." || strings.ToUpper(first) == first {
			continue
		}
		selects, err := regexp.Compile(first)
		require.NoError(t, err, "%s: %s", page, command)
		require.True(t, func() bool {
			for _, name := range names {
				if selects.MatchString(name) {
					return true
				}
			}
			return false
		}(), "%s: %s: %s selects no test or benchmark", page, command, m[1])
	}
}

// testNames returns the names of the tests, benchmarks and fuzz tests of a package.
func testNames(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				names = append(names, fn.Name.Name)
			}
		}
	}
	return names
}
