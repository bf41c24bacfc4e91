package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const sample = `package p

func bound(n int, err error) (int, error) {
	if n > 9 && err == nil {
		n = 10
	}
	for i := range n {
		if odd(i) {
			continue
		}
	}
	const limit = 1000 // is not moved by one
	var log logger
	log.Warn("not dropped")
	defer tick.Stop()
	failpoint.Reached("bound")
	all = make([]int, 0, 7)
	if err != nil {
		return 3, fmt.Errorf("bound: %w", err)
	}
	return n, err
}

func pass() (int, error) { return bound(0, nil) }
`

func TestMutantsOfAFile(t *testing.T) {
	t.Parallel()
	mutants, err := findMutants("p.go", []byte(sample))
	require.NoError(t, err)
	var got []string
	for _, m := range mutants {
		lines := strings.Split(string(m.apply([]byte(sample))), "\n")
		require.Len(t, lines, strings.Count(sample, "\n")+1, "all else keeps its line")
		got = append(got, m.what+": "+strings.TrimSpace(lines[m.line-1]))
	}
	require.ElementsMatch(t, []string{
		"condition negated: if !(n > 9 && err == nil) {",
		"operator swapped: if n >= 9 && err == nil {",
		"operator swapped: if n > 9 || err == nil {",
		"operator swapped: if n > 9 && err != nil {",
		"constant + 1: if n > (9 + 1) && err == nil {",
		"constant - 1: if n > (9 - 1) && err == nil {",
		"statement dropped: ",
		"constant + 1: n = (10 + 1)",
		"constant - 1: n = (10 - 1)",
		"condition negated: if !(odd(i)) {",
		"statement dropped: ",
		"continue made break: break",
		"constant + 1: all = make([]int, (0 + 1), 7)",
		"constant - 1: all = make([]int, (0 - 1), 7)",
		"operator swapped: if err == nil {",
		"statement dropped: ",
		"error made nil: return 3, nil",
		"statement dropped: ",
		"error made nil: return n, nil",
		"statement dropped: func pass() (int, error) {  }",
		"constant + 1: func pass() (int, error) { return bound((0 + 1), nil) }",
		"constant - 1: func pass() (int, error) { return bound((0 - 1), nil) }",
	}, got)
}

// nested has all kinds of mutants inside each other, and of types that are not int.
const nested = `package example

import (
	"errors"
	"time"
)

type level uint8

const low level = 3

func Text(n int, wait time.Duration, l level, err error) (string, error) {
	var text string
	for i := range n {
		if i == 1 && (n > 4 || wait <= 2*time.Second) {
			continue
		}
		if func() bool { return i == 6 }() {
			break
		}
		text += string(rune('a' + i))
	}
	if l >= 1 && l < low+1 || text == "" {
		return text, nil
	}
	return text, errors.Join(err, errors.New("high"))
}
`

// Each mutant changes the results of Text as the same change of the source does: the table is made
// with both, and the tests of the package see all of it.
func TestAMutantThatIsSwitchedOnDoesWhatTheChangedSourceDoes(t *testing.T) {
	module(t, "9")
	require.NoError(t, os.WriteFile("p.go", []byte(nested), 0o600))
	require.NoError(t, os.WriteFile("p_test.go", []byte(`package example

import (
	"fmt"
	"testing"
	"time"
)

func TestPrint(t *testing.T) {
	for n := range 9 {
		for _, wait := range []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second} {
			for l := range level(6) {
				text, err := Text(n, wait, l, nil)
				fmt.Printf("%q %v\n", text, err)
			}
		}
	}
}
`), 0o600))
	packages, err := listPackages(t.Context(), []string{"."})
	require.NoError(t, err)
	check, err := newChecker(t.Context(), packages)
	require.NoError(t, err)
	all, err := candidates(packages, "")
	require.NoError(t, err)
	chosen, invalid := choose(all, 0, check)
	require.NotZero(t, invalid)
	mutants := newTester(t.TempDir(), 1)
	mutants.limit = time.Minute
	require.NoError(t, mutants.prepare(chosen, check))
	s, err := mutants.suite(t.Context(), packages[0])
	require.NoError(t, err)
	printed := func(binary string, env string) string {
		_, text, err := mutants.runTests(t.Context(), testRun{binary: binary, of: s, names: []string{"TestPrint"}, limit: 10 * time.Second, env: env})
		require.NoError(t, err)
		lines := strings.Split(string(text), "\n")
		return strings.Join(lines[:min(len(lines), 217)], "\n") // without the time that the test took
	}
	original := printed(s.binary, "MUTANT=0")
	switchable := 0
	for _, c := range chosen {
		if !c.switchable {
			continue
		}
		switchable++
		overlay := mutants.newFile()
		require.NoError(t, mutants.writeOverlay(overlay, map[string][]byte{"p.go": c.mutant.apply(c.source)}))
		binary, err := mutants.compile(t.Context(), packages[0], overlay)
		require.NoError(t, err)
		want := printed(binary, "MUTANT=0")
		require.NotEqual(t, original, want, "the table shows this change: %s", c.mutant.diff(c.source))
		require.Equal(t, want, printed(s.binary, "MUTANT="+strconv.Itoa(c.number)), c.mutant.diff(c.source))
	}
	require.Greater(t, switchable, 20)
	require.Less(t, switchable, len(chosen), "the declaration of a constant is compiled by itself")
}

