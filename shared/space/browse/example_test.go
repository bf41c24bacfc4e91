package browse_test

import (
	"context"
	"fmt"

	"leasehold/shared/space"
	"leasehold/shared/space/browse"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	e, err := engine.Open(ctx, engine.Config{Journal: &journal.Memory{}, Procedures: browse.Procedures()})
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	defer func() { stop(); <-done }()
	repo, err := e.Session(ctx, "example", 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = repo.Create(ctx, "notes", space.Options{})
	_ = repo.Space("notes").Put(ctx, tuple.New("note", int64(1), "milk"), 0)
	_ = repo.Space("notes").Put(ctx, tuple.New("note", "bread"), 0)

	words, _ := tuple.Words("note ...")
	template, open, _ := tuple.ParseTemplate(words)
	page, err := browse.Client{Repo: repo}.Page(ctx, browse.Query{Space: "notes", Template: template, Open: open, Limit: 10})
	for _, x := range page.Entries {
		fmt.Println(x.Tuple.Line())
	}
	fmt.Println(page.Total, err)
	// Output:
	// note 1 milk
	// note bread
	// 2 <nil>
}
