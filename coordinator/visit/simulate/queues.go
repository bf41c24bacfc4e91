package simulate

import (
	"leasehold/coordinator/visit"
)

// queues keeps eligible origins in heaps, one a queue, and those that rest in a
// calendar. What is in a heap but has moved since is dropped when it comes up.
type queues struct {
	heaps   map[visit.Queue]*heap
	of      map[visit.Pool][]visit.Queue
	places  []visit.Place // by key
	moves   []uint32      // by key: how often it moved
	resting map[int64][]int32
	taken   []entry // by the pick under way
	quality visit.Quality
}

type entry struct {
	ref  int64
	key  int32
	move uint32
}

func newQueues(n int) *queues {
	return &queues{
		heaps: map[visit.Queue]*heap{}, of: map[visit.Pool][]visit.Queue{}, places: make([]visit.Place, n),
		moves: make([]uint32, n), resting: map[int64][]int32{},
	}
}

// place puts an origin where it waits, wherever it was.
func (q *queues) place(key int, p visit.Place) {
	q.moves[key]++
	q.places[key] = p
	q.push(entry{p.Ref, int32(key), q.moves[key]}, p.Queue())
}

func (q *queues) push(e entry, name visit.Queue) {
	h := q.heaps[name]
	if h == nil {
		h = &heap{}
		q.heaps[name] = h
		q.of[name.Pool] = append(q.of[name.Pool], name)
	}
	h.push(e)
}

// take an origin away.
func (q *queues) drop(key int) { q.moves[key]++ }

// Of implements visit.Queues.
func (q *queues) Of(p visit.Pool) []visit.Queue { return q.of[p] }

// Next implements visit.Queues. The other end of a heap is not at hand, so back is
// served by a scan; only rules with a mix ask for it.
func (q *queues) Next(name visit.Queue, back bool) (visit.Candidate, bool) {
	h := q.heaps[name]
	for h != nil && len(*h) > 0 {
		var e entry
		if back {
			e = h.last()
		} else {
			e = h.pop()
		}
		if q.moves[e.key] == e.move {
			q.taken = append(q.taken, e)
			return visit.Candidate{Key: int64(e.key), Place: q.places[e.key]}, true
		}
	}
	return visit.Candidate{}, false
}

// Quality implements visit.Queues.
func (q *queues) Quality(int32) visit.Quality { return q.quality }

// settle puts back what a pick looked at and did not take.
func (q *queues) settle(picked []visit.Candidate) {
	for _, c := range picked {
		q.drop(int(c.Key))
	}
	for _, e := range q.taken {
		if q.moves[e.key] == e.move {
			q.push(e, q.places[e.key].Queue())
		}
	}
	q.taken = q.taken[:0]
}

// heap is a binary heap by ref, then key.
type heap []entry

func (a entry) before(b entry) bool { return a.ref < b.ref || a.ref == b.ref && a.key < b.key }

func (h *heap) push(e entry) {
	*h = append(*h, e)
	s := *h
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if !s[i].before(s[up]) {
			return
		}
		s[i], s[up] = s[up], s[i]
		i = up
	}
}

func (h *heap) pop() entry { return h.remove(0) }

// last takes the entry that comes last.
func (h *heap) last() entry {
	at := 0
	for i := range *h {
		if (*h)[at].before((*h)[i]) {
			at = i
		}
	}
	return h.remove(at)
}

// remove takes the entry at i. An entry that is last, or first, keeps the order.
func (h *heap) remove(i int) entry {
	s := *h
	e := s[i]
	s[i] = s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	for up := (i - 1) / 2; i > 0 && i < len(s) && s[i].before(s[up]); i, up = up, (up-1)/2 {
		s[i], s[up] = s[up], s[i]
	}
	for {
		down := 2*i + 1
		if down >= len(s) {
			return e
		}
		if down+1 < len(s) && s[down+1].before(s[down]) {
			down++
		}
		if !s[down].before(s[i]) {
			return e
		}
		s[i], s[down] = s[down], s[i]
		i = down
	}
}
