package engine_test

import (
	"context"
	"fmt"

	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// A worker waits for a task, which a manager then puts.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	e, err := engine.Open(ctx, engine.Config{Journal: &journal.Memory{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan error)
	go func() { done <- e.Run(ctx) }()

	manager, _ := e.Session(ctx, "manager-1", 0)
	worker, _ := e.Session(ctx, "worker-1", 0)
	_ = manager.Create(ctx, "task", space.Options{Kind: space.Ordered, OrderBy: 1})

	got := make(chan tuple.Tuple)
	go func() {
		t, _ := worker.Space("task").Get(ctx, tuple.Match("task", tuple.AnyInt64))
		got <- t
	}()
	_ = manager.Space("task").Put(ctx, tuple.New("task", int64(7)), 0)
	fmt.Println(<-got)

	stop()
	fmt.Println(<-done)
	// Output:
	// ("task", 7)
	// <nil>
}
