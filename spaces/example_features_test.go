package spaces_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/shared/space"
	"leasehold/shared/space/browse"
	"leasehold/shared/space/transaction"
	"leasehold/shared/tuple"
	"leasehold/spaces"
)

// open hosts spaces with these names, and returns a session over the network. The examples are
// the same with a session in process (Host.Repository).
func open(c spaces.Config, names ...string) (repo *spaces.Repository, stop func()) {
	ctx := context.Background()
	host, err := spaces.Start(c)
	if err != nil {
		panic(err)
	}
	address, err := host.OpenGate(spaces.Gate{Address: "127.0.0.1:0"})
	if err != nil {
		panic(err)
	}
	if repo, err = spaces.Dial(ctx, address, "example-1"); err != nil {
		panic(err)
	}
	for _, name := range names {
		if err := repo.Create(ctx, name, space.Options{}); err != nil {
			panic(err)
		}
	}
	return repo, func() { _ = repo.Close(ctx); _ = host.Stop() }
}

// Every call that blocks ends with its context.
func Example_timeout() {
	repo, stop := open(spaces.Config{}, "box")
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err := repo.Space("box").Get(ctx, tuple.Match("never"))
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output:
	// true
}

// A tuple with a time to live is removed when that ends, unless it is renewed.
func Example_lease() {
	ctx := context.Background()
	repo, stop := open(spaces.Config{}, "members")
	defer stop()
	members := repo.Space("members")
	changes, _ := members.Notify(ctx, nil)
	_ = members.Put(ctx, tuple.New("alice"), time.Hour)
	_, _ = repo.TransactP(ctx, transaction.Renew("members", tuple.Match("alice"), 10*time.Millisecond))
	for n := 0; n < 3; {
		events, _, _ := changes.Next(ctx)
		for _, e := range events {
			fmt.Println(e.Change, e.Tuple)
		}
		n += len(events)
	}
	// Output:
	// put ("alice")
	// replace ("alice")
	// take ("alice")
}

// PutIfAbsent makes a lock that ends after a minute: the session that puts the tuple has the lock.
func ExampleRepository_PutIfAbsent() {
	ctx := context.Background()
	repo, stop := open(spaces.Config{}, "locks")
	defer stop()
	for _, name := range []string{"alice", "bob"} {
		got, err := repo.PutIfAbsent(ctx, "locks", tuple.Match("printer", tuple.AnyString), tuple.New("printer", name), time.Minute)
		fmt.Println(name, got, err)
	}
	// Output:
	// alice true <nil>
	// bob false <nil>
}

// Several spaces change in one step.
func ExampleRepository_Transact() {
	ctx := context.Background()
	repo, stop := open(spaces.Config{}, "stock", "orders", "blocked")
	defer stop()
	_ = repo.Space("stock").Put(ctx, tuple.New("tea", int64(7)), 0)
	order := []transaction.Op{
		transaction.Absent("blocked", tuple.Match("alice")),
		transaction.Get("stock", tuple.Match("tea", tuple.AnyInt64)),
		transaction.Put("orders", tuple.New("alice", "tea"), 0),
	}
	found, err := repo.Transact(ctx, order...)
	fmt.Println(found[1], err)
	_, err = repo.TransactP(ctx, order...)
	fmt.Println(err)
	fmt.Println(repo.Space("orders").Count(ctx, tuple.Match("alice", "tea")))
	// Output:
	// ("tea", 7) <nil>
	// operation 2 of 3, get in "stock" ("tea", ?int64): no tuple matches: nothing was changed: conflict
	// 1 <nil>
}

// A counter is changed by a compare and swap, which is repeated if another session was faster.
func ExampleRepository_TransactP() {
	ctx := context.Background()
	repo, stop := open(spaces.Config{}, "counters")
	defer stop()
	counters := repo.Space("counters")
	_ = counters.Put(ctx, tuple.New("hits", int64(41)), 0)
	for {
		old, err := counters.Query(ctx, tuple.Match("hits", tuple.AnyInt64))
		if err != nil {
			fmt.Println(err)
			return
		}
		_, err = repo.TransactP(ctx,
			transaction.Get("counters", old.Exactly()), transaction.Put("counters", tuple.New("hits", old.Int64(1)+1), 0))
		if !errors.Is(err, transaction.ErrUnmet) {
			break
		}
	}
	fmt.Println(counters.Query(ctx, tuple.Match("hits", tuple.AnyInt64)))
	// Output:
	// ("hits", 42) <nil>
}

