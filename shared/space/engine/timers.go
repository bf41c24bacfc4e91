package engine

import (
	"container/heap"
	"time"
)

// timers is one heap of everything that is due at some time. An item for an
// entry counts only while that very entry stands: replaced entries leave stale
// items behind, and the heap is rebuilt when these are the majority.
type timers struct {
	items   timerHeap
	stale   int
	count   uint64
	current func(*entry) bool
	wake    chan struct{} // told when an earlier item comes first
}

type timer struct {
	at      time.Duration
	nth     uint64   // of equal times, the one that was set first fires first
	entry   *entry   // or
	session *session // whose own deadline counts, at is when to look
}

func newTimers(current func(*entry) bool) timers {
	return timers{current: current, wake: make(chan struct{}, 1)}
}

func (t *timers) add(at time.Duration, e *entry)          { t.push(timer{at: at, entry: e}) }
func (t *timers) addSession(at time.Duration, s *session) { t.push(timer{at: at, session: s}) }

func (t *timers) push(item timer) {
	t.count++
	item.nth = t.count
	heap.Push(&t.items, item)
	if t.items[0] == item {
		select {
		case t.wake <- struct{}{}:
		default:
		}
	}
}

// forget notes that e's item, if it has one, has become stale.
func (t *timers) forget(e *entry) {
	if dueAt(e) == 0 {
		return
	}
	t.stale++
	if t.stale < 64 || t.stale < len(t.items)/2 {
		return
	}
	live := t.items[:0]
	for _, item := range t.items {
		if item.session != nil || item.entry != e && t.current(item.entry) {
			live = append(live, item)
		}
	}
	clear(t.items[len(live):])
	t.items, t.stale = live, 0
	heap.Init(&t.items)
}

// due removes and returns an item that is due at now.
func (t *timers) due(now time.Duration) (timer, bool) {
	for len(t.items) > 0 && t.items[0].at <= now {
		item := heap.Pop(&t.items).(timer)
		if item.session != nil || t.current(item.entry) {
			return item, true
		}
		t.stale = max(0, t.stale-1)
	}
	return timer{}, false
}

// next returns when the first item is due.
func (t *timers) next() (time.Duration, bool) {
	if len(t.items) == 0 {
		return 0, false
	}
	return t.items[0].at, true
}

type timerHeap []timer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].nth < h[j].nth
}
func (h timerHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *timerHeap) Push(x any)   { *h = append(*h, x.(timer)) }
func (h *timerHeap) Pop() any {
	last := len(*h) - 1
	item := (*h)[last]
	(*h)[last] = timer{}
	*h = (*h)[:last]
	return item
}
