// Package election chooses one leader for each term: who takes the ballot leads, and returns
// it for the next term.
package election

import (
	"context"

	"leasehold/examples/course"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

const candidates = 3

// Program has three candidates who lead once each, and a voter who sees all terms.
var Program = course.Program{
	Spaces: map[string]space.Options{"ballot": {}, "leader": {}},
	First: func(ctx context.Context, m *course.Member) error {
		return m.Space("ballot").Put(ctx, tuple.New("ballot", int64(1)), 0)
	},
	Roles: []course.Role{{Name: "candidate", Count: candidates, Run: lead}, {Name: "voter", Run: watch}},
}

// lead waits for the ballot, leads for one term, and resigns when the voter has seen it, by putting the ballot of
// the next term. There is one ballot, so there is at most one leader.
func lead(ctx context.Context, m *course.Member) error {
	ballot, err := m.Space("ballot").Get(ctx, tuple.Match("ballot", tuple.AnyInt64))
	if err != nil {
		return err
	}
	term := ballot.Int64(1)
	if err := m.Space("leader").Put(ctx, tuple.New("leader", term, m.Number), 0); err != nil {
		return err
	}
	if _, err := m.Space("leader").Get(ctx, tuple.Match("seen", term)); err != nil {
		return err
	}
	return m.Space("ballot").Put(ctx, tuple.New("ballot", term+1), 0)
}

// watch takes the announcement of each term, in their order, and confirms it.
func watch(ctx context.Context, m *course.Member) error {
	for term := int64(1); term <= candidates; term++ {
		leader, err := m.Space("leader").Get(ctx, tuple.Match("leader", term, tuple.AnyInt64))
		if err != nil {
			return err
		}
		m.Print("term %d: candidate %d", term, leader.Int64(2))
		if err := m.Space("leader").Put(ctx, tuple.New("seen", term), 0); err != nil {
			return err
		}
	}
	return nil
}
