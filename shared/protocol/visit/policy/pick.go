package policy

// A Candidate is an eligible origin and its place.
type Candidate struct {
	Key   int64
	Host  string // whose limits apply; empty: none
	Place Place
	Value float64 // Policy.Worth when it was picked

	// Refill is true if it got a slot that the pools of a share left over, Late if it got one because it was late.
	Refill, Late bool
}

// A Queue identifies a queue: the fields of a Place without its Ref.
type Queue struct {
	Pool   Pool
	Lister int32
	Class  uint16
}

// Queue returns the queue of a place.
func (p Place) Queue() Queue { return Queue{p.Pool, p.Lister, p.Class} }

// Queues gives Pick access to the eligible origins. The store and the simulator
// implement it.
type Queues interface {
	// Of returns the queues of a pool that may have candidates, in a stable order.
	Of(Pool) []Queue
	// Next returns the first candidate of a queue that this pick did not get yet, or
	// with back the last. It returns false if there is none, or reading failed.
	Next(q Queue, back bool) (Candidate, bool)
	// Quality returns the quality of a lister's dates.
	Quality(lister int32) Quality
}

// Pick chooses at most n origins by a policy. It fills the shares, then the refill, and asks the
// policy again while slots are left and the last round took some. accept (nil: always true) may
// refuse a candidate, because its host is busy; Pick asks once for each. The cost grows with n
// and the number of queues, not with the number of origins.
func Pick(p Policy, q Queues, now int64, n int, c Counts, accept func(Candidate) bool) []Candidate {
	k := picker{policy: p, queues: q, now: now, accept: accept, returned: [2]map[Queue]Candidate{{}, {}}, byPool: map[Pool]int{}}
	for len(k.picked) < n {
		before := len(k.picked)
		c.Picked = k.byPool
		shares, refill := p.Shares(n-before, c)
		k.refill = before > 0 // a later round gives out what the first one left over
		for _, s := range shares {
			k.takeBest(s, min(s.N, n-len(k.picked)))
		}
		k.refill = true
		for _, s := range refill {
			most := n - len(k.picked)
			if s.Late {
				most = min(most, s.N)
			}
			k.takeBest(s, most)
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
	byPool map[Pool]int // of picked
	refill bool         // the slots that are filled now were left over

	// returned are candidates that a share read and did not take, by the end of their
	// queue: 0 the front, 1 the back. A queue has at most one for each end, because the
	// next share reads it before Queues.Next.
	returned [2]map[Queue]Candidate
}

// takeBest merges the queues of a share and takes at most n candidates, and no more than
// Share.Most of its pools in the whole batch. Candidates that it read and did not take are
// returned to their queues. Those of a share with Late are ordered by Lateness.
func (k *picker) takeBest(s Share, n int) {
	if s.Most > 0 {
		left := s.Most
		for _, pool := range s.Pools {
			left -= k.byPool[pool]
		}
		n = min(n, left)
	}
	if n <= 0 {
		return
	}
	end := 0
	if s.Back {
		end = 1
	}
	var heads candidateHeap
	for _, pool := range s.Pools {
		for _, q := range k.queues.Of(pool) {
			if c, ok := k.takeNext(q, end, s.Late); ok {
				heads = append(heads, c)
			}
		}
	}
	heads.init()
	for n > 0 && len(heads) > 0 {
		c := heads[0]
		if s.Late && c.Value < 1 {
			break
		}
		if k.accept == nil || k.accept(c) {
			c.Refill = k.refill
			if s.Late {
				c.Value = k.worth(c)
			}
			k.picked = append(k.picked, c)
			k.byPool[c.Place.Pool]++
			n--
		}
		if next, ok := k.takeAfter(heads[0], end); ok {
			heads[0] = next
		} else {
			heads[0] = heads[len(heads)-1]
			heads = heads[:len(heads)-1]
		}
		heads.down(0)
	}
	for _, c := range heads {
		k.returned[end][c.Place.Queue()] = c
	}
}

// takeNext removes and returns the candidate at one end of a queue, with its value; false: the queue
// has no more. A candidate returned from the same end comes first, then those that were not read
// before, then the one returned at the other end. end is 0 for the front, 1 for the back. If late is
// true, the value is the lateness.
func (k *picker) takeNext(q Queue, end int, late bool) (Candidate, bool) {
	c, ok := k.returned[end][q]
	if ok {
		delete(k.returned[end], q)
		if c.Late == late {
			return c, true
		}
	} else {
		c, ok = k.queues.Next(q, end == 1)
	}
	if !ok {
		c, ok = k.takeFromOtherEnd(q, end)
	}
	if !ok {
		return c, false
	}
	c.Late = late
	c.Value = k.valueOf(c)
	return c, true
}

// valueOf returns by what a candidate is ordered: by its lateness in a share with Late.
func (k *picker) valueOf(c Candidate) float64 {
	if c.Late {
		return k.policy.(lateVisits).Lateness(c.Place, k.now)
	}
	return k.worth(c)
}

func (k *picker) worth(c Candidate) float64 {
	return k.policy.Worth(c.Place, k.queues.Quality(c.Place.Lister), k.now)
}

// takeAfter returns the candidate that follows one that was just taken or refused, and whether there
// is one, as takeNext does. None was returned from that end since, because takeBest is still merging.
// Many origins have the place of the one before them, because one pick had both visited; their
// value is the same and is not computed again.
func (k *picker) takeAfter(before Candidate, end int) (Candidate, bool) {
	c, ok := k.queues.Next(before.Place.Queue(), end == 1)
	if !ok {
		c, ok = k.takeFromOtherEnd(before.Place.Queue(), end)
	}
	if !ok {
		return c, false
	}
	c.Late = before.Late
	if c.Place == before.Place {
		c.Value = before.Value
	} else {
		c.Value = k.valueOf(c)
	}
	return c, true
}

// takeFromOtherEnd removes and returns the candidate that was returned at the other end of a
// queue; false: there is none.
func (k *picker) takeFromOtherEnd(q Queue, end int) (Candidate, bool) {
	c, ok := k.returned[1-end][q]
	delete(k.returned[1-end], q)
	return c, ok
}

// candidateHeap is a binary heap by value, the largest first; the smaller key wins ties. It
// is not one of container/heap, because calls through an interface took longer than all else
// in large picks.
type candidateHeap []Candidate

func (c *Candidate) precedes(o *Candidate) bool {
	return c.Value > o.Value || c.Value == o.Value && c.Key < o.Key
}

// init puts the candidates in order: from the last parent to the root, so that below each the
// heap is in order already.
func (h candidateHeap) init() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

// down moves the candidate at i down until both of its children come after it. An index beyond
// the heap, such as 0 of an empty one, does nothing. All but the candidate at i must be in order
// already.
func (h candidateHeap) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1].precedes(&h[child]) {
			child++
		}
		if !h[child].precedes(&h[i]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
