package visit

import "container/heap"

// A Candidate is an origin that is eligible, and where it waits.
type Candidate struct {
	Key   int64
	Host  string // of politeness; empty: none
	Place Place
	Value float64 // its worth when it was picked

	// Refill says that its slot was left by pools that had nobody for it.
	Refill bool
}

// A Queue is the part of a Place that names a queue.
type Queue struct {
	Pool   Pool
	Lister int32
	Class  uint8
}

// Queue returns the queue of a place.
func (p Place) Queue() Queue { return Queue{p.Pool, p.Lister, p.Class} }

// Queues are the eligible origins, however they are kept.
type Queues interface {
	// Of lists the queues of a pool that may hold something, in a stable order.
	Of(Pool) []Queue
	// Next takes the first candidate that was not taken before, or the last one
	// with back. false says that there is none, or none that can be read.
	Next(q Queue, back bool) (Candidate, bool)
	// Quality of a lister's dates.
	Quality(lister int32) Quality
}

// Pick chooses at most n origins by a policy. accept may refuse a candidate, for
// its host's sake; it is not asked again. The cost grows with n and the number of
// queues, not with the number of origins.
func Pick(p Policy, q Queues, now int64, n int, c Counts, accept func(Candidate) bool) []Candidate {
	k := picker{policy: p, queues: q, now: now, accept: accept}
	for len(k.picked) < n {
		before := len(k.picked)
		left := n - before
		shares, refill := p.Shares(left, c)
		k.refill = before > 0
		for _, s := range shares {
			k.take(s, min(s.N, n-len(k.picked)))
		}
		k.refill = true
		for _, s := range refill {
			k.take(s, n-len(k.picked))
		}
		if len(k.picked) == before {
			break
		}
	}
	return k.picked
}

type picker struct {
	policy Policy
	queues Queues
	now    int64
	accept func(Candidate) bool
	picked []Candidate
	refill bool                     // what is taken now is for slots that were left
	spare  map[Queue][2][]Candidate // heads that were looked at and not taken, by end
}

// take merges the queues of a share, at most n of them.
func (k *picker) take(s Share, n int) {
	if n <= 0 {
		return
	}
	var heads merge
	for _, pool := range s.Pools {
		for _, q := range k.queues.Of(pool) {
			if c, ok := k.next(q, s.Back); ok {
				heads = append(heads, c)
			}
		}
	}
	heap.Init(&heads)
	for n > 0 && len(heads) > 0 {
		c := heads[0]
		if k.accept == nil || k.accept(c) {
			c.Refill = k.refill
			k.picked = append(k.picked, c)
			n--
		}
		if next, ok := k.next(c.Place.Queue(), s.Back); ok {
			heads[0] = next
			heap.Fix(&heads, 0)
		} else {
			heap.Pop(&heads)
		}
	}
	for _, c := range heads {
		k.giveBack(c, s.Back)
	}
}

// next is the head of a queue, with its value.
func (k *picker) next(q Queue, back bool) (Candidate, bool) {
	end := 0
	if back {
		end = 1
	}
	if kept := k.spare[q]; len(kept[end]) > 0 {
		c := kept[end][len(kept[end])-1]
		kept[end] = kept[end][:len(kept[end])-1]
		k.spare[q] = kept
		return c, true
	}
	c, ok := k.queues.Next(q, back)
	if ok {
		c.Value = k.policy.Worth(c.Place, k.queues.Quality(c.Place.Lister), k.now)
		return c, true
	}
	// What was put back at one end may be wanted from the other.
	if kept := k.spare[q]; len(kept[1-end]) > 0 {
		c = kept[1-end][0]
		kept[1-end] = kept[1-end][1:]
		k.spare[q] = kept
		return c, true
	}
	return Candidate{}, false
}

func (k *picker) giveBack(c Candidate, back bool) {
	if k.spare == nil {
		k.spare = map[Queue][2][]Candidate{}
	}
	kept := k.spare[c.Place.Queue()]
	end := 0
	if back {
		end = 1
	}
	kept[end] = append(kept[end], c)
	k.spare[c.Place.Queue()] = kept
}

// merge is a heap of heads, the most valuable first; ties go to the smaller key.
type merge []Candidate

func (m merge) Len() int { return len(m) }
func (m merge) Less(i, j int) bool {
	if m[i].Value != m[j].Value {
		return m[i].Value > m[j].Value
	}
	return m[i].Key < m[j].Key
}
func (m merge) Swap(i, j int) { m[i], m[j] = m[j], m[i] }
func (m *merge) Push(x any)   { *m = append(*m, x.(Candidate)) }
func (m *merge) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}