// module writes a package whose tests notice a change of the bound and none of the error,
// and enters its folder.
func module(t *testing.T, testedBound string) {
	t.Helper()
	dir := t.TempDir()
	gocache, err := exec.Command("go", "env", "GOCACHE").Output() // which is in the user's cache folder
	require.NoError(t, err)
	t.Setenv("GOCACHE", strings.TrimSpace(string(gocache)))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for name, text := range map[string]string{
		"go.mod": "module example\n\ngo 1.24\n",
		"p.go": `package example

func Bound(n int) bool {
	return n > 9
}

func Fail(err error) error {
	return err
}
`,
		"p_test.go": `package example

import "testing"

func TestBound(t *testing.T) {
	if Bound(` + testedBound + `) || !Bound(10) {
		t.Fatal("wrong")
	}
}

func TestFail(t *testing.T) {
	if Fail(nil) != nil {
		t.Fatal("wrong")
	}
}
`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	t.Chdir(dir)
}

func TestTheRunnerTellsKilledFromSurvived(t *testing.T) {
	module(t, "9")
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-sample", "0", "."}, &out))
	require.Contains(t, out.String(), "killed   p.go:4: operator swapped\n    - \treturn n > 9\n    + \treturn n >= 9\n")
	require.Contains(t, out.String(), "SURVIVED p.go:8: error made nil\n    - \treturn err\n    + \treturn nil\n")
	require.Contains(t, out.String(), "3 of 4 killed (75 %), 0 of them by tests of other packages, seed 1, 2 drawn that do not compile\n")
	out.Reset()
	require.NoError(t, run(t.Context(), []string{"-at", "p.go:8", "-sample", "0", "."}, &out))
	require.Contains(t, out.String(), "0 of 1 killed (0 %)")
	source, err := os.ReadFile("p.go")
	require.NoError(t, err)
	require.NotContains(t, string(source), ">=", "the tree is as it was")
}

func TestTheSameSeedChoosesTheSameMutants(t *testing.T) {
	module(t, "9")
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		require.NoError(t, run(t.Context(), []string{"-parallel", "1", "-seed", "7", "-sample", "2", "."}, out))
	}
	require.Equal(t, first.String(), second.String())
	require.Contains(t, first.String(), "of 2 killed")
}

func TestAPlaceWithoutMutantsIsAnError(t *testing.T) {
	module(t, "9")
	require.ErrorContains(t, run(t.Context(), []string{"-at", "p.go:1", "."}, &bytes.Buffer{}), "no mutants in .")
	require.ErrorContains(t, run(t.Context(), []string{"-at", "p.go:x", "."}, &bytes.Buffer{}), "want FILE or FILE:LINE")
}

func TestOnlyTestsThatReachTheMutantRun(t *testing.T) {
	module(t, "9")
	require.NoError(t, os.WriteFile("p_test.go", []byte("package example\n\nimport \"testing\"\n\nfunc TestNothing(t *testing.T) {}\n"), 0o600))
	packages, err := listPackages(t.Context(), []string{"."})
	require.NoError(t, err)
	s := suite{pkg: packages[0], tests: []measured{{name: "TestA", reaches: map[int]bool{1: true}}, {name: "TestB", reaches: map[int]bool{2: true}}}}
	require.Equal(t, s.tests[1:], s.reaching(candidate{number: 2, switchable: true}))
	require.Empty(t, s.reaching(candidate{number: 3, switchable: true}))
	require.Equal(t, s.tests, s.reaching(candidate{number: 2}), "all may reach one that is compiled by itself")
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-at", "p.go:4", "-sample", "0", "."}, &out))
	require.Contains(t, out.String(), "SURVIVED p.go:4: operator swapped")
}

func TestATestThatFailsWithoutAMutantIsLeftOut(t *testing.T) {
	module(t, "10") // Bound(10) is true
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-at", "p.go:8", "-sample", "0", "."}, &out))
	require.Contains(t, out.String(), "SURVIVED p.go:8: error made nil")
}

func TestOtherPackagesKillWhatTheOwnTestsDoNotNotice(t *testing.T) {
	module(t, "9")
	require.NoError(t, os.Mkdir("outside", 0o700))
	require.NoError(t, os.WriteFile("outside/o_test.go", []byte(`package outside

import (
	"errors"
	"example"
	"testing"
)

func TestFails(t *testing.T) {
	if example.Fail(errors.New("x")) == nil {
		t.Fatal("lost")
	}
}
`), 0o600))
	for args, want := range map[string]string{
		"-tests ./outside -parallel 2": "4 of 4 killed (100 %), 1 of them by tests of other packages",
		"-own -parallel 2":             "3 of 4 killed (75 %), 0 of them",
	} {
		var out bytes.Buffer
		require.NoError(t, run(t.Context(), append(strings.Fields(args), "-sample", "0", "."), &out))
		require.Contains(t, out.String(), want)
	}
}
