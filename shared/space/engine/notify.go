package engine

import (
	"context"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

const (
	maxEvents        = 4096 // that wait for one subscriber; then all of them are dropped and counted
	maxSubscriptions = 256  // of one session
)

// subscriber is one subscription to the changes of a space.
type subscriber struct {
	id       int64
	session  *session
	space    string
	template tuple.Template // nil: everything
	events   []space.Event
	missed   int
	ready    chan struct{}
}

func (s *session) notify(r space.Request) (space.Reply, error) {
	e := s.e
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.usable(s); err != nil {
		return space.Reply{}, err
	}
	room := e.rooms[r.Space]
	if room == nil {
		return space.Reply{}, fmt.Errorf("notify: space %q: %w", r.Space, fault.ErrNotFound)
	}
	if len(s.subs) == maxSubscriptions {
		return space.Reply{}, fmt.Errorf("notify: session %s has %d subscriptions: %w", s.id, maxSubscriptions, fault.ErrOverloaded)
	}
	sub := &subscriber{id: e.nextPlace(), session: s, space: r.Space, template: r.Template, ready: make(chan struct{}, 1)}
	s.subs[sub.id] = sub
	room.subscribers[sub.id] = sub
	return space.Reply{Subscription: sub.id}, nil
}

func (e *Engine) unsubscribe(sub *subscriber) {
	delete(sub.session.subs, sub.id)
	if r := e.rooms[sub.space]; r != nil {
		delete(r.subscribers, sub.id)
	}
}

func (s *session) unnotify(id int64) (space.Reply, error) {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	if sub := s.subs[id]; sub != nil {
		s.e.unsubscribe(sub)
	}
	return space.Reply{}, nil
}

// next waits for the events of a subscription.
func (s *session) next(ctx context.Context, id int64) (space.Reply, error) {
	for {
		s.e.mu.Lock()
		sub := s.subs[id]
		if sub == nil {
			s.e.mu.Unlock()
			return space.Reply{}, fmt.Errorf("subscription %d: %w", id, fault.ErrClosed)
		}
		if len(sub.events) > 0 || sub.missed > 0 {
			reply := space.Reply{Found: true, Events: sub.events, Missed: sub.missed}
			sub.events, sub.missed = nil, 0
			a := s.e.answer(reply, nil)
			s.e.mu.Unlock()
			return s.e.released(ctx, a)
		}
		s.e.mu.Unlock()
		if err := s.await(ctx, sub.ready); err != nil {
			return space.Reply{}, err
		}
	}
}

// publish tells a room's subscribers of a step.
func (r *room) publish(st step) {
	t := st.tuple()
	for _, sub := range r.subscribers {
		if sub.template != nil && !sub.template.Matches(t) {
			continue
		}
		if len(sub.events) == maxEvents {
			sub.missed += len(sub.events)
			sub.events = nil
		}
		sub.events = append(sub.events, space.Event{Change: st.change, Space: r.def.Name, Procedure: st.procedure, Tuple: t})
		signal(sub.ready)
	}
}

// tuple is the one that a step is about.
func (st step) tuple() tuple.Tuple {
	if st.new != nil {
		return st.new.Tuple
	}
	return st.old.Tuple
}
