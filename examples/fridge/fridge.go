// Package fridge is a shopping list on a fridge: one writes it, another buys all of it.
package fridge

import (
	"context"

	"leasehold/examples/course"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Program buys milk and bread.
var Program = course.Program{
	Spaces: map[string]space.Options{"fridge": {}},
	Roles:  []course.Role{{Name: "alice", Run: write}, {Name: "bob", Run: shop}},
}

// write puts the list first and the request to shop last, so that the shopper finds the whole list.
func write(ctx context.Context, m *course.Member) error {
	for _, t := range []tuple.Tuple{tuple.New("milk", int64(2)), tuple.New("bread", int64(1)), tuple.New("shop")} {
		if err := m.Space("fridge").Put(ctx, t, 0); err != nil {
			return err
		}
	}
	return nil
}

// shop waits for the request, and takes items until none is left. It does not wait for more.
func shop(ctx context.Context, m *course.Member) error {
	fridge := m.Space("fridge")
	if _, err := fridge.Get(ctx, tuple.Match("shop")); err != nil {
		return err
	}
	for {
		item, found, err := fridge.GetP(ctx, tuple.Match(tuple.AnyString, tuple.AnyInt64))
		if err != nil || !found {
			return err
		}
		m.Print("bob buys %d of %s", item.Int64(1), item.Str(0))
	}
}
