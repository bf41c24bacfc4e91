package api

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"leasehold/shared/apitypes"
	"leasehold/shared/browse"
	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

// queryOnly are the spaces that strangers may only look at.
var queryOnly = map[string]bool{lease.Space: true, task.Dead: true}

// maxTTL bounds how long a tuple that is put with a TTL may stay.
const maxTTL = 366 * 24 * time.Hour

func rowOfSpace(i space.Info) apitypes.Space {
	return apitypes.Space{
		Name: i.Name, Kind: string(i.Options.Kind), Visible: i.Visible, Held: i.Held, Capacity: i.Options.Capacity,
		Overflow: string(i.Options.Overflow), Volatile: i.Options.Volatile, QueryOnly: queryOnly[i.Name],
	}
}

func (s *server) listSpaces(ctx context.Context, r *http.Request) (any, error) {
	q := ask(r, "offset", "limit")
	p := q.part(MaxPage)
	if q.err != nil {
		return nil, q.err
	}
	infos, err := s.repo.List(ctx)
	return cut(infos, p, rowOfSpace), err
}

func (s *server) getSpace(ctx context.Context, r *http.Request) (any, error) {
	name := r.PathValue("space")
	infos, err := s.repo.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, i := range infos {
		if i.Name == name {
			return rowOfSpace(i), nil
		}
	}
	return nil, fmt.Errorf("space %.100q: %w", name, fault.ErrNotFound)
}

func rowOfTuple(t tuple.Tuple) apitypes.Tuple {
	return apitypes.Tuple{Line: t.Line(), Fields: fieldsOf(t)}
}

func fieldsOf(t tuple.Tuple) []apitypes.Field {
	fields := make([]apitypes.Field, len(t))
	for i, f := range t {
		value, err := encode(valueOf(f))
		if err != nil { // an opaque value whose JSON is invalid
			value, _ = encode(err.Error())
		}
		fields[i] = apitypes.Field{Type: string(tuple.TypeOf(f)), Value: value}
	}
	return fields
}

// valueOf returns what json.Marshal writes for a field (apitypes.Field).
func valueOf(f any) any {
	switch v := f.(type) {
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case tuple.Tuple:
		return fieldsOf(v)
	case tuple.Opaque:
		return v.JSON
	case float32:
		return number(float64(v), 32)
	case float64:
		return number(v, 64)
	case string:
		if !utf8.ValidString(v) {
			return strconv.QuoteToASCII(v)
		}
	}
	return f
}

func number(v float64, bits int) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.FormatFloat(v, 'g', -1, bits)
	}
	return v
}

// template reads a template as people write it.
func template(line string) (p tuple.Template, open bool, err error) {
	words, err := tuple.Words(line)
	if err == nil {
		p, open, err = tuple.ParseTemplate(words)
	}
	if err != nil {
		return nil, false, fmt.Errorf("template: %w: %w", fault.ErrInvalid, err)
	}
	return p, open, nil
}

func (s *server) listTuples(ctx context.Context, r *http.Request) (any, error) {
	q := ask(r, "offset", "limit", "template", "held")
	p, held := q.part(MaxTuples), q.flag("held", false)
	if q.err != nil {
		return nil, q.err
	}
	line := q.text("template")
	if line == "" {
		line = tuple.RestWord
	}
	t, open, err := template(line)
	if err != nil {
		return nil, err
	}
	page, err := s.browse.Page(ctx, browse.Query{
		Space: r.PathValue("space"), Template: t, Open: open, Held: held, Offset: p.offset, Limit: p.limit,
	})
	rows := seen(page, func(x browse.Entry) apitypes.Tuple {
		row := rowOfTuple(x.Tuple)
		row.State, row.Holder = "visible", x.Holder
		if x.Held {
			row.State = "held"
		}
		return row
	})
	rows.Omitted = page.Omitted
	return rows, err
}

// writable refuses what is a public contract's: only the protocols write there.
func (s *server) writable(r *http.Request) (space.Space, error) {
	name := r.PathValue("space")
	if queryOnly[name] {
		return nil, fmt.Errorf("space %s: %w: it can be looked at only", name, fault.ErrForbidden)
	}
	return s.repo.Space(name), nil
}

func (s *server) putTuple(ctx context.Context, r *http.Request) (any, error) {
	var wanted apitypes.NewTuple
	into, err := s.writable(r)
	if err != nil {
		return nil, err
	}
	if err := body(r, &wanted); err != nil {
		return nil, err
	}
	ttl, err := seconds("ttl_s", wanted.TTL, maxTTL)
	if err != nil {
		return nil, err
	}
	words, err := tuple.Words(wanted.Tuple)
	if err != nil {
		return nil, fmt.Errorf("tuple: %w: %w", fault.ErrInvalid, err)
	}
	t, err := tuple.ParseTuple(words)
	if err != nil {
		return nil, fmt.Errorf("tuple: %w: %w", fault.ErrInvalid, err)
	}
	return reply{status: http.StatusCreated, body: rowOfTuple(t)}, into.PutP(ctx, t, ttl)
}

func (s *server) queryTuple(ctx context.Context, r *http.Request) (any, error) {
	from := s.repo.Space(r.PathValue("space"))
	return one(ctx, r, from.Query, from.QueryP)
}

// one looks for a tuple, and waits for it if asked to.
func one(
	ctx context.Context, r *http.Request,
	wait func(context.Context, tuple.Template) (tuple.Tuple, error),
	now func(context.Context, tuple.Template) (tuple.Tuple, bool, error),
) (any, error) {
	var w apitypes.Lookup
	if err := body(r, &w); err != nil {
		return nil, err
	}
	p, open, err := template(w.Template)
	if err != nil {
		return nil, err
	}
	if open {
		return nil, fmt.Errorf("template: %w: ... is only for lists of tuples", fault.ErrInvalid)
	}
	patience, err := seconds("wait_s", w.Wait, MaxWait)
	if err != nil {
		return nil, err
	}
	found, ok, err := now(ctx, p)
	if err == nil && !ok && patience > 0 {
		found, err = waitFor(ctx, patience, p, wait)
		ok = err == nil
		if errors.Is(err, context.DeadlineExceeded) {
			err = nil
		}
	}
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, fmt.Errorf("template: %w: no tuple matches", fault.ErrNotFound)
	}
	return rowOfTuple(found), nil
}

// waitFor waits for a match until its time is over, or the server drains.
func waitFor(ctx context.Context, patience time.Duration, p tuple.Template, wait func(context.Context, tuple.Template) (tuple.Tuple, error)) (tuple.Tuple, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if draining, ok := ctx.Value(drainKey{}).(context.Context); ok {
		defer context.AfterFunc(draining, cancel)()
	}
	return wait(ctx, p)
}
