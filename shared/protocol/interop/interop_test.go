package interop_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/interop"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open returns sessions at an engine with the protocols and the spaces "s" and "stack".
func open(t testing.TB) func(id string) space.Repository {
	policy := task.Policy{MaxAttempts: 3, Backoff: time.Second}
	e, err := engine.Open(context.Background(), engine.Config{Journal: &journal.Memory{}, Procedures: space.Join(status.Procedures(),
		lease.Procedures(), policy.Procedures(), policy.AdminProcedures(), interop.Procedures(nil))})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	t.Cleanup(func() { stop(); require.NoError(t, <-done) })
	session := func(id string) space.Repository {
		r, err := e.Session(ctx, id, 0)
		require.NoError(t, err)
		return r
	}
	r := session("setup")
	for _, d := range append(append(task.Spaces(), lease.Spaces()...), space.Definition{Name: "s"}, space.Definition{Name: "stack", Options: space.Options{Kind: space.Pile}}) {
		require.NoError(t, r.Create(ctx, d.Name, d.Options))
	}
	return session
}

var anyInt = interop.Pattern{{Any: tuple.Template{tuple.Formal{Type: tuple.Int32}, tuple.Formal{Type: tuple.Int}}, Ints: interop.NarrowInts}}

// put puts a tuple of one field for each value.
func put(t *testing.T, r space.Repository, name string, values ...any) {
	t.Helper()
	for _, v := range values {
		require.NoError(t, r.Space(name).Put(t.Context(), tuple.New(v), 0))
	}
}

// values returns the first field of each tuple that was found.
func values(found []interop.Found) (all []any) {
	for _, f := range found {
		all = append(all, f.Tuple[0])
	}
	return all
}

func TestAPatternFindsSeveralTypesInTheOrderOfTheSpace(t *testing.T) {
	t.Parallel()
	r := open(t)("a")
	c := interop.Client{Repo: r}
	for name, want := range map[string][]any{"s": {1, int32(2), 3, int32(4)}, "stack": {int32(4), 3, int32(2), 1}} {
		put(t, r, name, "x", 1, int32(2), int64(5), 3, 1<<40, int32(4))
		all, err := c.FindAll(t.Context(), name, anyInt, interop.Options{})
		require.NoError(t, err)
		require.Equal(t, want, values(all))
		var taken []interop.Found
		for range want {
			f, ok, err := c.Find(t.Context(), name, anyInt, interop.Options{Take: true})
			require.NoError(t, err)
			require.True(t, ok)
			taken = append(taken, f)
		}
		require.Equal(t, want, values(taken))
		_, ok, err := c.Find(t.Context(), name, anyInt, interop.Options{Take: true})
		require.NoError(t, err)
		require.False(t, ok)
		require.NoError(t, c.Back(t.Context(), taken[1:]...))
		require.NoError(t, c.Done(t.Context(), taken[0]))
		require.NoError(t, c.Done(t.Context(), taken...), "others are not held any more")
		all, err = c.FindAll(t.Context(), name, anyInt, interop.Options{Take: true})
		require.NoError(t, err)
		require.Equal(t, want[1:], values(all))
	}
}

func TestWhatASessionHoldsComesBackWithItsEnd(t *testing.T) {
	t.Parallel()
	session := open(t)
	a, b := session("a"), session("b")
	put(t, a, "s", 1)
	f, ok, err := interop.Client{Repo: a}.Find(t.Context(), "s", anyInt, interop.Options{Take: true})
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, interop.Client{Repo: b}.Done(t.Context(), f), "another session's hold is not ended")
	require.NoError(t, a.Close(t.Context()))
	_, ok, err = interop.Client{Repo: b}.Find(t.Context(), "s", anyInt, interop.Options{})
	require.NoError(t, err)
	require.True(t, ok)
}

