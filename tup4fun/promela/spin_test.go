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

var counted = regexp.MustCompile(`errors: (\d+)|(?m)^\s*(\d+) states, stored|^\s*(\d+) transitions`)

// compile makes ./pan from a model, in a folder of its own that it returns.
func compile(t testing.TB, text string, options ...string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "m.pml"), []byte(text), 0o600))
	run(t, dir, "spin", "-o1", "-o2", "-a", "m.pml")
	run(t, dir, "cc", append([]string{"-O0", "-w", "-DNOREDUCE", "-DVECTORSZ=16384", "-o", "pan", "pan.c"}, options...)...)
	return dir
}

// run runs a command in a folder, and returns its output.
func run(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %v in %s\n%s", name, args, dir, out)
	return string(out)
}

// spin counts states, transitions and stuck states of a model with Spin, without reductions.
func spin(t testing.TB, text string) (states, transitions, stuck int64) {
	t.Helper()
	out := run(t, compile(t, text, "-DSAFETY", "-DNOCLAIM"), "./pan", "-m2000000", "-w20", "-c0")
	require.NotContains(t, out, "assertion violated", text)
	found := counted.FindAllStringSubmatch(out, -1)
	require.Len(t, found, 3, out)
	var n [3]int64
	for i, f := range found {
		var err error
		n[i], err = strconv.ParseInt(f[i+1], 10, 64)
		require.NoError(t, err)
	}
	return n[1] - promela.ExtraStates, n[2] - promela.ExtraTransitions, n[0]
}

// requireSameCounts requires that Spin and package explore count the same states, transitions and stuck
// states.
func requireSameCounts(t testing.TB, name, src string, capacity int) {
	t.Helper()
	p, err := syntax.Parse(name, src)
	require.NoError(t, err, src)
	p.Props = nil // they are checked elsewhere and add no states
	m, err := explore.Compile(p, capacity)
	require.NoError(t, err)
	r := explore.Check(t.Context(), m, explore.Options{})
	require.NotEqual(t, explore.Incomplete, r.Outcome, name)
	text, err := promela.Export(m, promela.SeenIn(r))
	require.NoError(t, err)
	states, transitions, stuck := spin(t, text)
	require.Equal(t, fmt.Sprint(r.States, r.Transitions, r.Stuck), fmt.Sprint(states, transitions, stuck), "%s: here, and with Spin\n%s", name, src)
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
var large = []string{
	"bots/bots.tup", "conform/models/lease.tup", "mergesort/mergesort.broken-late.tup", "protocols/index-flow.broken-clear.tup",
	"protocols/take-over.broken-claim.tup", "protocols/take-over.broken-flight.tup",
}

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
		case filepath.Ext(path) != ".tup" || strings.HasSuffix(filepath.Dir(path), "examples/original"): // programs without their start
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
