// Package ring passes one token around a ring: only who has it may print.
package ring

import (
	"context"

	"leasehold/examples/course"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

const (
	nodes  = 3
	rounds = 2
)

// Program passes the token twice around.
var Program = course.Program{
	Spaces: map[string]space.Options{"ring": {}},
	First: func(ctx context.Context, m *course.Member) error {
		return m.Space("ring").Put(ctx, tuple.New("token", int64(1)), 0)
	},
	Roles: []course.Role{{Name: "node", Count: nodes, Run: pass}},
}

// pass takes the token of this node and puts the token of the next one, for all rounds. There is one token, so
// the nodes print in turn.
func pass(ctx context.Context, m *course.Member) error {
	for range rounds {
		if _, err := m.Space("ring").Get(ctx, tuple.Match("token", m.Number)); err != nil {
			return err
		}
		m.Print("node %d has the token", m.Number)
		if err := m.Space("ring").Put(ctx, tuple.New("token", m.Number%nodes+1), 0); err != nil {
			return err
		}
	}
	return nil
}