func TestAPatternWaits(t *testing.T) {
	t.Parallel()
	session := open(t)
	a, b := session("a"), session("b")
	found := make(chan interop.Found, 1)
	go func() {
		f, _, err := interop.Client{Repo: a}.Find(t.Context(), "s", anyInt, interop.Options{Wait: true})
		require.NoError(t, err)
		found <- f
	}()
	put(t, b, "s", int64(1), 1<<40, 7)
	require.Equal(t, tuple.New(7), (<-found).Tuple)
	_, _, err := interop.Client{Repo: b}.Find(t.Context(), "none", anyInt, interop.Options{Wait: true})
	require.ErrorIs(t, err, fault.ErrNotFound)
	_, _, err = interop.Client{Repo: b}.Find(t.Context(), "s", interop.Pattern{{Object: true}, {Object: true}}, interop.Options{Wait: true})
	require.ErrorIs(t, err, fault.ErrInvalid, "too many types to wait for")
}

func TestManyMatchesComeInPagesAndTooManyCanBeGivenBack(t *testing.T) {
	t.Parallel()
	r := open(t)("a")
	c, any := interop.Client{Repo: r}, interop.Pattern{{Object: true}}
	for range 12 {
		put(t, r, "s", strings.Repeat("x", 300_000))
	}
	all, err := c.FindAll(t.Context(), "s", any, interop.Options{})
	require.NoError(t, err)
	require.Len(t, all, 12)
	put(t, r, "s", strings.Repeat("y", 300_000), strings.Repeat("z", 300_000))
	all, err = c.FindAll(t.Context(), "s", any, interop.Options{Take: true})
	require.ErrorIs(t, err, fault.ErrTooLarge)
	require.NoError(t, c.Back(t.Context(), all...))
	n, err := r.Space("s").Count(t.Context(), tuple.Match(tuple.AnyString))
	require.NoError(t, err)
	require.Equal(t, 14, n)
}

func TestMalformedPatternsAreRefused(t *testing.T) {
	t.Parallel()
	r := open(t)("a")
	for _, pattern := range [][]byte{nil, {1}, {200, 1}, {1, 0, 99}, {2, 0, 0}} {
		_, err := r.Call(t.Context(), space.OpID{}, "interop.find", tuple.New("s", int64(0), pattern))
		require.ErrorIs(t, err, fault.ErrInvalid, pattern)
	}
}

func TestAClaimIsReportedByItsToken(t *testing.T) {
	t.Parallel()
	session := open(t)
	admin, worker := session("admin"), interop.Client{Repo: session("worker")}
	_, ok, err := worker.Claim(t.Context(), "", false)
	require.NoError(t, err)
	require.False(t, ok)
	created, err := task.Client{Repo: admin}.Create(t.Context(), models.Task{Action: "count", Timeout: 60}, 0)
	require.NoError(t, err)
	_, ok, err = worker.Claim(t.Context(), "other", false)
	require.NoError(t, err)
	require.False(t, ok)
	claimed, ok, err := worker.Claim(t.Context(), "", true)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, created.ID, claimed.Str(2))
	require.NoError(t, worker.HandBack(t.Context(), claimed.Int64(4)))
	require.NoError(t, worker.HandBack(t.Context(), claimed.Int64(4)), "it is not held any more")
	claimed, ok, err = worker.Claim(t.Context(), "count", true)
	require.NoError(t, err)
	require.True(t, ok)
	token := claimed.Int64(4)
	current, err := worker.Report(t.Context(), task.EncodeResult(task.ResultTuple{Action: "count", Token: token, Final: true, Body: "1"}))
	require.NoError(t, err)
	require.True(t, current)
	current, err = worker.Report(t.Context(), task.EncodeResult(task.ResultTuple{Action: "count", Token: token, Final: true, Body: "2"}))
	require.NoError(t, err)
	require.False(t, current, "the task is done")
}

func ExamplePattern() {
	integers := interop.Pattern{{Any: tuple.Template{tuple.Formal{Type: tuple.Int32}, tuple.Formal{Type: tuple.Int}}, Ints: interop.NarrowInts}}
	fmt.Println(integers.Matches(tuple.New(int32(1))), integers.Matches(tuple.New(1)), integers.Matches(tuple.New(1<<40)))
	// Output: true true false
}
