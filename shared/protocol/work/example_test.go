package work_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
)

// A work-item from the capacity check to the ingested result.
func Example() {
	ctx := context.Background()
	policy := work.Policy{
		Task:     task.Policy{MaxAttempts: 3, Backoff: 30 * time.Second},
		LeaseTTL: time.Hour, QueueTTL: 30 * time.Minute, Ingest: 5 * time.Minute,
	}
	e, _ := engine.Open(ctx, engine.Config{
		Journal:    &journal.Memory{},
		Procedures: space.Join(policy.Task.Procedures(), policy.Procedures()),
	})
	m, _ := e.Session(ctx, "manager-1", 0)
	w, _ := e.Session(ctx, "worker-1", 0)
	for _, d := range slices.Concat(task.Spaces(), lease.Spaces(), status.Spaces()) {
		_ = m.Create(ctx, d.Name, d.Options)
	}
	manager, worker := work.Client{Repo: m}, task.Client{Repo: w}

	step, _ := manager.Next(ctx, "dig", true)
	fmt.Println("capacity for more:", step.Result == nil)
	seen, _ := manager.InProgress(ctx, "dig")
	issued, _ := manager.Issue(ctx, seen, models.Task{Action: "dig", Subject: "garden", Parts: []string{"north"}, Timeout: 600}, 0)
	again, _ := manager.Issue(ctx, seen, models.Task{Action: "dig", Subject: "park", Timeout: 600}, 0)
	fmt.Println("issued:", issued, again)

	item, _ := worker.Claim(ctx, "dig")
	_ = worker.Report(ctx, item, "north", true, "a coin")

	step, _ = manager.Next(ctx, "dig", false)
	fmt.Println("to the catalog:", step.Result.Subject, step.Result.Part, step.Result.Body)
	_ = manager.Ingested(ctx, step.Result)
	totals, _ := lease.Totals(ctx, m)
	fmt.Println(totals)
	// Output:
	// capacity for more: true
	// issued: true false
	// to the catalog: garden north "a coin"
	// map[leases granted:1 leases revoked:1]
}
