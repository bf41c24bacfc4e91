// Package transactiontest is the conformance suite of transactions (package transaction) for
// every way to reach an engine: in process, encoded, and over a network. Each behaviour runs
// in a testing/synctest bubble.
package transactiontest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/space/transaction"
	"leasehold/shared/tuple"
)

// fixture is an engine with a session, the spaces a and b, and the space protocol, which
// transactions may only query.
type fixture struct {
	*testing.T
	repo space.Repository
	tx   transaction.Client
}

// Exercise runs the suite over the sessions of start.
func Exercise(t *testing.T, start spacetest.Factory) {
	for _, b := range behaviours {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				repo, err := start(t, transaction.Procedures("protocol"))(t.Context(), "test-1", 0)
				require.NoError(t, err)
				for _, name := range []string{"a", "b", "protocol"} {
					require.NoError(t, repo.Create(t.Context(), name, space.Options{Capacity: 10}))
				}
				b.run(&fixture{t, repo, transaction.Client{Repo: repo}})
			})
		})
	}
}

// coin is the n-th tuple of the suite, and coins the template of all.
func coin(n int) tuple.Tuple { return tuple.New("coin", int64(n)) }

var coins = tuple.Match("coin", tuple.AnyInt64)

// put puts coins.
func (f *fixture) put(name string, numbers ...int) {
	for _, n := range numbers {
		require.NoError(f, f.repo.Space(name).Put(f.Context(), coin(n), 0))
	}
}

// has requires that a space has these coins and no others.
func (f *fixture) has(name string, numbers ...int) {
	f.Helper()
	all, err := f.repo.Space(name).QueryAll(f.Context(), coins)
	require.NoError(f, err)
	var want []tuple.Tuple
	for _, n := range numbers {
		want = append(want, coin(n))
	}
	require.Equal(f, want, all, name)
}

// pending is a transaction in a goroutine of its own.
type pending struct {
	found []tuple.Tuple
	err   error
	done  bool
}

// begin starts a transaction, and returns once it has ended or waits.
func (f *fixture) begin(ctx context.Context, ops ...transaction.Op) *pending {
	p := &pending{}
	go func() {
		p.found, p.err = f.tx.Run(ctx, ops...)
		p.done = true
	}()
	synctest.Wait()
	return p
}

var (
	get    = transaction.Get
	query  = transaction.Query
	absent = transaction.Absent
	put    = transaction.Put
	renew  = transaction.Renew
)

