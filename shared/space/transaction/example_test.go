package transaction_test

import (
	"context"
	"fmt"

	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/transaction"
	"leasehold/shared/tuple"
)

// A coin moves from one account to another, unless the other is closed.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	e, _ := engine.Open(ctx, engine.Config{Journal: &journal.Memory{}, Procedures: transaction.Procedures()})
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	defer func() { stop(); <-done }()
	repo, _ := e.Session(ctx, "bank-1", 0)
	for _, account := range []string{"alice", "bob"} {
		_ = repo.Create(ctx, account, space.Options{})
	}
	_ = repo.Space("alice").Put(ctx, tuple.New("coin"), 0)

	client := transaction.Client{Repo: repo}
	move := []transaction.Op{
		transaction.Absent("bob", tuple.Match("closed")),
		transaction.Get("alice", tuple.Match("coin")),
		transaction.Put("bob", tuple.New("coin"), 0),
	}
	found, err := client.RunP(ctx, move...)
	fmt.Println(found[1], err)
	_, err = client.RunP(ctx, move...)
	fmt.Println(err)
	// Output:
	// ("coin") <nil>
	// operation 2 of 3, get in "alice" ("coin"): no tuple matches: nothing was changed: conflict
}
