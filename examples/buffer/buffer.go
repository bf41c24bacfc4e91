// Package buffer is a producer and a consumer with a bounded buffer between them.
package buffer

import (
	"context"

	"leasehold/examples/course"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

const items = 5

// Program carries five items through a buffer of two.
var Program = course.Program{
	Spaces: map[string]space.Options{"buffer": {Capacity: 2}},
	Roles:  []course.Role{{Name: "producer", Run: produce}, {Name: "consumer", Run: consume}},
}

// produce puts the items in their order, and waits while the buffer is full.
func produce(ctx context.Context, m *course.Member) error {
	for i := range int64(items) {
		if err := m.Space("buffer").Put(ctx, tuple.New("item", i+1), 0); err != nil {
			return err
		}
	}
	return nil
}

// consume takes the items in any order, and waits while the buffer is empty.
func consume(ctx context.Context, m *course.Member) error {
	for range items {
		item, err := m.Space("buffer").Get(ctx, tuple.Match("item", tuple.AnyInt64))
		if err != nil {
			return err
		}
		m.Print("item %d", item.Int64(1))
	}
	return nil
}
