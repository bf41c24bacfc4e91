// Package browse is the protocol of looking at a space without taking: a page of
// the tuples that match, those that are held and by whom, and how many there are.
//
// A template may be open (a last "..." in the notation of package tuple): then it
// stands for all tuples that begin with what it matches, whatever their arity.
// That, and what is held, no plain query shows. An open template costs as much as
// the space is large, because the index is by signature; a page is bounded, the
// look for it is not, so nothing that runs often should use one.
//
// Pages are by offset, in the order of the space's kind: a tuple that is put or
// taken between two pages may shift another into or out of sight.
package browse

import (
	"context"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Query says what to look at.
type Query struct {
	Space    string
	Template tuple.Template
	Open     bool // the template stands for all tuples that begin so
	Held     bool // also those that are held
	Offset   int
	Limit    int // at most so many; 0 only counts
}

// Seen is one tuple where it is.
type Seen struct {
	Tuple  tuple.Tuple
	Held   bool
	Holder string // empty: nobody, until the hold ends
}

// Page is what was seen.
type Page struct {
	Seen []Seen
	// Total counts all that match. Omitted counts those of the page that are too
	// large to be shown.
	Total, Omitted int
}

// Procedure is the name of browse.look, whose answers are large.
const Procedure = "browse.look"

// room bounds the encoded tuples of one answer.
const room = tuple.MaxBytes - 1<<10

var lookArgs = tuple.Match(tuple.AnyString, tuple.Formal{Type: tuple.Bytes}, tuple.AnyBool, tuple.AnyBool, tuple.AnyInt64, tuple.AnyInt64)

// Procedures returns the protocol's one: browse.look (space, template, open,
// held, offset, limit).
func Procedures() space.Procedures {
	return space.Procedures{Procedure: space.WithArgs(lookArgs, look)}
}

// look answers (tuples, next offset, total, omitted).
func look(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	encoded, _ := args[1].([]byte)
	p, rest, err := tuple.DecodeTemplate(encoded)
	if err != nil || len(rest) > 0 {
		return nil, fmt.Errorf("%w: a template is wanted", fault.ErrInvalid)
	}
	q := Query{Space: args.Str(0), Template: p, Open: args.Bool(2), Held: args.Bool(3)}
	offset, limit := args.Int64(4), args.Int64(5)
	if offset < 0 || limit < 0 {
		return nil, fmt.Errorf("%w: an offset of %d, a limit of %d", fault.ErrInvalid, offset, limit)
	}
	if limit == 0 && !q.Open && !q.Held {
		return tuple.New([]byte{}, offset, int64(tx.Count(q.Space, p)), int64(0)), nil
	}
	found, err := q.find(tx)
	if err != nil {
		return nil, err
	}
	total := int64(len(found))
	data, next, omitted := pack(found, min(offset, total), limit)
	return tuple.New(data, next, total, omitted), nil
}

// find returns all that the query is about.
func (q Query) find(tx space.Tx) ([]space.Entry, error) {
	if !q.Open && !q.Held {
		return tx.Scan(q.Space, q.Template), nil
	}
	if !q.Open {
		return append(tx.Scan(q.Space, q.Template), tx.Held(q.Space, q.Template)...), nil
	}
	s, ok := tx.(space.Surveyor)
	if !ok {
		return nil, fmt.Errorf("%w: these spaces cannot be looked at with an open template", fault.ErrInvalid)
	}
	return s.Survey(q.Space, q.Held, func(e space.Entry) bool { return q.Template.Begins(e.Tuple) }), nil
}

// pack encodes what fits into one answer, and says where the next one begins.
func pack(found []space.Entry, from, limit int64) (data []byte, next, omitted int64) {
	next = from
	for _, e := range found[from:] {
		if next-from == limit {
			break
		}
		size := e.Tuple.Size()
		switch {
		case size > room:
			omitted++
		case len(data)+size > room:
			return data, next, omitted
		default:
			data = e.Tuple.Append(tuple.New(e.Held, e.Holder).Append(data))
		}
		next++
	}
	return data, next, omitted
}

// Client is the protocol as a session speaks it. It may be used concurrently.
type Client struct{ Repo space.Repository }

// Look returns one page, in as many answers as it takes. fault.ErrNotFound says
// that there is no such space.
func (c Client) Look(ctx context.Context, q Query) (Page, error) {
	if _, err := c.Repo.Space(q.Space).Count(ctx, tuple.Template{}); err != nil {
		return Page{}, err // a procedure cannot tell an empty space from none
	}
	var page Page
	for at, left := int64(q.Offset), int64(q.Limit); ; {
		args := tuple.New(q.Space, q.Template.Append(nil), q.Open, q.Held, at, left)
		reply, err := c.Repo.Call(ctx, space.OpID{}, Procedure, args)
		if err != nil {
			return Page{}, fmt.Errorf("look at %s: %w", q.Space, err)
		}
		if err := page.unpack(reply); err != nil {
			return Page{}, err
		}
		left -= reply.Int64(1) - at
		at = reply.Int64(1)
		if left <= 0 || at >= int64(page.Total) {
			return page, nil
		}
	}
}

// unpack adds one answer to the page.
func (p *Page) unpack(reply tuple.Tuple) error {
	if len(reply) != 4 {
		return fmt.Errorf("%s: %w: an answer of %d fields", Procedure, fault.ErrCorrupt, len(reply))
	}
	data, _ := reply[0].([]byte)
	for len(data) > 0 {
		where, rest, err := tuple.Decode(data)
		if err != nil {
			return fmt.Errorf("%s: %w: %w", Procedure, fault.ErrCorrupt, err)
		}
		t, rest, err := tuple.Decode(rest)
		if err != nil {
			return fmt.Errorf("%s: %w: %w", Procedure, fault.ErrCorrupt, err)
		}
		p.Seen = append(p.Seen, Seen{Tuple: t, Held: where.Bool(0), Holder: where.Str(1)})
		data = rest
	}
	p.Total = int(reply.Int64(2))
	p.Omitted += int(reply.Int64(3))
	return nil
}
