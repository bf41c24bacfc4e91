package archtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Files named tuples.go convert between tuples and structs, and read fields by their
// index. These are the other places that may.
var mayIndexTuples = map[string]string{
	"shared/tuple":                      "it defines tuples",
	"shared/space/arguments.go":         "it converts the arguments of procedures",
	"shared/protocol/task/arguments.go": "it converts the arguments of procedures",
	"shared/protocol/task/answers.go":   "it converts the answers of procedures",
	"shared/protocol/task/history.go":   "it converts the history records of ended tasks",
	"shared/space/tx.go":                "it converts space.Expired",
	"shared/space/trace/lease.go":       "a trace names leases without the protocol packages",
	"shared/space/engine":               "it orders tuples by the field that the options of a space name",
	"coordinator/gate/native":           "it passes lists of numbers in a tuple",
	"shared/protocol/interop":           "the fields of its patterns have positions and no meaning",
	"shared/space/spacetest":            "its tuples have positions and no meaning",
	"examples/bots":                     lesson,
	"examples/buffer":                   lesson,
	"examples/election":                 lesson,
	"examples/fridge":                   lesson,
	"examples/hello":                    lesson,
	"examples/lock":                     lesson,
	"examples/rpc":                      lesson,
	"examples/wordcount":                lesson,
}

// lesson is the reason of the programs of the course.
const lesson = "a beginner sees the tuple itself"

// A typeChecker checks packages of the module against the compiled form of what they
// import.
type typeChecker struct {
	packages []compiled
	files    *token.FileSet
	imports  types.Importer
}

// compiled is what go list tells about a package and its export data.
type compiled struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// newTypeChecker compiles the module if it is not compiled yet.
func newTypeChecker(t *testing.T) typeChecker {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles", "./...")
	cmd.Dir = "../.."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	c := typeChecker{files: token.NewFileSet()}
	exports := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p compiled
		require.NoError(t, dec.Decode(&p))
		c.packages, exports[p.ImportPath] = append(c.packages, p), p.Export
	}
	c.imports = importer.ForCompiler(c.files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return c
}

// check parses and checks one package; source, if not nil, is the content of its file.
func (c typeChecker) check(t *testing.T, path string, source any, names ...string) ([]*ast.File, types.Info) {
	t.Helper()
	var parsed []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(c.files, name, source, parser.SkipObjectResolution)
		require.NoError(t, err)
		parsed = append(parsed, file)
	}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	_, err := (&types.Config{Importer: c.imports}).Check(path, c.files, parsed, &info)
	require.NoError(t, err)
	return parsed, info
}

func TestTupleFieldsAreReadByIndexOnlyWhereTheyAreConverted(t *testing.T) {
	t.Parallel()
	c := newTypeChecker(t)
	for _, p := range c.packages {
		name, mine := ours(p.ImportPath)
		if !mine {
			continue
		}
		var paths []string
		for _, f := range p.GoFiles {
			paths = append(paths, filepath.Join(p.Dir, f))
		}
		files, info := c.check(t, p.ImportPath, nil, paths...)
		for _, file := range files {
			path := name + "/" + filepath.Base(c.files.Position(file.Pos()).Filename)
			if filepath.Base(path) == "tuples.go" || mayIndex(path) {
				continue
			}
			for _, at := range indexedFields(file, info) {
				t.Errorf("%s:%d reads a tuple's field by its index: convert the tuple to a struct in tuples.go of its protocol",
					path, c.files.Position(at.Pos()).Line)
			}
		}
	}
}

func TestIndexedFieldsAreFound(t *testing.T) {
	t.Parallel()
	files, info := newTypeChecker(t).check(t, "p", strings.Join([]string{
		"package p", `import "leasehold/shared/tuple"`, "var t tuple.Tuple", "var p tuple.Template", "var m []string",
		"var a, b, c, d = t.Str(1), t[2], p[0], m[0]", "func f(i int) (any, tuple.Tuple) { return t[i], t[1:] }",
	}, "\n"), "p.go")
	require.Len(t, indexedFields(files[0], info), 3)
}

func mayIndex(path string) bool {
	for place := range mayIndexTuples {
		if within(path, place) {
			return true
		}
	}
	return false
}

// indexedFields returns the expressions of a file that index a tuple or a template by
// a constant, and the calls of Str, Int64 and Bool of a tuple.
func indexedFields(file *ast.File, info types.Info) (found []ast.Expr) {
	isTuple := func(e ast.Expr) bool {
		name := fmt.Sprint(info.Types[e].Type)
		return name == module+"/shared/tuple.Tuple" || name == module+"/shared/tuple.Template"
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			if isTuple(n.X) && info.Types[n.Index].Value != nil {
				found = append(found, n)
			}
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && isTuple(s.X) && slices.Contains([]string{"Str", "Int64", "Bool"}, s.Sel.Name) {
				found = append(found, n)
			}
		}
		return true
	})
	return found
}
