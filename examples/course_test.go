package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/examples/course"
	"leasehold/shared/space"
	"leasehold/shared/space/trace"
	"leasehold/spaces"
	"leasehold/tup4fun/conform"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// prints are lines that each program prints, in this order.
var prints = map[string][]string{
	"hello":     {"hello, world"},
	"fridge":    {"bob buys 2 of milk", "bob buys 1 of bread"},
	"buffer":    {"item 1", "item 2", "item 3", "item 4", "item 5"},
	"rpc":       {"client 2: twice 20 is 40"},
	"ring":      {"node 1 has the token", "node 2 has the token", "node 3 has the token", "node 1 has the token"},
	"wordcount": {"a 5", "another 2", "process 4", "tuple 2"},
	"election":  {"term 1: candidate", "term 2: candidate", "term 3: candidate"},
	"lock":      {"token 2: written", "token 1: refused"},
	"bots":      {"task 1: done", "task 2: failed: no wings", "task 3: done after a restart"},
}

// perform runs a program and returns its log.
func perform(t *testing.T, name string, connect func(h *spaces.Host) (course.Opener, error)) []byte {
	t.Helper()
	var out, log bytes.Buffer
	writer := trace.NewWriter(&log)
	require.NoError(t, programs[name].Run(t.Context(), course.Config{Out: &out, Trace: writer.Write, Connect: connect}))
	require.NoError(t, writer.Err())
	rest := out.String()
	for _, line := range prints[name] {
		_, after, found := strings.Cut(rest, line)
		require.True(t, found, "%q is missing, or too early, in:\n%s", line, out.String())
		rest = after
	}
	return log.Bytes()
}

func requireConforms(t *testing.T, name string, log []byte) {
	t.Helper()
	model, err := os.ReadFile(filepath.Join(name, name+".tup"))
	require.NoError(t, err)
	mapping, err := os.ReadFile(filepath.Join(name, name+".map"))
	require.NoError(t, err)
	c, err := conform.Load(name+".tup", string(model), name+".map", string(mapping), conform.Options{})
	require.NoError(t, err)
	r, err := c.Check(t.Context(), "trace.jsonl", bytes.NewReader(log))
	require.NoError(t, err)
	require.Equal(t, conform.Conforms, r.Outcome, "%+v", r.Violation)
}

func TestEachProgramDoesWhatItsModelAllows(t *testing.T) {
	t.Parallel()
	for name := range programs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireConforms(t, name, perform(t, name, nil))
		})
	}
}

func TestProgramsRunOverTheNetwork(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"buffer", "rpc", "ring"} {
		requireConforms(t, name, perform(t, name, func(h *spaces.Host) (course.Opener, error) {
			address, err := h.OpenGate(spaces.Gate{Address: "127.0.0.1:0"})
			return func(ctx context.Context, session string) (space.Repository, error) {
				return spaces.Dial(ctx, address, session)
			}, err
		}))
	}
}

// The log is not compared with the model, because a gate for foreign programs has one session
// for all clients.
func TestProgramsRunThroughAGateForForeignPrograms(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"buffer", "rpc", "ring"} {
		perform(t, name, func(h *spaces.Host) (course.Opener, error) {
			address, err := h.OpenGate(spaces.Gate{Protocol: spaces.PSpace, Address: "127.0.0.1:0"})
			return func(context.Context, string) (space.Repository, error) { return jsonClient{address: address}, nil }, err
		})
	}
}

// solutions are the exercises, each with a model that solves it.
var solutions = map[string]string{
	"hello/exercise.tup": "hello/hello.tup", "fridge/exercise.tup": "fridge/fridge.tup", "buffer/exercise.tup": "buffer/solution.tup",
	"philosophers/philosophers.tup": "philosophers/tickets.tup", "mergesort/mergesort.broken-halves.tup": "mergesort/mergesort.tup",
	"rpc/exercise.tup": "rpc/rpc.tup", "ring/exercise.tup": "ring/ring.tup", "wordcount/exercise.tup": "wordcount/solution.tup",
	"election/exercise.tup": "election/election.tup", "lock/exercise.tup": "lock/lock.tup", "bots/exercise.tup": "bots/bots.tup",
}

func TestAnExerciseFailsAndItsSolutionHolds(t *testing.T) {
	t.Parallel()
	found, err := filepath.Glob("*/exercise.tup")
	require.NoError(t, err)
	course, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, f := range found {
		require.Contains(t, solutions, f)
	}
	for exercise, solution := range solutions {
		require.Contains(t, string(course), exercise)
		require.Equal(t, explore.Violated, outcome(t, exercise), exercise)
		require.Equal(t, explore.Holds, outcome(t, solution), solution)
	}
	for name := range programs {
		require.Equal(t, explore.Holds, outcome(t, filepath.Join(name, name+".tup")), name)
	}
}

func outcome(t *testing.T, path string) explore.Outcome {
	t.Helper()
	src, err := os.ReadFile(path)
	require.NoError(t, err)
	p, err := syntax.Parse(path, string(src))
	require.NoError(t, err)
	m, err := explore.Compile(p, 0)
	require.NoError(t, err)
	r := explore.Check(t.Context(), m, explore.Options{Reduction: explore.FullReduction, Cores: 1})
	return r.Outcome
}

func TestTheCommandSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args   []string
		code   int
		output string
	}{
		{nil, 2, "want one of bots, buffer, "},
		{[]string{"chess"}, 2, "want one of bots, buffer, "},
		{[]string{"hello", "more"}, 2, "want one of"},
		{[]string{"hello", "-trace", "/none/t.jsonl"}, 1, "examples hello: open /none/t.jsonl"},
		{[]string{"hello", "-trace", filepath.Join(t.TempDir(), "t.jsonl")}, 0, "hello, world"},
	} {
		var out strings.Builder
		require.Equal(t, c.code, run(t.Context(), c.args, &out), out.String())
		require.Contains(t, out.String(), c.output)
	}
}

func TestAProgramEndsWithTheErrorOfAMember(t *testing.T) {
	t.Parallel()
	p := course.Program{Spaces: map[string]space.Options{"s": {}}, Roles: []course.Role{
		{Name: "waiter", Run: func(ctx context.Context, m *course.Member) error { _, err := m.Space("s").Get(ctx, nil); return err }},
		{Name: "failing", Run: func(context.Context, *course.Member) error { return os.ErrDeadlineExceeded }},
	}}
	err := p.Run(t.Context(), course.Config{Out: &strings.Builder{}})
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.ErrorContains(t, err, "failing-1")
}
