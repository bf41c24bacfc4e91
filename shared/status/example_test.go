package status_test

import (
	"context"
	"fmt"
	"time"

	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/status"
	"leasehold/shared/tuple"
)

// A session says what it does and what it serves, and anybody may read it.
func Example() {
	ctx := context.Background()
	e, _ := engine.Open(ctx, engine.Config{Journal: &journal.Memory{}, Procedures: status.Procedures()})
	worker, _ := e.Session(ctx, "worker-1", 6*time.Second)
	for _, d := range status.Spaces() {
		_ = worker.Create(ctx, d.Name, d.Options)
	}

	heart := status.NewHeart(worker, 2*time.Second, map[string]int{"research": 4}) // Run beats; here once is enough
	heart.Set("Working on: research 9c1e")
	_ = heart.Beat(ctx)

	state, _ := worker.Space(status.Space).Query(ctx, tuple.Match("worker-1", tuple.AnyString, tuple.AnyString))
	serves, _ := worker.Space(status.Space).Query(ctx, status.AnyServing("research"))
	fmt.Println(state.Str(1))
	fmt.Println(serves)
	// Output:
	// Working on: research 9c1e
	// ("serves", "worker-1", "research", 4)
}
