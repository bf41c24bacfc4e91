// Package hello is the first lesson: a put, and a get that waits for it.
package hello

import (
	"context"

	"leasehold/examples/course"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Program greets.
var Program = course.Program{
	Spaces: map[string]space.Options{"box": {}},
	Roles:  []course.Role{{Name: "receiver", Run: receive}, {Name: "sender", Run: send}},
}

func send(ctx context.Context, m *course.Member) error {
	return m.Space("box").Put(ctx, tuple.New("hello", "world"), 0)
}

func receive(ctx context.Context, m *course.Member) error {
	greeting, err := m.Space("box").Get(ctx, tuple.Match("hello", tuple.AnyString))
	if err == nil {
		m.Print("hello, %s", greeting.Str(1))
	}
	return err
}