// A procedure is a transaction in Go: it computes with what it reads.
func ExampleConfig_procedures() {
	ctx := context.Background()
	repo, stop := open(spaces.Config{Procedures: space.Procedures{
		"bank.double": space.WithArgs1(func(tx space.Tx, account string) (tuple.Tuple, error) {
			e, ok := tx.Find("accounts", tuple.Match(account, tuple.AnyInt64), nil)
			if !ok {
				return nil, tx.Wait(space.Awaited{Space: "accounts", Template: tuple.Match(account, tuple.AnyInt64)})
			}
			doubled := tuple.New(account, 2*e.Tuple.Int64(1))
			return doubled, tx.Replace(e.Ref, doubled)
		}),
	}}, "accounts")
	defer stop()
	_ = repo.Space("accounts").Put(ctx, tuple.New("alice", int64(21)), 0)
	fmt.Println(repo.Call(ctx, space.OpID{}, "bank.double", tuple.New("alice")))
	// Output:
	// ("alice", 42) <nil>
}

// A bound keeps a get of all matches small.
func Example_bounded() {
	ctx := context.Background()
	repo, stop := open(spaces.Config{}, "jobs")
	defer stop()
	jobs := repo.Space("jobs")
	for n := range 5 {
		_ = jobs.Put(ctx, tuple.New("job", int64(n)), 0)
	}
	fmt.Println(jobs.GetUpTo(ctx, tuple.Match("job", tuple.AnyInt64), 3))
	fmt.Println(jobs.GetUpTo(ctx, tuple.Match("job", tuple.AnyInt64), 3))
	// Output:
	// [("job", 0) ("job", 1) ("job", 2)] <nil>
	// [("job", 3) ("job", 4)] <nil>
}

// A space is listed page by page, with tuples of any type; nothing is taken.
func ExampleRepository_Browse() {
	ctx := context.Background()
	repo, stop := open(spaces.Config{}, "box")
	defer stop()
	for _, t := range []tuple.Tuple{tuple.New("a"), tuple.New("b", int64(1)), tuple.New("c", true)} {
		_ = repo.Space("box").Put(ctx, t, 0)
	}
	page, err := repo.Browse(ctx, browse.Query{Space: "box", Open: true, Limit: 2})
	for _, e := range page.Entries {
		fmt.Println(e.Tuple)
	}
	fmt.Println("of", page.Total, err)
	// Output:
	// ("a")
	// ("b", 1)
	// of 3 <nil>
}

// The tuples of an ordered space are got by priority, then by age.
func Example_priority() {
	ctx := context.Background()
	repo, stop := open(spaces.Config{})
	defer stop()
	_ = repo.Create(ctx, "jobs", space.Options{Kind: space.Ordered, OrderBy: 1})
	jobs := repo.Space("jobs")
	_ = jobs.Put(ctx, tuple.New("sweep", int64(1)), 0)
	_ = jobs.Put(ctx, tuple.New("put out the fire", int64(9)), 0)
	fmt.Println(jobs.Get(ctx, tuple.Match(tuple.AnyString, tuple.AnyInt64)))
	// Output:
	// ("put out the fire", 9) <nil>
}

// A subscription tells of every put and take of the tuples that match.
func Example_subscription() {
	ctx := context.Background()
	repo, stop := open(spaces.Config{}, "chat")
	defer stop()
	chat := repo.Space("chat")
	changes, _ := chat.Notify(ctx, tuple.Match("alice", tuple.AnyString))
	_ = chat.Put(ctx, tuple.New("bob", "hi"), 0)
	_ = chat.Put(ctx, tuple.New("alice", "hello"), 0)
	_, _ = chat.Get(ctx, tuple.Match("alice", "hello"))
	for n := 0; n < 2; {
		events, missed, err := changes.Next(ctx)
		for _, e := range events {
			fmt.Println(e.Change, e.Tuple, missed, err)
		}
		n += len(events)
	}
	// Output:
	// put ("alice", "hello") 0 <nil>
	// take ("alice", "hello") 0 <nil>
}
