package promela_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/promela"
	"leasehold/tup4fun/syntax"
)

var counted = regexp.MustCompile(`(?m)^\s*(\d+) states, stored|^\s*(\d+) transitions`)

// spin counts states and transitions of a program with Spin, without reductions.
func spin(t testing.TB, text string) (states, transitions int64) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "m.pml"), []byte(text), 0o600))
	for _, args := range [][]string{{"spin", "-o1", "-o2", "-a", "m.pml"},
		{"cc", "-O0", "-w", "-DNOREDUCE", "-DSAFETY", "-DVECTORSZ=16384", "-o", "pan", "pan.c"}, {"./pan", "-m2000000", "-w20"}} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%v\n%s\n%s", args, out, text)
		if args[0] == "./pan" {
			require.Contains(t, string(out), "errors: 0", text)
			found := counted.FindAllStringSubmatch(string(out), -1)
			require.Len(t, found, 2, string(out))
			states, err = strconv.ParseInt(found[0][1], 10, 64)
			require.NoError(t, err)
			transitions, err = strconv.ParseInt(found[1][2], 10, 64)
			require.NoError(t, err)
		}
	}
	return states - promela.ExtraStates, transitions - promela.ExtraTransitions
}

// requireSameCounts requires that Spin and package explore count the same.
func requireSameCounts(t testing.TB, name, src string, capacity int) {
	t.Helper()
	p, err := syntax.Parse(name, src)
	require.NoError(t, err, src)
	p.Props = nil // they are checked elsewhere and add no states
	m, err := explore.Compile(p, capacity)
	require.NoError(t, err)
	r := explore.Check(t.Context(), m, explore.Options{})
	require.NotEqual(t, explore.Incomplete, r.Outcome, name)
	text, err := promela.Export(m, promela.Seen{Spaces: r.Spaces, Least: r.Least, Most: r.Most})
	require.NoError(t, err)
	states, transitions := spin(t, text)
	require.Equal(t, fmt.Sprint(r.States, r.Transitions), fmt.Sprint(states, transitions), "%s: here, and with Spin\n%s", name, src)
}

func TestSpinCountsTheSame(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{
		"philosophers": "Fork = (R, INF, {(1), (2), (3)})\n---\npar 3 * proc Phil(i) = loop true -> Fork.get(i); Fork.get(i % 3 + 1); Fork.put(i); Fork.put(i % 3 + 1) pool rap",
		"kinds":        "symbol a, A = (R, 3, {(2), (1), (1)}), B = (Q, 2, {}), C = (S, 2, {}), D = (F, 3, {}), E = (L, 3, {(1, a)})\n---\npar var x; do A.get(?x) -> B.put(x); D.put(x, a) od [] var x; do true -> B.get(?x); C.put(x); C.get(x); D.query(_, a); E.put(x, a) od [] E.getp(1, _); E.queryp(2, a); D.get(1, a); E.get(1, \"a\") rap",
		"atomic":       "S = (R, INF, {}), x = 0, A = [1, 2]\n---\npar 3 * atomic { if count(S, 1) < 2 -> S.put(1); x := x + A[x % 2] [] else -> skip fi } [] atomic { S.get(1); if x > 1 -> x := 0; do x < 3 -> x := x + 1 od [] x <= 1 -> A[1] := 5 fi; S.put(2) } rap",
		"back":         "S = (R, INF, {(1), (2), (3)}), x = 0\n---\npar 2 * atomic { do S.get(?x) -> skip od } [] atomic { do x < 3 -> x := x + 1 od; S.put(4) } rap",
		"timeout":      "x = 0\n---\npar if x = 1 -> x := 2 [] timeout -> x := 3 fi [] if x = 3 -> x := 1 fi rap",
	} {
		requireSameCounts(t, name, src, 0)
	}
}

// large are models with more than 300,000 states without reductions. Only make soak
// checks them.
var large = []string{"conform/models/lease.tup", "mergesort/mergesort.broken-late.tup"}

func isLarge(path string) bool {
	return slices.ContainsFunc(large, func(name string) bool { return strings.HasSuffix(filepath.ToSlash(path), name) })
}

// TestSpinCountsTheSameOnEveryModelOfTheTree explores without reductions, so it may need
// more states than the checks of the models themselves.
func TestSpinCountsTheSameOnEveryModelOfTheTree(t *testing.T) {
	t.Parallel()
	found := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != "..":
			return fs.SkipDir
		case filepath.Ext(path) != ".tup" || d.Name() == "slim.tup": // a program without its initialisation
			return nil
		case isLarge(path) && os.Getenv("SPIN_PROGRAMS") == "":
			return nil
		}
		found++
		src, err := os.ReadFile(path)
		require.NoError(t, err)
		t.Run(d.Name(), func(t *testing.T) {
			t.Parallel()
			requireSameCounts(t, path, string(src), 0)
		})
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, found, 12)
}

func Example() {
	p, err := syntax.Parse("counter.tup", "x = 0\n---\nloop x < 2 -> x := x + 1 pool")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := explore.Compile(p, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := promela.Export(m, promela.Seen{Most: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Count(text, "proctype"), strings.Contains(text, "(v_x < 2)"))
	// Output: 1 true
}
