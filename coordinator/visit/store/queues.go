package store

import (
	"cmp"
	"slices"

	"leasehold/coordinator/visit"
	"leasehold/shared/sqlfile"
)

// queues reads the file for one pick.
type queues struct {
	s       *Store
	cursors map[cursorKey]*cursor
	want    int // origins that the pick is for
	err     error
}

type cursorKey struct {
	queue visit.Queue
	back  bool
}

// cursor reads a queue from one end, a few origins at a time.
type cursor struct {
	buffer   []visit.Candidate
	from     visit.Candidate // the last one read
	begun    bool
	done     bool
	fetching int
}

// Of implements visit.Queues.
func (q *queues) Of(p visit.Pool) []visit.Queue {
	var all []visit.Queue
	for name, n := range q.s.cache.queues {
		if name.Pool == p && n > 0 {
			all = append(all, name)
		}
	}
	slices.SortFunc(all, func(a, b visit.Queue) int {
		return cmp.Or(cmp.Compare(a.Lister, b.Lister), cmp.Compare(a.Class, b.Class))
	})
	return all
}

// Quality implements visit.Queues.
func (q *queues) Quality(lister int32) visit.Quality { return q.s.quality(lister) }

func (s *Store) quality(lister int32) visit.Quality {
	d := s.cache.dates[lister]
	known := d.Quality(d.listed)
	known.FirstVisits = s.cache.preferred[lister]
	return known
}

// The first and the longest read of a queue.
const (
	firstRead = 4
	mostRead  = 512
)

// Next implements visit.Queues.
func (q *queues) Next(name visit.Queue, back bool) (visit.Candidate, bool) {
	key := cursorKey{name, back}
	c := q.cursors[key]
	if c == nil {
		c = &cursor{fetching: min(firstRead, max(q.want, 1))}
		q.cursors[key] = c
	}
	if len(c.buffer) == 0 && !c.done && q.err == nil {
		q.err = q.fetch(name, back, c)
	}
	if len(c.buffer) == 0 || q.err != nil {
		return visit.Candidate{}, false
	}
	head := c.buffer[0]
	c.buffer = c.buffer[1:]
	if other := q.cursors[cursorKey{name, !back}]; other != nil && other.begun && q.met(head, c, other, back) {
		return visit.Candidate{}, false
	}
	return head, true
}

// met reports whether the other end has already given this origin.
func (q *queues) met(head visit.Candidate, c, other *cursor, back bool) bool {
	given := other.from
	if len(other.buffer) > 0 {
		given = other.buffer[0]
	}
	over := cmp.Or(cmp.Compare(head.Place.Ref, given.Place.Ref), cmp.Compare(head.Key, given.Key))
	if back {
		over = -over
	}
	// With a buffer, given is the next one to be given, and still free.
	if over > 0 || over == 0 && len(other.buffer) == 0 {
		c.done, c.buffer = true, nil
		return true
	}
	return false
}

const (
	readFirst   = "SELECT key, ref, host FROM schedule WHERE pool = ? AND queue = ? AND class = ? ORDER BY ref, key LIMIT ?"
	readOn      = "SELECT key, ref, host FROM schedule WHERE pool = ? AND queue = ? AND class = ? AND (ref, key) > (?, ?) ORDER BY ref, key LIMIT ?"
	readLast    = "SELECT key, ref, host FROM schedule WHERE pool = ? AND queue = ? AND class = ? ORDER BY ref DESC, key DESC LIMIT ?"
	readOnwards = "SELECT key, ref, host FROM schedule WHERE pool = ? AND queue = ? AND class = ? AND (ref, key) < (?, ?) ORDER BY ref DESC, key DESC LIMIT ?"
)

func (q *queues) fetch(name visit.Queue, back bool, c *cursor) error {
	args := []any{name.Pool, name.Lister, name.Class}
	text := readFirst
	switch {
	case c.begun && back:
		text = readOnwards
	case c.begun:
		text = readOn
	case back:
		text = readLast
	}
	if c.begun {
		args = append(args, c.from.Place.Ref, c.from.Key)
	}
	err := q.s.db.All(text, append(args, c.fetching), func(from sqlfile.Row) error {
		x := visit.Candidate{Place: visit.Place{Pool: name.Pool, Lister: name.Lister, Class: name.Class}}
		err := from.Scan(&x.Key, &x.Place.Ref, &x.Host)
		c.buffer = append(c.buffer, x)
		return err
	})
	c.begun, c.done = true, len(c.buffer) < c.fetching
	if n := len(c.buffer); n > 0 {
		c.from = c.buffer[n-1]
	}
	c.fetching = min(4*c.fetching, mostRead)
	return err
}
