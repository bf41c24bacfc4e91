//go:build unix

package promela_test

import (
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/promela"
	"leasehold/tup4fun/syntax"
)

// depth is a depth that the models of BenchmarkSpin need. A deeper stack costs Spin time at its start: 0.65 s
// for 20 million.
const depth = "-m300000"

// BenchmarkSpin compares the CPU time of a search without reductions on one core with that of Spin, compiled with
// optimization. The compilations count for neither.
func BenchmarkSpin(b *testing.B) {
	start := read(b, "../../examples/original/big.init")
	two := read(b, "../../examples/original/big-2x2.tup")
	last := strings.LastIndex(two, "[]")
	for _, c := range []struct {
		name, program string
		states        int64
	}{
		{"two managers, one worker", two[:last] + "rap", 354272},
		{"two managers, two workers", two, 4361152},
	} {
		b.Run(c.name, func(b *testing.B) {
			p, err := syntax.Boxes{File: c.name, Init: start, Program: c.program}.Parse()
			require.NoError(b, err)
			p.Props = nil
			m, err := explore.Compile(p, 3)
			require.NoError(b, err)
			o := explore.Options{Cores: 1}
			seen := promela.SeenIn(explore.Check(b.Context(), m, o))
			text, err := promela.Export(m, seen)
			require.NoError(b, err)
			dir := compile(b, text, "-O2", "-DSAFETY", "-DNOCLAIM")
			var here, there time.Duration
			var states int64
			for b.Loop() {
				before := processorTime(b)
				states = explore.Check(b.Context(), m, o).States
				here += processorTime(b) - before
				there += panTime(b, dir, states)
			}
			require.Equal(b, c.states, states)
			b.ReportMetric(float64(states), "states")
			b.ReportMetric(here.Seconds()/float64(b.N), "s")
			b.ReportMetric(there.Seconds()/float64(b.N), "s-Spin")
			b.ReportMetric(there.Seconds()/here.Seconds(), "times-faster")
		})
	}
}

func read(b *testing.B, path string) string {
	b.Helper()
	src, err := os.ReadFile(filepath.FromSlash(path))
	require.NoError(b, err)
	return string(src)
}

// panTime returns the CPU time of Spin's search, which must count the same states. Its hash table has the size of
// their number.
func panTime(b *testing.B, dir string, states int64) time.Duration {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), "./pan", depth, fmt.Sprint("-w", bits.Len64(uint64(states))), "-c0")
	cmd.Dir = dir
	out, err := cmd.Output()
	require.NoError(b, err)
	require.NotContains(b, string(out), "max search depth too small")
	found := counted.FindAllStringSubmatch(string(out), -1)
	require.Len(b, found, 3, string(out))
	require.Equal(b, found[1][2], strconv.FormatInt(states+promela.ExtraStates, 10))
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// processorTime returns the CPU time of this process so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
