package simulate

import (
	"leasehold/shared/protocol/visit/policy"
)

// queues keeps the eligible origins in one heap for each queue, and the resting ones
// by the tick at which their rest ends. An entry is valid only while its
// move is the origin's number of moves; others are discarded when they are read, because
// removing them at once would need a search.
type queues struct {
	heaps   map[uint64]*entryHeap // by packed queue
	byPool  map[policy.Pool][]policy.Queue
	moves   []uint32 // by key: how often the origin was placed or removed
	resting map[int64][]queued
	spare   [][]queued // of earlier ticks, to use again
	read    []queued   // by the present pick
	quality func(lister int32) policy.Quality
}

type entry struct {
	ref  int64
	key  int32
	move uint32
}

// queued is an entry with its queue.
type queued struct {
	entry
	queue policy.Queue
}

// newQueues returns the empty queues of n origins; quality returns the quality of a lister, for
// Queues.Quality.
func newQueues(n int, quality func(int32) policy.Quality) *queues {
	return &queues{
		heaps: map[uint64]*entryHeap{}, byPool: map[policy.Pool][]policy.Queue{},
		moves: make([]uint32, n), resting: map[int64][]queued{}, quality: quality,
	}
}

// packed returns a queue as one number, because maps of numbers are faster.
func packed(q policy.Queue) uint64 {
	return uint64(q.Pool)<<48 | uint64(uint32(q.Lister))<<16 | uint64(q.Class)
}

// place moves an origin to a queue.
func (q *queues) place(key int, p policy.Place) { q.push(q.moved(key, p)) }

// rest takes an origin out of its queue, and has it wait at a place from a tick on (endRests). It
// uses the list of an earlier tick again, so that a run does not allocate one for each tick.
func (q *queues) rest(key int, p policy.Place, tick int64) {
	list, ok := q.resting[tick]
	if last := len(q.spare) - 1; !ok && last >= 0 {
		list, q.spare = q.spare[last], q.spare[:last]
	}
	q.resting[tick] = append(list, q.moved(key, p))
}

// endRests places the origins whose rest ends at a tick. One that was placed again since then has
// another move and stays where it is.
func (q *queues) endRests(tick int64) {
	list, ok := q.resting[tick]
	if !ok {
		return
	}
	for _, e := range list {
		if q.moves[e.key] == e.move {
			q.push(e)
		}
	}
	delete(q.resting, tick)
	q.spare = append(q.spare, list[:0])
}

// moved returns a new entry of an origin, which makes its earlier ones invalid.
func (q *queues) moved(key int, p policy.Place) queued {
	q.moves[key]++
	return queued{entry{p.Ref, int32(key), q.moves[key]}, p.Queue()}
}

// push adds an entry to the heap of its queue, which it creates if it is the first.
func (q *queues) push(e queued) {
	h := q.heaps[packed(e.queue)]
	if h == nil {
		h = &entryHeap{}
		q.heaps[packed(e.queue)] = h
		q.byPool[e.queue.Pool] = append(q.byPool[e.queue.Pool], e.queue)
	}
	h.push(e.entry)
}

// remove makes an origin's entry invalid.
func (q *queues) remove(key int) { q.moves[key]++ }

// Of implements visit.Queues: every queue of the pool, also an empty one.
func (q *queues) Of(p policy.Pool) []policy.Queue { return q.byPool[p] }

// Next implements policy.Queues: it removes the first valid entry of a heap and remembers it in
// q.read, from which finishPick restores those that were not taken. With back it scans the whole
// heap; only the policy "seed" with a mix above 0 asks for that.
func (q *queues) Next(name policy.Queue, back bool) (policy.Candidate, bool) {
	h := q.heaps[packed(name)]
	for h != nil && len(*h) > 0 {
		var e entry
		if back {
			e = h.popLast()
		} else {
			e = h.pop()
		}
		if q.moves[e.key] == e.move {
			q.read = append(q.read, queued{e, name})
			return policy.Candidate{Key: int64(e.key), Place: policy.Place{Pool: name.Pool, Lister: name.Lister, Class: name.Class, Ref: e.ref}}, true
		}
	}
	return policy.Candidate{}, false
}

// Quality implements policy.Queues.
func (q *queues) Quality(lister int32) policy.Quality { return q.quality(lister) }

// finishPick removes the origins that a pick took, and puts the others that it read
// back into their heaps.
func (q *queues) finishPick(picked []policy.Candidate) {
	for _, c := range picked {
		q.remove(int(c.Key))
	}
	for _, e := range q.read {
		if q.moves[e.key] == e.move {
			q.push(e)
		}
	}
	q.read = q.read[:0]
}

// entryHeap is a binary heap by ref, then key.
type entryHeap []entry

func (a entry) before(b entry) bool { return a.ref < b.ref || a.ref == b.ref && a.key < b.key }

// push adds an entry to the heap, at the end, and moves it up until its parent precedes it.
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

// popLast removes and returns the last entry of the order.
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
