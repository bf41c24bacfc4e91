package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A source is one Go file of the module.
type source struct {
	path  string // from the module's folder
	lines int
	ast   *ast.File
}

func (s source) test() bool           { return strings.HasSuffix(s.path, "_test.go") }
func (s source) line(p token.Pos) int { return files.Position(p).Line }

var (
	files   = token.NewFileSet()
	sources = sync.OnceValues(readSources)
)

// tree returns every Go file of the module, parsed.
func tree(t *testing.T) []source {
	t.Helper()
	all, err := sources()
	require.NoError(t, err)
	return all
}

func readSources() ([]source, error) {
	const root = "../.."
	var all []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(files, path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		all = append(all, source{path: filepath.ToSlash(rel), lines: strings.Count(string(text), "\n"), ast: file})
		return err
	})
	return all, err
}
