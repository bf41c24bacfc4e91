package engine

import (
	"math"
	"time"
)

// timers are all deadlines in order. Each entry and each session has at most one timer,
// whose id is the entry's ref or the session's number. If several are due at the same
// time, the smaller id fires first, so that the order is a function of the state and
// survives undoing and restarts.
type timers struct {
	queue *order[*timer]
	byID  map[int64]*timer
	wake  chan struct{} // signalled when the first timer is due before until
	until time.Duration // when Run looks at the timers again at the latest
}

type timer struct {
	at      time.Duration
	id      int64
	entry   *entry   // nil for a session's timer
	session *session // its deadline may be later than at, because signs of life do not move timers
}

func newTimers(wake chan struct{}) timers {
	queue := newOrder(func(x *timer) key { return key{Major: int64(x.at), Minor: x.id} })
	return timers{queue: queue, byID: map[int64]*timer{}, wake: wake, until: math.MaxInt64} // until Run has looked
}

func (t *timers) setEntry(at time.Duration, e *entry) { t.set(&timer{at: at, id: e.Ref, entry: e}) }
func (t *timers) setSession(at time.Duration, s *session) {
	t.set(&timer{at: at, id: s.number, session: s})
}

// set adds x, and replaces the timer that has its id, if there is one. It wakes Run if x is due
// before Run looks at the timers again.
func (t *timers) set(x *timer) {
	t.unset(x.id)
	t.byID[x.id] = x
	t.queue.insert(x)
	if first, _ := t.queue.first(); first == x && x.at < t.until {
		signal(t.wake)
	}
}

// unset removes the timer of that id, if there is one: of an entry that changes or goes, or of a
// session that ends.
func (t *timers) unset(id int64) {
	if x := t.byID[id]; x != nil {
		t.queue.remove(x)
		delete(t.byID, id)
	}
}

// takeDue removes and returns a timer due at now, the earliest first, and reports whether there is one. A timer fires
// once; its user sets another one if needed.
func (t *timers) takeDue(now time.Duration) (*timer, bool) {
	x, ok := t.queue.first()
	if !ok || x.at > now {
		return nil, false
	}
	t.unset(x.id)
	return x, true
}

// next returns when the first timer is due, in engine time, and whether there is one.
func (t *timers) next() (time.Duration, bool) {
	x, ok := t.queue.first()
	if !ok {
		return 0, false
	}
	return x.at, true
}
