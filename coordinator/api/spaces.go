package api

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"leasehold/coordinator"
	"leasehold/coordinator/permission"
	"leasehold/shared/access"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/browse"
	"leasehold/shared/tuple"
)

// queryOnly are the spaces that only the protocols write to.
var queryOnly = space.QueryOnly(coordinator.Definitions())

// maxTTL is the maximum TTL of a tuple.
const maxTTL = 366 * 24 * time.Hour

func showSpace(i space.Info) types.Space {
	return types.Space{
		Name: i.Name, Kind: string(i.Options.Kind), Visible: i.Visible, Held: i.Held, Capacity: i.Options.Capacity,
		Overflow: string(i.Options.Overflow), Volatile: i.Options.Volatile, QueryOnly: queryOnly[i.Name],
	}
}

func (s *server) listSpaces(ctx context.Context, q *request) (types.Page[types.Space], error) {
	infos, err := s.repo.List(ctx)
	some := cut(q, infos)
	return toPage(some.Items, some.Total, showSpace), err
}

func (s *server) getSpace(ctx context.Context, q *request) (types.Space, error) {
	name := q.text("space")
	info, found, err := s.findSpace(ctx, name)
	if err == nil && !found {
		err = fmt.Errorf("space %.100q: %w", name, fault.ErrNotFound)
	}
	return showSpace(info), err
}

func showTuple(t tuple.Tuple) types.Tuple {
	return types.Tuple{Line: t.Line(), Fields: fieldsOf(t)}
}

// fieldsOf returns the fields of a tuple with their types and JSON values.
func fieldsOf(t tuple.Tuple) []types.Field {
	fields := make([]types.Field, len(t))
	for i, f := range t {
		value, _ := encode(valueOf(f)) // valueOf returns no value that JSON lacks
		fields[i] = types.Field{Type: string(tuple.TypeOf(f)), Value: value}
	}
	return fields
}

// valueOf returns the value whose JSON types.Field has for a field. Values that JSON lacks become strings:
// bytes in base64, NaN and infinities, and invalid UTF-8 in quotes.
func valueOf(f any) any {
	switch v := f.(type) {
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case tuple.Tuple:
		return fieldsOf(v)
	case tuple.Opaque:
		return v.JSON
	case float32:
		if n := float64(v); math.IsNaN(n) || math.IsInf(n, 0) {
			return strconv.FormatFloat(n, 'g', -1, 32)
		}
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
	case string:
		if !utf8.ValidString(v) {
			return strconv.QuoteToASCII(v)
		}
	}
	return f
}

// parseTemplate reads a template in the notation of package tuple. open reports whether it ends in "...", so that
// it matches longer tuples too.
func parseTemplate(line string) (t tuple.Template, open bool, err error) {
	words, err := tuple.Words(line)
	if err == nil {
		t, open, err = tuple.ParseTemplate(words)
	}
	if err != nil {
		return nil, false, fmt.Errorf("template: %w: %w", fault.ErrInvalid, err)
	}
	return t, open, nil
}

// parseWhole reads a template that does not end in "...".
func parseWhole(line string) (tuple.Template, error) {
	t, open, err := parseTemplate(line)
	if err == nil && open {
		err = fmt.Errorf("template: %w: ... is only accepted in lists of tuples", fault.ErrInvalid)
	}
	return t, err
}

// parseTuple reads a tuple in the notation of package tuple.
func parseTuple(line string) (t tuple.Tuple, err error) {
	words, err := tuple.Words(line)
	if err == nil {
		t, err = tuple.ParseTuple(words)
	}
	if err != nil {
		return nil, fmt.Errorf("tuple: %w: %w", fault.ErrInvalid, err)
	}
	return t, nil
}

// listTuples lists the tuples that match a template, or all without one, with their number. Those that are too
// large for an answer are only counted (Omitted).
func (s *server) listTuples(ctx context.Context, q *request) (types.Page[types.Tuple], error) {
	line := q.text("template")
	if line == "" {
		line = tuple.RestWord
	}
	t, open, err := parseTemplate(line)
	if err != nil {
		return types.Page[types.Tuple]{}, err
	}
	if err := permission.Read(access.Of(ctx), q.text("space")); err != nil {
		return types.Page[types.Tuple]{}, err
	}
	found, err := s.browse.Page(ctx, browse.Query{
		Space: q.text("space"), Template: t, Open: open, Held: q.flag("held"), Offset: q.number("offset"), Limit: q.number("limit"),
	})
	answer := toPage(found.Entries, found.Total, func(x browse.Entry) types.Tuple {
		shown := showTuple(x.Tuple)
		shown.State, shown.Holder = "visible", x.Holder
		if x.Held {
			shown.State = "held"
		}
		return shown
	})
	answer.Omitted = found.Omitted
	return answer, err
}

// requireWritable returns fault.ErrForbidden for the spaces that only the protocols write to.
func requireWritable(name string) error {
	if queryOnly[name] {
		return space.ErrQueryOnly(name)
	}
	return nil
}

