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

	"leasehold/models"
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

// A spaceRow is a space as JSON shows it.
type spaceRow struct {
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	Visible   int    `json:"visible"`
	Held      int    `json:"held"`
	Capacity  int    `json:"capacity"`
	Overflow  string `json:"overflow"`
	Volatile  bool   `json:"volatile"`
	QueryOnly bool   `json:"query_only"`
}

func rowOfSpace(i space.Info) spaceRow {
	return spaceRow{
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

// A tupleRow is a tuple as JSON shows it: Line in the notation of package tuple,
// which reads back, and Fields with their types.
type tupleRow struct {
	Line   string     `json:"line"`
	Fields []fieldRow `json:"fields"`
	State  string     `json:"state,omitempty"` // in a list: visible or held
	Holder string     `json:"holder,omitempty"`
}

// A fieldRow is a field: numbers and truth values as JSON's; bytes in base64; a
// nested tuple as a list of fields; what JSON has no number for as a string.
type fieldRow struct {
	Type  tuple.Type `json:"type"`
	Value any        `json:"value"`
}

func rowOfTuple(t tuple.Tuple) tupleRow { return tupleRow{Line: t.Line(), Fields: fieldsOf(t)} }

func fieldsOf(t tuple.Tuple) []fieldRow {
	rows := make([]fieldRow, len(t))
	for i, f := range t {
		rows[i] = fieldRow{tuple.TypeOf(f), valueOf(f)}
	}
	return rows
}

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
	page, err := s.browse.Look(ctx, browse.Query{
		Space: r.PathValue("space"), Template: t, Open: open, Held: held, Offset: p.offset, Limit: p.limit,
	})
	rows := seen(page, func(x browse.Seen) tupleRow {
		row := rowOfTuple(x.Tuple)
		row.State, row.Holder = "visible", x.Holder
		if x.Held {
			row.State = "held"
		}
		return row
	})
	return struct {
		list[tupleRow]
		Omitted int `json:"omitted,omitempty"` // tuples that are too large to be shown
	}{rows, page.Omitted}, err
}

// writable refuses what is a public contract's: only the protocols write there.
func (s *server) writable(r *http.Request) (space.Space, error) {
	name := r.PathValue("space")
	if queryOnly[name] {
		return nil, fmt.Errorf("space %s: %w: it can be looked at only", name, fault.ErrForbidden)
	}
	return s.repo.Space(name), nil
}

// newTuple is what the put of a tuple takes.
type newTuple struct {
	Tuple string         `json:"tuple"` // in the notation of package tuple
	TTL   models.Seconds `json:"ttl_s"` // 0: until it is taken
}

func (s *server) putTuple(ctx context.Context, r *http.Request) (any, error) {
	var wanted newTuple
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

// wanted is what the routes take that look for one tuple.
type wanted struct {
	Template string         `json:"template"`
	Wait     models.Seconds `json:"wait_s"` // how long to wait for a match
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
	var w wanted
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
