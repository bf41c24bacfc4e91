package lease_test

import (
	"context"
	"errors"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// Two managers want parts of one episode.
func Example() {
	ctx := context.Background()
	e, _ := engine.Open(ctx, engine.Config{Journal: &journal.Memory{}, Procedures: lease.Procedures()})
	one, _ := e.Session(ctx, "manager-1", 0)
	two, _ := e.Session(ctx, "manager-2", 0)
	for _, d := range lease.Spaces() {
		_ = one.Create(ctx, d.Name, d.Options)
	}

	minute := int64(60_000)
	t, _ := one.Call(ctx, space.OpID{}, "lease.grant", tuple.New("episode-1", "clip-a,clip-b", minute))
	l := lease.Decode(t)
	fmt.Println(l.ID, l.Holder, l.Subject, l.Parts)

	_, err := two.Call(ctx, space.OpID{}, "lease.grant", tuple.New("episode-1", "clip-b,clip-c", minute))
	fmt.Println("overlaps:", errors.Is(err, fault.ErrConflict))

	_, err = two.Call(ctx, space.OpID{}, "lease.revoke", tuple.New(l.ID, l.Token+1))
	fmt.Println("another token:", errors.Is(err, fault.ErrStaleToken))

	_, err = two.Call(ctx, space.OpID{}, "lease.revoke", tuple.New(l.ID, l.Token))
	fmt.Println("the current one:", err)
	// Output:
	// l1 manager-1 episode-1 [clip-a clip-b]
	// overlaps: true
	// another token: true
	// the current one: <nil>
}
