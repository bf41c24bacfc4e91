package promela_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// generator writes random programs with small state spaces.
type generator struct{ r *rand.Rand }

func (g generator) pick(options ...string) string { return options[g.r.IntN(len(options))] }

func (g generator) value() string {
	return g.pick("0", "1", "2", "x", "y", "v", "a", "A[x % 2]", "(x + y) % 3", "-1")
}

func (g generator) cond() string {
	return g.pick("x < y", "x = v", "!(y >= 1)", "count(S) < 2", "count(T, _, 1) = 0", "x != a & y < 2", "true", "A[1] = x | v = 0")
}

func (g generator) fields(put bool) string {
	n := 1 + g.r.IntN(2)
	fields := make([]string, n)
	for i := range fields {
		fields[i] = g.value()
		if k := g.r.IntN(3); !put && k == 0 {
			fields[i] = "_"
		} else if !put && k == 1 {
			fields[i] = []string{"?v", "?w"}[i]
		}
	}
	return "(" + strings.Join(fields, ", ") + ")"
}

func (g generator) wait() string {
	verb := g.pick("put", "put", "get", "get", "query")
	return g.pick("S", "T") + "." + verb + g.fields(verb == "put")
}

// step returns a statement that never blocks.
func (g generator) step() string {
	if g.r.IntN(3) == 0 {
		return g.pick("S", "T") + "." + g.pick("getp", "queryp") + g.fields(false)
	}
	return g.pick("x := (x + 1) % 3", "y := 2 - y", "v := x", "A[y % 2] := 1 - A[0]", "skip", "w := (y * y) % 3")
}

func (g generator) statement(depth int) string {
	k := g.r.IntN(10)
	if depth == 0 && k >= 6 {
		k %= 6
	}
	switch {
	case k < 4:
		return g.wait()
	case k < 6:
		return g.step()
	case k < 7:
		return fmt.Sprintf("if %s -> %s [] %s -> %s [] else -> %s fi", g.cond(), g.body(depth-1), g.wait(), g.step(), g.step())
	case k < 8:
		return fmt.Sprintf("do %s -> %s od", g.cond(), g.body(depth-1))
	}
	return fmt.Sprintf("atomic { %s; %s; if %s -> %s [] else -> skip fi }", g.wait(), g.step(), g.cond(), g.step())
}

func (g generator) body(depth int) string {
	all := make([]string, 1+g.r.IntN(3))
	for i := range all {
		all[i] = g.statement(depth)
	}
	return strings.Join(all, "; ")
}

// program has one to three processes; x, y and A are shared, v and w are local.
func (g generator) program() string {
	var b strings.Builder
	fmt.Fprintf(&b, "symbol a, x = 0, y = 1, A = [0, 1], S = (%s, %d, {(1)}), T = (%s, 2, {(0, 1), (2)})\n---\npar ",
		g.pick("R", "Q", "S", "F", "L"), 1+g.r.IntN(2), g.pick("R", "R", "F", "L"))
	for i := range 1 + g.r.IntN(3) {
		if i > 0 {
			b.WriteString("\n[] ")
		}
		b.WriteString(g.pick("", "", "2 * ") + "var v, w; " + g.pick(g.body(2), "loop "+g.cond()+" -> "+g.body(1)+" pool"))
	}
	return b.String() + "\nrap\n"
}

// TestSpinCountsTheSameOnGeneratedPrograms generates as many programs as SPIN_PROGRAMS
// sets; make soak sets more.
func TestSpinCountsTheSameOnGeneratedPrograms(t *testing.T) {
	t.Parallel()
	programs := 20
	if n := os.Getenv("SPIN_PROGRAMS"); n != "" {
		var err error
		programs, err = strconv.Atoi(n)
		require.NoError(t, err)
	}
	for seed := range programs {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 7))}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			requireSameCounts(t, fmt.Sprintf("seed %d", seed), g.program(), 0)
		})
	}
}
