package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"runtime"
)

// checker checks the types of packages with changed files, which takes much less time than to
// compile them.
type checker struct {
	set      *token.FileSet
	imports  types.Importer
	packages map[string]*checked // by import path
}

// checked is a package without a change.
type checked struct {
	goPackage
	parsed   []*ast.File
	literals map[position]types.Type // of its integers
	types    *types.Package
}

// position is a place in a file.
type position struct {
	file   string
	offset int
}

// newChecker returns a checker of packages. It has the go command compile what these import. The
// error is that of the go command, or of a package that does not compile.
func newChecker(ctx context.Context, packages []goPackage) (*checker, error) {
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Export", "cmp", "os", "strconv", "sync"} // which support imports
	for _, p := range packages {
		args = append(args, p.ImportPath)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		exports[p.ImportPath] = p.Export
	}
	c := &checker{set: token.NewFileSet(), packages: map[string]*checked{}}
	c.imports = importer.ForCompiler(c.set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range packages {
		if err := c.addPackage(p); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// addPackage checks a package without a change, and keeps what compiles needs of it.
func (c *checker) addPackage(p goPackage) error {
	k := &checked{goPackage: p, literals: map[position]types.Type{}}
	for _, path := range p.files() {
		parsed, err := parser.ParseFile(c.set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		k.parsed = append(k.parsed, parsed)
	}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	var err error
	if k.types, err = c.config().Check(p.ImportPath, c.set, k.parsed, &info); err != nil {
		return err
	}
	for e, of := range info.Types {
		if literal, ok := e.(*ast.BasicLit); ok && literal.Kind == token.INT {
			at := c.set.Position(literal.Pos())
			k.literals[position{at.Filename, at.Offset}] = of.Type
		}
	}
	c.packages[p.ImportPath] = k
	return nil
}

func (c *checker) config() *types.Config {
	return &types.Config{Importer: c.imports, Sizes: types.SizesFor("gc", runtime.GOARCH)}
}

// compiles reports whether the package of a candidate would compile with another text of its file,
// and with more files.
func (c *checker) compiles(of candidate, text []byte, more ...[]byte) bool {
	k := c.packages[of.pkg.ImportPath]
	var files []*ast.File
	for i, path := range k.files() {
		if path != of.mutant.file {
			files = append(files, k.parsed[i])
		}
	}
	for _, text := range append(more, text) {
		parsed, err := parser.ParseFile(c.set, of.mutant.file, text, parser.SkipObjectResolution)
		if err != nil {
			return false
		}
		files = append(files, parsed)
	}
	_, err := c.config().Check(k.ImportPath, c.set, files, nil)
	return err == nil
}

// step returns the type of the integer that a mutant changes by 1, or nil if it changes none.
func (c *checker) step(of candidate) types.Type {
	if of.mutant.what != "constant + 1" && of.mutant.what != "constant - 1" {
		return nil
	}
	return c.packages[of.pkg.ImportPath].literals[position{of.mutant.file, of.mutant.from}]
}

// steps returns the types of the constants that mutants of a package change, by their numbers.
func (c *checker) steps(numbered map[int]candidate) map[int]types.Type {
	steps := map[int]types.Type{}
	for n, of := range numbered {
		if t := c.step(of); t != nil {
			steps[n] = t
		}
	}
	return steps
}

// switchable reports whether a mutant can be switched at run time. Some cannot, such as those of
// constants in declarations.
func (c *checker) switchable(of candidate) bool {
	k := c.packages[of.pkg.ImportPath]
	return c.compiles(of, withSwitches(of.source, map[int]mutant{0: of.mutant}), supportOf(k.Name, k.types, c.steps(map[int]candidate{0: of})))
}
