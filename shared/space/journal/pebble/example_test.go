package pebble_test

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pebble"
)

// What was committed is there when the journal is opened again.
func Example() {
	ctx := context.Background()
	in := pebble.Config{Dir: "data/journal", FS: vfs.NewMem(), Log: quiet} // a disk in memory
	j, err := pebble.Open(in)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(j.Commit(ctx, 0, []journal.Record{{Facts: []journal.Fact{journal.Token(7)}}}))
	fmt.Println(j.Close())

	again, err := pebble.Open(in)
	if err != nil {
		fmt.Println(err)
		return
	}
	standing, err := again.Load(ctx, func(f journal.Fact) error { fmt.Println("token", f); return nil })
	fmt.Println(standing.Position, err, again.Close())
	// Output:
	// <nil>
	// <nil>
	// token 7
	// 1 <nil> <nil>
}
