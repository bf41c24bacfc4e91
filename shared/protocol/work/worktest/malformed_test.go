package worktest

import (
	"context"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// No arguments make a procedure panic or violate an invariant.
func TestMalformedArgumentsNeverPanic(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		names := slices.DeleteFunc(slices.Sorted(maps.Keys((&fixture{policy: policy}).procedures())), func(n string) bool { return n == inspect })
		calls := rapid.SliceOfN(rapid.SampledFrom(names), 1, 30).Draw(r, "procedures")
		args := make([]tuple.Tuple, len(calls))
		bodies := rapid.SliceOfN(body, 0, 3).Draw(r, "bodies")
		for n := range calls {
			args[n] = arguments(3).Draw(r, "args")
		}
		synctest.Test(t, func(t *testing.T) { malformed(t, calls, args, bodies) })
	})
}

// malformed calls procedures by name, in a fixture with a task in progress.
func malformed(t *testing.T, calls []string, args []tuple.Tuple, bodies []string) {
	f := open(t, t, Direct, policy)
	defer f.close()
	w, m := f.worker("worker-1", 2), f.manager("manager-1")
	for _, b := range bodies {
		f.put(task.Space, tuple.New("task", dig, "t2", "l1", int64(1), int64(0), b))
		f.put(task.Result, tuple.New("result", dig, "s", "a", "l1", int64(1), "w", true, b))
		f.put(visit.Space, tuple.New("visit", "feed", "o", "v", b))
	}
	_, err := m.work.Issue(t.Context(), m.inProgress(), toDig("site", "a", "b"), 0)
	require.NoError(t, err)
	for n, name := range calls {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if _, err := w.repo.Call(ctx, space.OpID{}, name, args[n]); err != nil {
			require.NotContains(t, err.Error(), "panicked", "%s %s", name, args[n])
		}
		cancel()
	}
	f.pass(2 * time.Hour)
	f.mu.Lock()
	defer f.mu.Unlock()
	require.NotContains(t, f.logged.String(), "panicked")
}

// body is text that a foreign client may write as a body.
var body = rapid.OneOf(
	rapid.SampledFrom([]string{"", "null", "[]", "{}", "0", `"x"`, `{"timeout":60}`, `{"timeout":1e999}`, `{"timeout":0.000000001}`,
		`{"timeout":60,"attempts":-9223372036854775808}`, `{"timeout":60,"attempts":9223372036854775807}`,
		`{"timeout":60,"parts":["","a,b"]}`, `{"timeout":60,"claimants":["worker-1"],"history":[null]}`, `{"data":{}}`}),
	rapid.String(),
)

// arguments are tuples, some of them shaped like valid arguments.
func arguments(depth int) *rapid.Generator[tuple.Tuple] {
	return rapid.Custom(func(r *rapid.T) tuple.Tuple {
		if rapid.Bool().Draw(r, "shaped") {
			return shaped(r)
		}
		t := make(tuple.Tuple, rapid.IntRange(0, 5).Draw(r, "arity"))
		for n := range t {
			t[n] = field(r, depth)
		}
		return t
	})
}

// shaped draws arguments that some procedure takes.
func shaped(r *rapid.T) tuple.Tuple {
	s, n := func() string { return text.Draw(r, "text") }, func() int64 { return number.Draw(r, "number") }
	b := body.Draw(r, "body")
	switch rapid.IntRange(0, 8).Draw(r, "shape") {
	case 0:
		return tuple.New(tuple.New("task", dig, s(), s(), n(), n(), b), "\x01"+s(), n())
	case 1:
		return tuple.New(s(), tuple.New("result", s(), s(), s(), s(), n(), s(), true, b))
	case 2:
		return tuple.New(tuple.New("visit", s(), s(), s(), b))
	case 3:
		return tuple.New(n(), s(), s())
	case 4:
		return tuple.New(s(), s(), tuple.New(s(), n()))
	case 5:
		return tuple.New(s(), s(), n())
	case 6:
		return tuple.New(s(), n(), s())
	case 7:
		return tuple.New(s(), n())
	}
	return tuple.New(s(), rapid.Bool().Draw(r, "bool"))
}

var (
	text   = rapid.OneOf(rapid.SampledFrom([]string{dig, "", "t2", "l1", "site", "a", "a,b", "worker-1", "due", "lost", "closed", "v"}), rapid.String())
	number = rapid.OneOf(rapid.Int64Range(-2, 30), rapid.Int64())
)

func field(r *rapid.T, depth int) any {
	switch rapid.IntRange(0, 9).Draw(r, "type") {
	case 0:
		return rapid.Bool().Draw(r, "bool")
	case 1:
		return rapid.Int().Draw(r, "int")
	case 2:
		return rapid.Float64().Draw(r, "float64")
	case 3:
		return nil
	case 4:
		return rapid.SliceOf(rapid.Byte()).Draw(r, "bytes")
	case 5:
		return tuple.Opaque{Name: "x", JSON: text.Draw(r, "json")}
	case 6:
		if depth > 0 {
			return arguments(depth-1).Draw(r, "tuple")
		}
	case 7, 8:
		return number.Draw(r, "int64")
	}
	return text.Draw(r, "string")
}
