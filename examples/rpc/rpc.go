// Package rpc is a remote procedure call: two tuples with the number of the caller.
package rpc

import (
	"context"

	"leasehold/examples/course"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Program has two clients and a server that doubles.
var Program = course.Program{
	Spaces: map[string]space.Options{"calls": {}},
	Roles:  []course.Role{{Name: "client", Count: 2, Run: call}, {Name: "server", Endless: true, Run: serve}},
}

// call puts a call, and waits for the result of its own call, which its number distinguishes from others.
func call(ctx context.Context, m *course.Member) error {
	calls := m.Space("calls")
	if err := calls.Put(ctx, tuple.New("call", m.Number, 10*m.Number), 0); err != nil {
		return err
	}
	result, err := calls.Get(ctx, tuple.Match("result", m.Number, tuple.AnyInt64))
	if err == nil {
		m.Print("client %d: twice %d is %d", m.Number, 10*m.Number, result.Int64(2))
	}
	return err
}

// serve answers calls with twice their number, each under the caller's number, until ctx ends.
func serve(ctx context.Context, m *course.Member) error {
	calls := m.Space("calls")
	for {
		c, err := calls.Get(ctx, tuple.Match("call", tuple.AnyInt64, tuple.AnyInt64))
		if err != nil {
			return err
		}
		if err := calls.Put(ctx, tuple.New("result", c.Int64(1), 2*c.Int64(2)), 0); err != nil {
			return err
		}
	}
}
