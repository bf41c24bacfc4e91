// Command typecheck checks the types of packages and of their tests for other systems:
//
//	go run ./internal/typecheck windows/amd64,darwin/arm64 ./...
//
// It compiles nothing, so it takes a tenth of the processor time of `GOOS=windows go vet ./...`, which
// compiles all that the packages import. What it cannot see are mistakes of a linker and of assembly. It
// exits with 1 if there is an error.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: typecheck GOOS/GOARCH[,GOOS/GOARCH]... PACKAGE...")
		os.Exit(2)
	}
	failed := false
	for _, system := range strings.Split(os.Args[1], ",") {
		errs, err := check(system, os.Args[2:])
		if err != nil {
			errs = append(errs, err.Error())
		}
		for _, e := range errs {
			fmt.Fprintf(os.Stderr, "typecheck: %s: %s\n", system, e)
		}
		failed = failed || len(errs) > 0
	}
	if failed {
		os.Exit(1)
	}
}

// check returns the errors of the packages that the patterns match, for a system GOOS/GOARCH without cgo. It
// reads the bodies of functions in those packages only. err is set if the packages cannot be listed, or
// if no package has a file for that system.
func check(system string, patterns []string) (errs []string, err error) {
	goos, goarch, ok := strings.Cut(system, "/")
	if !ok {
		return nil, fmt.Errorf("want GOOS/GOARCH, got %q", system)
	}
	all, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes,
		Env:   append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		Tests: true,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no packages match %s", strings.Join(patterns, " "))
	}
	for _, p := range all {
		for _, e := range p.Errors {
			if text := e.Error(); !slices.Contains(errs, text) { // a package is there again with its tests
				errs = append(errs, text)
			}
		}
	}
	return errs, nil
}
