package visits

import (
	"cmp"
	"slices"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/protocol/visit/policy"
)

// queues reads the file for one pick. It passes over origins whose host is busy.
type queues struct {
	store   *Store
	hosts   *hosts
	cursors map[cursorKey]*cursor
	want    int // origins that the pick is for
	err     error
}

// A cursorKey names one end of a queue: the back, with the largest refs, or the front.
type cursorKey struct {
	queue policy.Queue
	back  bool
}

// cursor reads those in front of a queue from one end, a few origins at a time. From the
// back it reads no others: what a host has behind its first one is read only in order.
type cursor struct {
	buffer   []policy.Candidate
	from     policy.Candidate // the last one read
	begun    bool
	done     bool
	fetching int

	given  policy.Candidate   // the last one returned, or passed over because it is claimed
	behind []policy.Candidate // those that followed a given one of their host, in order
}

// Of implements policy.Queues: the queues of a pool in which an origin waits, by lister and class,
// so that the order does not depend on a map.
func (q *queues) Of(p policy.Pool) []policy.Queue {
	var all []policy.Queue
	for name, n := range q.store.cache.queues {
		if name.Pool == p && n > 0 {
			all = append(all, name)
		}
	}
	slices.SortFunc(all, func(a, b policy.Queue) int {
		return cmp.Or(cmp.Compare(a.Lister, b.Lister), cmp.Compare(a.Class, b.Class))
	})
	return all
}

// Quality implements policy.Queues.
func (q *queues) Quality(lister int32) policy.Quality { return q.store.quality(lister) }

// quality returns how good the dates of a lister are, from the observations of it and of all
// listers. Reports of changes (policy.TellersID) count as listed at any time, because they come at
// once.
func (s *Store) quality(lister int32) policy.Quality {
	d := s.cache.dates[lister]
	known := s.rules.Quality(d.Dates, s.cache.allDates, d.listed)
	known.FirstVisits = s.cache.preferred[lister]
	if lister == policy.TellersID {
		known.Listed = policy.Latest
	}
	return known
}

// The first and the longest read of a queue.
const (
	firstRead = 4
	mostRead  = 512
)

// Next returns the next origin at one end of a queue, the back or the front, whose host may be
// visited now, and passes over those that are claimed. false: there is none, or a read failed
// (err). When a host may be visited again after one of its origins was picked or claimed, the
// origin that follows that one is a candidate too; only from the front, because only the front is
// read in order.
func (q *queues) Next(name policy.Queue, back bool) (policy.Candidate, bool) {
	key := cursorKey{name, back}
	c := q.cursors[key]
	if c == nil {
		c = &cursor{fetching: min(firstRead, max(q.want, 1))}
		q.cursors[key] = c
	}
	for {
		if !back {
			q.addFollowing(c)
		}
		head, ok := q.takeHead(name, back, c)
		if !ok {
			return policy.Candidate{}, false
		}
		if !q.hosts.checkFree(head.Host) {
			continue
		}
		c.given = head
		if _, claimed := q.store.cache.claims[head.Key]; !claimed {
			return head, true
		}
	}
}

// addFollowing adds to c.behind the origin that follows the last one given, if its host may be
// visited now. It is not in the buffer, because only the first origin of a host is in front
// (front.go). An error goes to q.err.
func (q *queues) addFollowing(c *cursor) {
	given := c.given
	c.given = policy.Candidate{}
	if given.Host == "" || q.err != nil || q.hosts.waitOf(given.Host).why != "" {
		return
	}
	next, ok, err := q.store.following(given)
	q.err = err
	if ok {
		at, _ := slices.BinarySearchFunc(c.behind, next, compareInQueue)
		c.behind = slices.Insert(c.behind, at, next)
	}
}

// takeHead removes the first candidate at one end of a queue, the back one if back is true, of
// those in the buffer and those behind a given one, and reports whether there is one. It reads more
// if the buffer is empty. It returns none after an error, or when both ends have met.
func (q *queues) takeHead(name policy.Queue, back bool, c *cursor) (policy.Candidate, bool) {
	if q.err != nil {
		return policy.Candidate{}, false
	}
	if len(c.buffer) == 0 && !c.done {
		if q.err = q.fetch(name, back, c); q.err != nil {
			return policy.Candidate{}, false
		}
	}
	if len(c.behind) > 0 && (len(c.buffer) == 0 || compareInQueue(c.behind[0], c.buffer[0]) < 0) {
		head := c.behind[0]
		c.behind = c.behind[1:]
		return head, true
	}
	if len(c.buffer) == 0 {
		return policy.Candidate{}, false
	}
	head := c.buffer[0]
	c.buffer = c.buffer[1:]
	if other := q.cursors[cursorKey{name, !back}]; other != nil && other.begun && q.endIfMet(head, c, other, back) {
		return policy.Candidate{}, false
	}
	return head, true
}

// compareInQueue orders two candidates of one queue.
func compareInQueue(a, b policy.Candidate) int {
	return cmp.Or(cmp.Compare(a.Place.Ref, b.Place.Ref), cmp.Compare(a.Key, b.Key))
}

// endIfMet reports whether the other end has already given this origin. If so, it ends c: all that
// this end would read from here on the other end has given. head is the next origin of this end c,
// and back tells that c is the back. It relies on both ends reading in opposite orders of
// compareInQueue.
func (q *queues) endIfMet(head policy.Candidate, c, other *cursor, back bool) bool {
	given := other.from
	if len(other.buffer) > 0 {
		given = other.buffer[0]
	}
	over := compareInQueue(head, given)
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

// The statements of fetch. From the front refs ascend, from the back they descend. Each
// read but the first begins behind a ref and key.
const (
	frontFirst = "SELECT key, ref, host FROM schedule WHERE front = 1 AND pool = ? AND queue = ? AND class = ? ORDER BY ref, key LIMIT ?"
	frontNext  = "SELECT key, ref, host FROM schedule WHERE front = 1 AND pool = ? AND queue = ? AND class = ? AND (ref, key) > (?, ?) ORDER BY ref, key LIMIT ?"
	backFirst  = "SELECT key, ref, host FROM schedule WHERE front = 1 AND pool = ? AND queue = ? AND class = ? ORDER BY ref DESC, key DESC LIMIT ?"
	backNext   = "SELECT key, ref, host FROM schedule WHERE front = 1 AND pool = ? AND queue = ? AND class = ? AND (ref, key) < (?, ?) ORDER BY ref DESC, key DESC LIMIT ?"
)

// fetch reads the next origins at one end of a queue, the back or the front, into the buffer, which is empty: as
// many as c.fetching, which then grows fourfold up to mostRead, so that a short pick reads little and a long one
// seldom. Fewer than asked for mean that the queue has no more. It goes on behind c.from by ref and key, and not
// by an offset, because that would read all before it again.
func (q *queues) fetch(name policy.Queue, back bool, c *cursor) error {
	args := []any{name.Pool, name.Lister, name.Class}
	text := frontFirst
	switch {
	case c.begun && back:
		text = backNext
	case c.begun:
		text = frontNext
	case back:
		text = backFirst
	}
	if c.begun {
		args = append(args, c.from.Place.Ref, c.from.Key)
	}
	err := q.store.db.All(text, append(args, c.fetching), func(from sqldb.Row) error {
		x := policy.Candidate{Place: policy.Place{Pool: name.Pool, Lister: name.Lister, Class: name.Class}}
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
