package space

import (
	"context"
	"time"

	"leasehold/shared/tuple"
)

// handle is a Space whose calls a Conn carries.
type handle struct {
	conn Conn
	name string
}

func (h handle) Name() string { return h.name }

func (h handle) do(ctx context.Context, v Verb, p tuple.Template) (Reply, error) {
	return h.conn.Do(ctx, Request{Verb: v, Space: h.name, Template: p})
}

func (h handle) Put(ctx context.Context, t tuple.Tuple, ttl time.Duration) error {
	_, err := h.conn.Do(ctx, Request{Verb: VerbPut, Space: h.name, Tuple: t, TTL: ttl})
	return err
}

func (h handle) PutP(ctx context.Context, t tuple.Tuple, ttl time.Duration) error {
	_, err := h.conn.Do(ctx, Request{Verb: VerbPutP, Space: h.name, Tuple: t, TTL: ttl})
	return err
}

func (h handle) Get(ctx context.Context, p tuple.Template) (tuple.Tuple, error) {
	r, err := h.do(ctx, VerbGet, p)
	return r.Tuple, err
}

func (h handle) GetP(ctx context.Context, p tuple.Template) (tuple.Tuple, bool, error) {
	r, err := h.do(ctx, VerbGetP, p)
	return r.Tuple, r.Found, err
}

func (h handle) GetAll(ctx context.Context, p tuple.Template) ([]tuple.Tuple, error) {
	r, err := h.do(ctx, VerbGetAll, p)
	return r.Tuples, err
}

func (h handle) Query(ctx context.Context, p tuple.Template) (tuple.Tuple, error) {
	r, err := h.do(ctx, VerbQuery, p)
	return r.Tuple, err
}

func (h handle) QueryP(ctx context.Context, p tuple.Template) (tuple.Tuple, bool, error) {
	r, err := h.do(ctx, VerbQueryP, p)
	return r.Tuple, r.Found, err
}

func (h handle) QueryAll(ctx context.Context, p tuple.Template) ([]tuple.Tuple, error) {
	r, err := h.do(ctx, VerbQueryAll, p)
	return r.Tuples, err
}

func (h handle) GetUpTo(ctx context.Context, p tuple.Template, limit int) ([]tuple.Tuple, error) {
	return h.upTo(ctx, VerbGetUpTo, p, limit)
}

func (h handle) QueryUpTo(ctx context.Context, p tuple.Template, limit int) ([]tuple.Tuple, error) {
	return h.upTo(ctx, VerbQueryUpTo, p, limit)
}

func (h handle) upTo(ctx context.Context, v Verb, p tuple.Template, limit int) ([]tuple.Tuple, error) {
	r, err := h.conn.Do(ctx, Request{Verb: v, Space: h.name, Template: p, Limit: limit})
	return r.Tuples, err
}

func (h handle) Count(ctx context.Context, p tuple.Template) (int, error) {
	r, err := h.do(ctx, VerbCount, p)
	return r.Count, err
}

// Notify returns a subscription whose calls go over the same connection.
func (h handle) Notify(ctx context.Context, p tuple.Template) (Subscription, error) {
	r, err := h.do(ctx, VerbNotify, p)
	if err != nil {
		return nil, err
	}
	return subscription{h.conn, r.Subscription}, nil
}

// subscription is a Subscription whose calls a Conn carries.
type subscription struct {
	conn Conn
	id   int64
}

func (s subscription) Next(ctx context.Context) ([]Event, int, error) {
	r, err := s.conn.Do(ctx, Request{Verb: VerbNext, Subscription: s.id})
	return r.Events, r.Missed, err
}

func (s subscription) Close(ctx context.Context) error {
	_, err := s.conn.Do(ctx, Request{Verb: VerbUnnotify, Subscription: s.id})
	return err
}
