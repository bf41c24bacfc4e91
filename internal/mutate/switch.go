package main

import (
	"cmp"
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// edit replaces the text between two offsets. # in its text stands for the number of the mutant.
type edit struct {
	from, to int
	text     string
	kind     editKind
}

// editKind decides the order of edits at the same offset: what ends there is closed first.
type editKind int

const (
	closes editKind = iota
	replaces
	opens
)

// withSwitches returns the text of a file with mutants that are off until the environment names
// the number of one of them. All lines keep their numbers. Mutants may contain each other.
func withSwitches(source []byte, mutants map[int]mutant) []byte {
	type numbered struct {
		edit
		depth int // of the mutant: one that contains others comes before them
	}
	// With the same span, "condition negated" has to contain "operator swapped".
	numbers := slices.SortedFunc(maps.Keys(mutants), func(a, b int) int {
		fromA, toA := mutants[a].span()
		fromB, toB := mutants[b].span()
		return cmp.Or(fromA-fromB, toB-toA, cmp.Compare(mutants[a].what, mutants[b].what), a-b)
	})
	var edits []numbered
	for _, n := range numbers {
		for _, e := range mutants[n].switched {
			e.text = strings.ReplaceAll(e.text, "#", strconv.Itoa(n))
			edits = append(edits, numbered{e, len(edits)})
		}
	}
	slices.SortFunc(edits, func(a, b numbered) int {
		inward := a.depth - b.depth
		if a.kind == closes {
			inward = -inward
		}
		return cmp.Or(a.from-b.from, int(a.kind-b.kind), inward)
	})
	var text []byte
	done := 0
	for _, e := range edits {
		text = append(append(text, source[done:e.from]...), e.text...)
		done = e.to
	}
	return append(text, source[done:]...)
}

// span returns the offsets between which a mutant is switched.
func (m mutant) span() (from, to int) {
	from, to = m.from, m.to
	for _, e := range m.switched {
		from, to = min(from, e.from), max(to, e.to)
	}
	return from, to
}

// These variables of the environment tell a test process which mutant is on, and the file to which
// it appends the number of each mutant that it reaches.
const (
	envOn      = "MUTANT"
	envReached = "MUTANTS_REACHED"
)

// support is the file that the switches of a package need. Types and imports of its steps are
// filled in by supportOf. It opens the file of reached mutants at the start, because a test may give up
// the rights that this needs.
const support = `package %s

import (
	"cmp"
	"os"
	"strconv"
	"sync"
%s)

var (
	mutantOn, _   = strconv.Atoi(os.Getenv("` + envOn + `"))
	mutantReached = openReached(os.Getenv("` + envReached + `"))
	mutantsSeen   sync.Map
)

func openReached(path string) *os.File {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	return f
}

func mutant(n int) bool {
	if mutantReached != nil {
		if _, seen := mutantsSeen.LoadOrStore(n, true); !seen {
			mutantReached.WriteString(strconv.Itoa(n) + "\n")
		}
	}
	return n == mutantOn
}

func mutantError(on bool, f func() error) error {
	if on {
		return nil
	}
	return f()
}

func mutantLess[T cmp.Ordered](orEqual bool, a, b T) bool { return a < b || orEqual && a == b }

func mutantMore[T cmp.Ordered](orEqual bool, a, b T) bool { return a > b || orEqual && a == b }
`

// supportOf returns the file that the mutants of a package need, with a function for each constant
// that returns 1 if its mutant is on. steps has the types of the constants.
func supportOf(name string, self *types.Package, steps map[int]types.Type) []byte {
	var imports, functions strings.Builder
	for _, n := range slices.Sorted(maps.Keys(steps)) {
		i := 0
		text := types.TypeString(types.Default(steps[n]), func(p *types.Package) string {
			if p == self {
				return ""
			}
			i++
			fmt.Fprintf(&imports, "\tp%d_%d %q\n", n, i, p.Path())
			return fmt.Sprintf("p%d_%d", n, i)
		})
		fmt.Fprintf(&functions, "\nfunc mutantStep%d() %s {\n\tif mutant(%d) {\n\t\treturn 1\n\t}\n\treturn 0\n}\n", n, text, n)
	}
	return []byte(fmt.Sprintf(support, name, imports.String()) + functions.String())
}