// putTuple puts a tuple without waiting: a full space is an error.
func (s *server) putTuple(ctx context.Context, q *request, n types.NewTuple) (put types.Tuple, err error) {
	name := q.text("space")
	if err := requireWritable(name); err != nil {
		return put, err
	}
	if err := permission.Put(access.Of(ctx), name); err != nil {
		return put, err
	}
	ttl, err := seconds("ttl_s", n.TTL, maxTTL)
	if err != nil {
		return put, err
	}
	t, err := parseTuple(n.Tuple)
	if err != nil {
		return put, err
	}
	return showTuple(t), s.repo.Space(name).PutP(ctx, t, ttl)
}

func (s *server) queryTuple(ctx context.Context, q *request, l types.Lookup) (types.Tuple, error) {
	from := s.repo.Space(q.text("space"))
	if err := permission.Read(access.Of(ctx), from.Name()); err != nil {
		return types.Tuple{}, err
	}
	return lookUp(ctx, l, from.Query, from.QueryP)
}

// getTuple takes a tuple. The tuple is held until the response is written, and is back at its old place if it
// could not be. If the client dies after that, the tuple is lost.
func (s *server) getTuple(ctx context.Context, q *request, wanted types.Taking) (types.Taken, error) {
	name, l := q.text("space"), types.Lookup{Template: wanted.Template, Wait: wanted.Wait}
	if err := permission.Take(access.Of(ctx), name); err != nil {
		return types.Taken{}, err
	}
	if err := s.Acks.Check(); err != nil {
		return types.Taken{}, err
	}
	ttl, err := holdTime(wanted)
	if err != nil {
		return types.Taken{}, err
	}
	if wanted.Ack {
		return s.holdTuple(ctx, q, wanted, ttl)
	}
	if err := requireWritable(name); err != nil {
		return types.Taken{}, err
	}
	var op space.OpID // of the last attempt: an earlier one took nothing
	var claimed task.Item
	take := func(ctx context.Context, v space.Verb, t tuple.Template) (space.Reply, error) {
		op = space.OpID{Session: s.Conn.Session(), Seq: s.gets.Add(1)}
		// Recent, because concurrent requests reach the engine out of order.
		reply, err := s.Conn.Do(ctx, space.Request{Verb: v, Space: name, Template: t, Op: op, Ack: true, Recent: true})
		if name == task.Space { // the get is a claim
			claimed.ID, claimed.Token = task.TokenOf(reply.Tuple)
		}
		return reply, err
	}
	got, err := lookUp(ctx, l, func(ctx context.Context, t tuple.Template) (tuple.Tuple, error) {
		reply, err := take(ctx, space.VerbGet, t)
		return reply.Tuple, err
	}, func(ctx context.Context, t tuple.Template) (tuple.Tuple, bool, error) {
		reply, err := take(ctx, space.VerbGetP, t)
		return reply.Tuple, reply.Found, err
	})
	// If getTuple returns an error, the attempt took nothing, and finish is not called.
	q.finish = func(written bool) { s.endGet(ctx, op, claimed, written) }
	return types.Taken{Line: got.Line, Fields: got.Fields}, err
}

// endGet acknowledges a get whose response was written. Otherwise it gives back what the get took, and the claim of a
// get in the space of tasks, which has a token. An error that cannot pass means that the coordinator stops, so that the
// session's holds end too.
func (s *server) endGet(ctx context.Context, op space.OpID, claimed task.Item, written bool) {
	r := space.Request{Verb: space.VerbBack, Op: op}
	if written {
		r.Verb = space.VerbAck
	}
	_ = s.Acks.Do(context.WithoutCancel(ctx), func(ctx context.Context) error {
		if claimed.Token != 0 && !written {
			if err := s.tasks.HandBack(ctx, claimed); retry.CanPass(err) { // another error means that the claim has ended
				return err
			}
		}
		_, err := s.Conn.Do(ctx, r)
		return err
	})
}

// lookUp returns a tuple that matches. It calls poll, which does not block and reports whether a tuple matched,
// and then, if the request allows a wait, wait, which blocks.
func lookUp(
	ctx context.Context, l types.Lookup,
	wait func(context.Context, tuple.Template) (tuple.Tuple, error),
	poll func(context.Context, tuple.Template) (tuple.Tuple, bool, error),
) (types.Tuple, error) {
	t, err := parseWhole(l.Template)
	if err != nil {
		return types.Tuple{}, err
	}
	timeout, err := seconds("wait_s", l.Wait, maxWait)
	if err != nil {
		return types.Tuple{}, err
	}
	found, ok, err := poll(ctx, t)
	if err == nil && !ok && timeout > 0 {
		err = waitFor(ctx, timeout, func(ctx context.Context) (err error) {
			found, err = wait(ctx, t)
			return err
		})
		ok = err == nil
		if errors.Is(err, context.DeadlineExceeded) {
			err = nil
		}
	}
	switch {
	case err != nil:
		return types.Tuple{}, err
	case !ok:
		return types.Tuple{}, fmt.Errorf("template: %w: no tuple matches", fault.ErrNotFound)
	}
	return showTuple(found), nil
}

// waitFor calls wait with a context that ends at the timeout, or when the server drains.
func waitFor(ctx context.Context, timeout time.Duration, wait func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if draining, ok := ctx.Value(drainKey{}).(context.Context); ok {
		defer context.AfterFunc(draining, cancel)()
	}
	return wait(ctx)
}
