package api

import (
	"context"
	"net/http"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// A get is one tuple on its way to a client: out of its space, but back at its old
// place unless the answer could be written. What a client does that dies after that
// nobody knows: a written answer counts.
type get struct {
	s     *server
	space string
	op    space.OpID // of the attempt that may have taken it
}

func (s *server) getTuple(ctx context.Context, r *http.Request) (any, error) {
	from, err := s.writable(r)
	if err != nil {
		return nil, err
	}
	g := &get{s: s, space: from.Name()}
	row, err := one(ctx, r, g.wait, g.now)
	if err != nil {
		return nil, err
	}
	return reply{body: row, settle: func(arrived bool) { g.settle(context.WithoutCancel(ctx), arrived) }}, nil
}

// take asks for a tuple, as an operation of its own.
func (g *get) take(ctx context.Context, v space.Verb, p tuple.Template) (space.Reply, error) {
	g.op = space.OpID{Session: g.s.Conn.Session(), Seq: g.s.taken.Add(1)}
	return g.s.Conn.Do(ctx, space.Request{Verb: v, Space: g.space, Template: p, Op: g.op, Ack: true, Recent: true})
}

func (g *get) wait(ctx context.Context, p tuple.Template) (tuple.Tuple, error) {
	reply, err := g.take(ctx, space.VerbGet, p)
	return reply.Tuple, err
}

func (g *get) now(ctx context.Context, p tuple.Template) (tuple.Tuple, bool, error) {
	reply, err := g.take(ctx, space.VerbGetP, p)
	return reply.Tuple, reply.Found, err
}

// settle ends it. If the coordinator ends before, the tuple is back with its session.
func (g *get) settle(ctx context.Context, arrived bool) {
	v := space.VerbBack
	if arrived {
		v = space.VerbAck
	}
	_, _ = g.s.Conn.Do(ctx, space.Request{Verb: v, Op: g.op}) // its session ends with the coordinator
}