var behaviours = []struct {
	name string
	run  func(*fixture)
}{
	{"all operations happen, in order, and each sees those before it", func(f *fixture) {
		f.put("a", 1, 2)
		found, err := f.tx.RunP(f.Context(), get("a", coins), query("a", coins), put("b", coin(3), 0), query("b", coins), absent("a", coin(1).Exactly()))
		require.NoError(f, err)
		require.Equal(f, []tuple.Tuple{coin(1), coin(2), nil, coin(3), nil}, found)
		f.has("a", 2)
		f.has("b", 3)
	}},
	{"an empty tuple is found like any other", func(f *fixture) {
		require.NoError(f, f.repo.Space("a").Put(f.Context(), tuple.New(), 0))
		found, err := f.tx.RunP(f.Context(), query("a", tuple.Match()), get("a", tuple.Match()), absent("a", tuple.Match()))
		require.NoError(f, err)
		require.Equal(f, []tuple.Tuple{{}, {}, nil}, found)
	}},
	{"a condition that does not hold undoes all, and is named", func(f *fixture) {
		f.put("a", 1)
		_, err := f.tx.RunP(f.Context(), get("a", coins), put("b", coin(2), 0), get("a", coins))
		require.ErrorIs(f, err, transaction.ErrUnmet)
		require.ErrorIs(f, err, fault.ErrConflict)
		require.ErrorContains(f, err, `operation 3 of 3, get in "a" ("coin", ?int64): no tuple matches`)
		_, err = f.tx.Run(f.Context(), put("b", coin(2), 0), absent("a", coins))
		require.ErrorIs(f, err, transaction.ErrUnmet, "Run does not wait until a tuple has gone")
		require.ErrorContains(f, err, `operation 2 of 2, absent in "a" ("coin", ?int64): a tuple matches`)
		f.has("a", 1)
		f.has("b")
	}},
	{"an operation that fails undoes all, and is named", func(f *fixture) {
		f.put("a", 1)
		f.put("b", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
		for want, op := range map[string]transaction.Op{
			`space "nowhere"`:                   query("nowhere", coins),
			`space "none"`:                      absent("none", coins),
			"10 tuples: overloaded":             put("b", coin(11), 0),
			"can only query this space":         put("protocol", coin(1), 0),
			"want a kind from 1 to 5":           {Kind: 9, Space: "a"},
			"a space of 0 bytes, want 1 to 255": get("", coins),
			"a TTL of -1s, want 0 or more":      put("a", coin(1), -time.Second),
			"put in \"a\"":                      put("a", tuple.New(uint8(1)), 0),
		} {
			_, err := f.tx.RunP(f.Context(), get("a", coins), op)
			require.ErrorContains(f, err, "operation 2 of 2")
			require.ErrorContains(f, err, want)
			require.NotErrorIs(f, err, transaction.ErrUnmet)
		}
		f.has("a", 1)
		_, err := f.tx.RunP(f.Context(), absent("protocol", coins))
		require.NoError(f, err)
	}},
	{"Run waits until all conditions hold, and takes nothing before", func(f *fixture) {
		p := f.begin(f.Context(), get("a", coins), get("b", coins), put("a", coin(9), 0))
		require.False(f, p.done)
		f.put("a", 1)
		synctest.Wait()
		require.False(f, p.done)
		f.has("a", 1)
		f.put("b", 2)
		synctest.Wait()
		require.True(f, p.done)
		require.NoError(f, p.err)
		require.Equal(f, []tuple.Tuple{coin(1), coin(2), nil}, p.found)
		f.has("a", 9)
		f.has("b")
	}},
	{"a transaction whose context ends while it waits does nothing", func(f *fixture) {
		ctx, stop := context.WithTimeout(f.Context(), time.Second)
		defer stop()
		p := f.begin(ctx, put("b", coin(1), 0), get("a", coins))
		time.Sleep(time.Second)
		synctest.Wait()
		require.True(f, p.done)
		require.ErrorIs(f, p.err, context.DeadlineExceeded)
		f.put("a", 1)
		f.has("a", 1)
		f.has("b")
	}},
	{"a tuple is put once if it is absent, however many try", func(f *fixture) {
		var won int
		results := make(chan bool)
		for n := range 10 {
			go func() {
				put, err := f.tx.PutIfAbsent(f.Context(), "a", coins, coin(n), time.Minute)
				results <- put && err == nil
			}()
		}
		for range 10 {
			if <-results {
				won++
			}
		}
		require.Equal(f, 1, won)
		time.Sleep(time.Minute)
		put, err := f.tx.PutIfAbsent(f.Context(), "a", coins, coin(1), 0)
		require.NoError(f, err)
		require.True(f, put, "the TTL of the first has ended")
		_, err = f.tx.PutIfAbsent(f.Context(), "nowhere", coins, coin(1), 0)
		require.ErrorIs(f, err, fault.ErrNotFound)
	}},
	{"a TTL starts again when it is renewed", func(f *fixture) {
		_, err := f.tx.RunP(f.Context(), put("a", coin(1), time.Minute))
		require.NoError(f, err)
		time.Sleep(59 * time.Second)
		found, err := f.tx.RunP(f.Context(), renew("a", coins, time.Minute))
		require.NoError(f, err)
		require.Equal(f, []tuple.Tuple{coin(1)}, found)
		time.Sleep(59 * time.Second)
		f.has("a", 1)
		time.Sleep(time.Second)
		f.has("a")
	}},
	{"the bounds of a transaction are checked", func(f *fixture) {
		many := make([]transaction.Op, transaction.MaxOps+1)
		for i := range many {
			many[i] = absent("a", coins)
		}
		_, err := f.tx.RunP(f.Context(), many...)
		require.ErrorIs(f, err, fault.ErrTooLarge)
		require.ErrorContains(f, err, "at most 64")
		_, err = f.tx.RunP(f.Context(), many[1:]...)
		require.NoError(f, err)
		_, err = f.tx.RunP(f.Context())
		require.ErrorIs(f, err, fault.ErrInvalid)
		large := tuple.New(string(make([]byte, tuple.MaxBytes-100)))
		_, err = f.tx.RunP(f.Context(), put("a", large, 0))
		require.ErrorIs(f, err, fault.ErrTooLarge)
		require.NoError(f, f.repo.Space("a").Put(f.Context(), large, 0))
		_, err = f.tx.RunP(f.Context(), get("a", tuple.Match(tuple.AnyString)))
		require.ErrorIs(f, err, fault.ErrTooLarge, "an answer has the same bound")
		n, err := f.repo.Space("a").Count(f.Context(), tuple.Match(tuple.AnyString))
		require.NoError(f, err)
		require.Equal(f, 1, n)
	}},
	{"malformed arguments are invalid", func(f *fixture) {
		op := tuple.New(int64(transaction.KindGet), "a", int64(0))
		for _, data := range [][]byte{
			{}, {1}, {0xff, 0xff}, tuple.New("x").Append(nil), op.Append(nil), append(coins.Append(op.Append(nil)), 7),
			coins.Append(tuple.New(int64(0), "a", int64(0)).Append(nil)), coins.Append(tuple.New(int64(1), "a", int64(-1)).Append(nil)),
			coins.Append(tuple.New(int64(transaction.KindPut), "a", int64(0)).Append(nil)), // a put of a template
		} {
			for procedure, args := range map[string]tuple.Tuple{"transaction.run": tuple.New(true, data), "transaction.apply": tuple.New(data)} {
				_, err := f.repo.Call(f.Context(), space.OpID{}, procedure, args)
				require.ErrorIs(f, err, fault.ErrInvalid, "%s %x", procedure, data)
			}
		}
		for _, args := range []tuple.Tuple{nil, tuple.New(true), tuple.New("x")} {
			_, err := f.repo.Call(f.Context(), space.OpID{}, "transaction.run", args)
			require.ErrorIs(f, err, fault.ErrInvalid)
		}
	}},
}
