package idempotency_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/idempotency"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// count (text) puts a tuple, and returns how many there are now and the text.
func count(tx space.Tx, text string) (tuple.Tuple, error) {
	if _, err := tx.Put("calls", tuple.New("call"), space.PutOptions{}); err != nil {
		return nil, err
	}
	return tuple.New(int64(tx.Count("calls", tuple.Match("call"))), text), nil
}

// await waits for a tuple and takes it.
func await(tx space.Tx, text string) (tuple.Tuple, error) {
	wanted := tuple.Match("awaited", text)
	e, ok := tx.Find("calls", wanted, nil)
	if !ok {
		return nil, tx.Wait(space.Awaited{Space: "calls", Template: wanted})
	}
	return e.Tuple, tx.Take(e.Ref)
}

// double (text) counts a call, and returns the text twice.
func double(tx space.Tx, text string) (tuple.Tuple, error) {
	_, err := count(tx, text)
	return tuple.New(text, text), err
}

func fail(space.Tx, string) (tuple.Tuple, error) { return nil, fault.ErrConflict }

// open opens an engine over a journal, until the test ends or stop is called.
func open(t *testing.T, j journal.Journal) (repo space.Repository, stop func()) {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Config{Journal: j, Procedures: space.Join(idempotency.Procedures(), space.Procedures{
		"count": space.WithArgs1(count), "await": space.WithArgs1(await), "fail": space.WithArgs1(fail), "double": space.WithArgs1(double),
	})})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	repo, err = e.Session(t.Context(), "client-1", 0)
	require.NoError(t, err)
	for _, d := range append(idempotency.Spaces(), space.Definition{Name: "calls"}) {
		require.NoError(t, repo.Create(t.Context(), d.Name, d.Options))
	}
	return repo, func() { cancel(); require.NoError(t, <-done) }
}

func keyed(repo space.Repository, key string) *idempotency.Keyed {
	return &idempotency.Keyed{Repository: repo, Key: key, Fingerprint: "same"}
}

func call(t *testing.T, repo space.Repository, procedure, text string) tuple.Tuple {
	t.Helper()
	reply, err := repo.Call(t.Context(), space.OpID{}, procedure, tuple.New(text))
	require.NoError(t, err)
	return reply
}

func TestARepeatedCallHasOneEffectAndTheFirstAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{}
		repo, stop := open(t, j)
		for range 3 {
			k := keyed(repo, "k")
			require.Equal(t, tuple.New(int64(1), "a"), call(t, k, "count", "a"))
		}
		require.Equal(t, tuple.New(int64(2), "a"), call(t, keyed(repo, "l"), "count", "a"))
		request := keyed(repo, "two calls")
		require.Equal(t, int64(3), call(t, request, "count", "a").Int64(0))
		require.Equal(t, int64(4), call(t, request, "count", "a").Int64(0))
		stop()

		repo, stop = open(t, j)
		defer stop()
		require.Equal(t, tuple.New(int64(1), "a"), call(t, keyed(repo, "k"), "count", "a"), "after a restart")
		require.Equal(t, tuple.New(int64(5), "a"), call(t, repo, "count", "a"), "without a key")
		<-time.After(idempotency.TTL + time.Second)
		require.Equal(t, int64(6), call(t, keyed(repo, "k"), "count", "a").Int64(0), "the key is forgotten")
	})
}

func TestAKeyOfAnotherRequestIsRefused(t *testing.T) {
	t.Parallel()
	repo, stop := open(t, &journal.Memory{})
	defer stop()
	call(t, keyed(repo, "k"), "count", "a")
	other := &idempotency.Keyed{Repository: repo, Key: "k", Fingerprint: "other"}
	_, err := other.Call(t.Context(), space.OpID{}, "count", tuple.New("a"))
	require.ErrorIs(t, err, fault.ErrKeyReused)
	require.ErrorContains(t, err, `key "k": `, "as the caller chose it")
}

