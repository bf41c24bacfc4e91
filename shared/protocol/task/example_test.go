package task_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// A procedure creates a task; a worker claims it, reports, and resolves it.
func Example() {
	ctx := context.Background()
	policy := task.Policy{MaxAttempts: 3, Backoff: 30 * time.Second}
	create := space.WithArgs1(func(tx space.Tx, subject string) (tuple.Tuple, error) {
		_, err := task.Create(tx, task.Spec{Task: models.Task{Action: "dig", Subject: subject, Timeout: 600, TaskOptions: models.TaskOptions{ResultTuple: true, ResultTTL: 3600}}})
		return nil, err
	})
	e, _ := engine.Open(ctx, engine.Config{
		Journal:    &journal.Memory{},
		Procedures: space.Join(policy.Procedures(), space.Procedures{"example.create": create}),
	})
	repo, _ := e.Session(ctx, "worker-1", 0)
	for _, d := range slices.Concat(task.Spaces(), lease.Spaces(), status.Spaces()) {
		_ = repo.Create(ctx, d.Name, d.Options)
	}
	_, _ = repo.Call(ctx, space.OpID{}, "example.create", tuple.New("garden"))

	worker := task.Client{Repo: repo}
	item, _ := worker.Claim(ctx, "dig")
	fmt.Println("claimed", item.Action, item.Subject, "by", item.CurrentClaimant)
	_ = worker.Report(ctx, item, "north", false, "a coin")
	_ = worker.Report(ctx, item, "south", true, "nothing")
	fmt.Println("once more:", worker.Report(ctx, item, "south", true, "nothing"))

	results, _ := repo.Space(task.Result).QueryAll(ctx, task.AnyResult("dig"))
	for _, t := range results {
		r := task.DecodeResult(t)
		fmt.Println(r.Part, r.Final, r.Body)
	}
	// Output:
	// claimed dig garden by worker-1
	// once more: report of task t1: stale token
	// north false "a coin"
	// south true "nothing"
}
