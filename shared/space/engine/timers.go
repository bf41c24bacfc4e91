package engine

import (
	"container/heap"
	"time"
)

// timers is one heap of all deadlines. Each entry and each session has at most one
// timer, whose id is the entry's ref or the session's number. If several are due at
// the same time, the smaller id fires first, so that the order is a function of the
// state and survives undoing and restarts.
type timers struct {
	heap timerHeap
	byID map[int64]*timer
	wake chan struct{} // signalled when the first timer is earlier than before
}

type timer struct {
	at      time.Duration
	id      int64
	entry   *entry   // nil for a session's timer
	session *session // its deadline may be later than at, because signs of life do not move timers
	index   int      // in the heap
}

func newTimers(wake chan struct{}) timers {
	return timers{byID: map[int64]*timer{}, wake: wake}
}

func (t *timers) setEntry(at time.Duration, e *entry) { t.set(&timer{at: at, id: e.Ref, entry: e}) }
func (t *timers) setSession(at time.Duration, s *session) {
	t.set(&timer{at: at, id: s.number, session: s})
}

// set adds x, and replaces the timer that has its id, if there is one.
func (t *timers) set(x *timer) {
	t.unset(x.id)
	t.byID[x.id] = x
	heap.Push(&t.heap, x)
	if x.index == 0 {
		signal(t.wake)
	}
}

// unset removes the timer of that id, if there is one.
func (t *timers) unset(id int64) {
	if x := t.byID[id]; x != nil {
		heap.Remove(&t.heap, x.index)
		delete(t.byID, id)
	}
}

// due removes and returns a timer that is due at now, and reports whether there is
// one.
func (t *timers) due(now time.Duration) (*timer, bool) {
	if len(t.heap) == 0 || t.heap[0].at > now {
		return nil, false
	}
	x := t.heap[0]
	t.unset(x.id)
	return x, true
}

// next returns when the first timer is due, and whether there is one.
func (t *timers) next() (time.Duration, bool) {
	if len(t.heap) == 0 {
		return 0, false
	}
	return t.heap[0].at, true
}

type timerHeap []*timer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].id < h[j].id
}
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *timerHeap) Push(x any) {
	t := x.(*timer)
	t.index = len(*h)
	*h = append(*h, t)
}
func (h *timerHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return t
}
