// Package browse is the protocol for reading a space without taking from it: a page of the tuples that match a
// template, which of them are held and by which session, and the number of matches.
//
// A template may be open (a last "..." in the notation of package tuple): then it
// matches all tuples that begin with its fields, of any arity. A plain query
// shows neither these nor held tuples. A query with an open template scans the whole
// space, because the index is by signature. The page is bounded, the scan is not, so
// code that runs often must not use open templates.
//
// Pages are by offset, in the order of the space's kind. A tuple put or taken between two pages may make a reader
// miss another, or read it twice.
package browse

import (
	"context"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Query selects the tuples of a page.
type Query struct {
	Space    string
	Template tuple.Template
	Open     bool // the template matches all tuples that begin with its fields
	Held     bool // include held tuples
	Offset   int
	Limit    int // the maximum size of the page; 0 only counts
}

// Entry is one tuple of a page.
type Entry struct {
	Tuple  tuple.Tuple
	Held   bool
	Holder string // empty: no session holds it, even if it is hidden for a back-off
}

// Page is the answer to a query.
type Page struct {
	Entries []Entry
	// Total counts all matches. Omitted counts tuples of the page too large to send.
	Total, Omitted int
}

// Procedure is the name of browse.look. Its answers are large.
const Procedure = "browse.look"

// answerBytes bounds the encoded tuples of one answer.
const answerBytes = tuple.MaxBytes - 1<<10

// Procedures returns the protocol's one procedure: browse.look (space, template, open,
// held, offset, limit).
func Procedures() space.Procedures {
	return space.Procedures{Procedure: space.WithArgs(queryArgs, readPage)}
}

// readPage (space, template, open, held, offset, limit), the fields of Query, returns (tuples, next
// offset, total, omitted): as much of the page as one answer carries. The page ends at the limit or
// the total. A query for the number of plain matches only is answered without reading them.
func readPage(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	q, err := decodeQuery(args)
	if err != nil {
		return nil, err
	}
	a := answer{next: int64(q.Offset)}
	if q.Limit == 0 && !q.Open && !q.Held {
		a.total = int64(tx.Count(q.Space, q.Template))
		return a.encode(), nil
	}
	found, err := q.matches(tx)
	if err != nil {
		return nil, err
	}
	a.total = int64(len(found))
	a.next = min(a.next, a.total)
	for _, e := range found[a.next:] {
		if a.next-int64(q.Offset) == int64(q.Limit) || !a.add(Entry{e.Tuple, e.Held, e.Holder}) {
			break
		}
	}
	return a.encode(), nil
}

// matches returns all matches of the query. Only a Surveyor can find the tuples that begin with an open template,
// because the index of a space needs all fields.
func (q Query) matches(tx space.Tx) ([]space.Entry, error) {
	if !q.Open && !q.Held {
		return tx.Scan(q.Space, q.Template), nil
	}
	if !q.Open {
		return append(tx.Scan(q.Space, q.Template), tx.Held(q.Space, q.Template)...), nil
	}
	s, ok := tx.(space.Surveyor)
	if !ok {
		return nil, fmt.Errorf("%w: these spaces do not support open templates", fault.ErrInvalid)
	}
	return s.Survey(q.Space, q.Held, func(e space.Entry) bool { return q.Template.Begins(e.Tuple) }), nil
}

// Client calls the procedure of the protocol over one session. It may be used
// concurrently.
type Client struct{ Repo space.Repository }

// Page returns one page. It makes as many calls as the page needs. It fails with fault.ErrNotFound if the space does
// not exist.
func (c Client) Page(ctx context.Context, q Query) (Page, error) {
	if _, err := c.Repo.Space(q.Space).Count(ctx, tuple.Template{}); err != nil {
		return Page{}, err // a procedure cannot tell an empty space from a missing one
	}
	var page Page
	for {
		reply, err := c.Repo.Call(ctx, space.OpID{}, Procedure, q.encode())
		if err != nil {
			return Page{}, fmt.Errorf("browse %s: %w", q.Space, err)
		}
		a, entries, err := decodeAnswer(reply)
		if err != nil {
			return Page{}, err
		}
		page.Entries = append(page.Entries, entries...)
		page.Total = int(a.total)
		page.Omitted += int(a.omitted)
		q.Limit -= int(a.next) - q.Offset
		q.Offset = int(a.next)
		if q.Limit <= 0 || q.Offset >= page.Total {
			return page, nil
		}
	}
}