func TestAnErrorIsNoAnswerAndWhatIsForgottenHappensAgain(t *testing.T) {
	t.Parallel()
	repo, stop := open(t, &journal.Memory{})
	defer stop()
	k := keyed(repo, "k")
	_, err := k.Call(t.Context(), space.OpID{}, "fail", tuple.New("a"))
	require.ErrorIs(t, err, fault.ErrConflict)
	require.Equal(t, int64(1), call(t, k, "count", "a").Int64(0))
	require.NoError(t, k.ForgetFrom(t.Context(), 0))
	require.NoError(t, k.ForgetFrom(t.Context(), 0), "it may be repeated")
	require.Equal(t, int64(2), call(t, keyed(repo, "k"), "count", "a").Int64(0))
	_, err = keyed(repo, "large").Call(t.Context(), space.OpID{}, "double", tuple.New(strings.Repeat("x", tuple.MaxBytes/2)))
	require.ErrorIs(t, err, fault.ErrTooLarge)
	require.Equal(t, int64(3), call(t, repo, "count", "a").Int64(0), "the large call changed nothing")
}

func TestAKeyedCallWaitsAsThePlainOneDoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		repo, stop := open(t, &journal.Memory{})
		defer stop()
		given := make(chan tuple.Tuple, 1)
		go func() { given <- call(t, keyed(repo, "k"), "await", "x") }()
		synctest.Wait()
		require.NoError(t, repo.Space("calls").Put(t.Context(), tuple.New("awaited", "x"), 0))
		require.Equal(t, tuple.New("awaited", "x"), <-given)
		require.Equal(t, tuple.New("awaited", "x"), call(t, keyed(repo, "k"), "await", "x"))
	})
}

func TestTheOldestAnswersAreRemovedWhenAllAreTooLarge(t *testing.T) {
	t.Parallel()
	repo, stop := open(t, &journal.Memory{})
	defer stop()
	large := strings.Repeat("x", 1<<19)
	const n = idempotency.MaxBytes/(1<<19) + 20
	for i := range n {
		call(t, keyed(repo, fmt.Sprint(i)), "count", large)
	}
	answers := tuple.Match("answer", tuple.AnyString, tuple.AnyString, tuple.AnyInt64, tuple.AnyInt64, tuple.Formal{Type: tuple.Nested})
	kept, err := repo.Space(idempotency.Space).Count(t.Context(), answers)
	require.NoError(t, err)
	require.Equal(t, idempotency.MaxBytes/(1<<19)-1, kept, "each has a few bytes more")
	require.Equal(t, int64(n), call(t, keyed(repo, fmt.Sprint(n-1)), "count", large).Int64(0), "the newest is kept")
	require.Equal(t, int64(n+1), call(t, keyed(repo, "0"), "count", large).Int64(0), "the oldest is not")
}

func Example() {
	ctx := context.Background()
	e, _ := engine.Open(ctx, engine.Config{Journal: &journal.Memory{}, Procedures: space.Join(idempotency.Procedures(), space.Procedures{"count": space.WithArgs1(count)})})
	repo, _ := e.Session(ctx, "client-1", 0)
	for _, d := range append(idempotency.Spaces(), space.Definition{Name: "calls"}) {
		_ = repo.Create(ctx, d.Name, d.Options)
	}
	for range 2 {
		once := &idempotency.Keyed{Repository: repo, Key: "cb4be2f2", Fingerprint: "count a"}
		fmt.Println(once.Call(ctx, space.OpID{}, "count", tuple.New("a")))
	}
	// Output:
	// (1, "a") <nil>
	// (1, "a") <nil>
}

func TestTheFirstAnswerIsAmendedIfAPartOfItsEffectWasUndone(t *testing.T) {
	t.Parallel()
	repo, stop := open(t, &journal.Memory{})
	defer stop()
	k := keyed(repo, "k")
	without := func(answer tuple.Tuple) tuple.Tuple { return tuple.New(answer.Int64(0), "") }
	require.NoError(t, k.AmendFirst(t.Context(), without), "there was no call")
	call(t, k, "count", "a")
	call(t, k, "count", "b")
	require.NoError(t, k.AmendFirst(t.Context(), without))
	again := keyed(repo, "k")
	require.Equal(t, tuple.New(int64(1), ""), call(t, again, "count", "a"))
	require.Equal(t, tuple.New(int64(2), "b"), call(t, again, "count", "b"))
	err := k.AmendFirst(t.Context(), func(tuple.Tuple) tuple.Tuple { return tuple.New(int64(1), "longer than before") })
	require.ErrorIs(t, err, fault.ErrTooLarge)
}
