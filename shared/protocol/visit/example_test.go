package visit_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
)

// The coordinator has an origin visited, and a manager visits it.
func Example() {
	ctx := context.Background()
	policy := visit.Policy{Timeout: 30 * time.Minute}
	e, _ := engine.Open(ctx, engine.Config{Journal: &journal.Memory{}, Procedures: policy.Procedures()})
	repo, _ := e.Session(ctx, "manager-1", 0)
	for _, d := range slices.Concat(visit.Spaces(), task.Spaces()) {
		_ = repo.Create(ctx, d.Name, d.Options)
	}
	c := visit.Client{Repo: repo}

	_ = c.Put(ctx, models.Visit{ID: "v1", Origin: models.Origin{ID: "o1", Kind: models.Feed, URI: "https://example.org/feed"}})
	v, _ := c.Take(ctx)
	fmt.Println("visits", v.Origin.URI)
	_ = c.End(ctx, models.Outcome{Visit: v.ID, Origin: v.Origin.ID, Status: models.Uneventful})

	t, _ := repo.Space(task.Result).Get(ctx, task.AnyResult(visit.Action))
	r := task.DecodeResult(t)
	fmt.Println(r.Subject, r.Part, r.Worker)
	// Output:
	// visits https://example.org/feed
	// o1 v1 manager-1
}
