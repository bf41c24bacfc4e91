package postgres_test

import (
	"context"
	"fmt"
	"log"

	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal/postgres"
)

// A member of a realm stands by until it may own the journal. Then it serves, until it is deposed or ends.
func Example() {
	ctx := context.Background()
	j, err := postgres.Open(ctx, postgres.Config{URL: "postgres://leasehold@db.example/leasehold", Owner: "host1"})
	if err != nil {
		log.Print(err)
		return
	}
	defer j.Close()
	if err := j.Watch(ctx, postgres.OwnerLost); err != nil {
		log.Print(err)
		return
	}
	e, err := engine.Open(ctx, engine.Config{Journal: j}) // claims it
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Println(e.Run(ctx)) // journal.ErrDeposed if another member claims it
}
