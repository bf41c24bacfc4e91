package status_test

import (
	"context"
	"fmt"
	"time"

	"leasehold/shared/protocol/status"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
)

// A session reports what it does and what it serves, and any client may read it.
func Example() {
	ctx := context.Background()
	e, _ := engine.Open(ctx, engine.Config{Journal: &journal.Memory{}, Procedures: status.Procedures()})
	worker, _ := e.Session(ctx, "worker-1", 6*time.Second)
	for _, d := range status.Spaces() {
		_ = worker.Create(ctx, d.Name, d.Options)
	}

	heartbeat := status.NewHeartbeat(worker, 2*time.Second, map[string]int{"research": 4}) // Run repeats it; once is enough here
	heartbeat.SetState("Working on: research 9c1e")
	_ = heartbeat.Beat(ctx)

	state, _ := worker.Space(status.Space).Query(ctx, status.StateOf("worker-1"))
	serves, _ := worker.Space(status.Space).Query(ctx, status.AnyServing("research"))
	fmt.Println(status.DecodeState(state).State)
	fmt.Println(serves)
	// Output:
	// Working on: research 9c1e
	// ("serves", "worker-1", "research", 4)
}
