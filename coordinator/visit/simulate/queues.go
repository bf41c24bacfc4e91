package simulate

import (
	"leasehold/coordinator/visit"
)

// queues keeps the eligible origins in one heap for each queue, and the resting ones
// by the tick at which their rest ends. An entry of a heap is valid only while its
// move is the origin's number of moves; Next discards the others, because removing
// them at once would need a search.
type queues struct {
	heaps   map[uint64]*entryHeap // by packed queue
	byPool  map[visit.Pool][]visit.Queue
	places  []visit.Place // by key
	moves   []uint32      // by key: how often the origin was placed or removed
	resting map[int64][]int32
	read    []entry // by the present pick
	quality func(lister int32) visit.Quality
}

type entry struct {
	ref  int64
	key  int32
	move uint32
}

func newQueues(n int, quality func(int32) visit.Quality) *queues {
	return &queues{
		heaps: map[uint64]*entryHeap{}, byPool: map[visit.Pool][]visit.Queue{}, places: make([]visit.Place, n),
		moves: make([]uint32, n), resting: map[int64][]int32{}, quality: quality,
	}
}

// packed returns a queue as one number, because maps of numbers are faster.
func packed(q visit.Queue) uint64 {
	return uint64(q.Pool)<<40 | uint64(uint32(q.Lister))<<8 | uint64(q.Class)
}

// place moves an origin to a queue.
func (q *queues) place(key int, p visit.Place) {
	q.moves[key]++
	q.places[key] = p
	q.push(entry{p.Ref, int32(key), q.moves[key]}, p.Queue())
}

func (q *queues) push(e entry, name visit.Queue) {
	h := q.heaps[packed(name)]
	if h == nil {
		h = &entryHeap{}
		q.heaps[packed(name)] = h
		q.byPool[name.Pool] = append(q.byPool[name.Pool], name)
	}
	h.push(e)
}

// remove makes an origin's entry invalid.
func (q *queues) remove(key int) { q.moves[key]++ }

// Of implements visit.Queues.
func (q *queues) Of(p visit.Pool) []visit.Queue { return q.byPool[p] }

// Next implements visit.Queues. With back it scans the whole heap; only the policy
// "seed" with a mix above 0 asks for that.
func (q *queues) Next(name visit.Queue, back bool) (visit.Candidate, bool) {
	h := q.heaps[packed(name)]
	for h != nil && len(*h) > 0 {
		var e entry
		if back {
			e = h.popLast()
		} else {
			e = h.pop()
		}
		if q.moves[e.key] == e.move {
			q.read = append(q.read, e)
			return visit.Candidate{Key: int64(e.key), Place: q.places[e.key]}, true
		}
	}
	return visit.Candidate{}, false
}

// Quality implements visit.Queues.
func (q *queues) Quality(lister int32) visit.Quality { return q.quality(lister) }

// finishPick removes the origins that a pick took, and puts the others that it read
// back into their heaps.
func (q *queues) finishPick(picked []visit.Candidate) {
	for _, c := range picked {
		q.remove(int(c.Key))
	}
	for _, e := range q.read {
		if q.moves[e.key] == e.move {
			q.push(e, q.places[e.key].Queue())
		}
	}
	q.read = q.read[:0]
}

// entryHeap is a binary heap by ref, then key.
type entryHeap []entry

func (a entry) before(b entry) bool { return a.ref < b.ref || a.ref == b.ref && a.key < b.key }

func (h *entryHeap) push(e entry) {
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

func (h *entryHeap) pop() entry { return h.remove(0) }

// popLast removes and returns the entry that is last in the order.
func (h *entryHeap) popLast() entry {
	at := 0
	for i := range *h {
		if (*h)[at].before((*h)[i]) {
			at = i
		}
	}
	return h.remove(at)
}

// remove removes and returns the entry at i: the last entry of the slice replaces it
// and moves up or down until the heap is in order again.
func (h *entryHeap) remove(i int) entry {
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
