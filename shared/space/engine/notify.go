package engine

import (
	"context"
	"fmt"
	"slices"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

const (
	maxEvents        = 4096     // that wait for one subscriber; then all of them are dropped and counted
	maxEventBytes    = 16 << 20 // of their tuples, likewise
	maxSubscriptions = 256      // of one session
)

// subscriber is one subscription to the changes of a space.
type subscriber struct {
	id       int64
	session  *session
	space    string
	template tuple.Template // nil: everything
	events   []space.Event
	bytes    int // of their tuples
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
		return space.Reply{}, fmt.Errorf("space %q: %w", r.Space, fault.ErrNotFound)
	}
	if len(s.subs) == maxSubscriptions {
		return space.Reply{}, fmt.Errorf("session %s has %d subscriptions: %w", s.id, maxSubscriptions, fault.ErrOverloaded)
	}
	sub := &subscriber{id: e.nextPlace(), session: s, space: r.Space, template: r.Template.Clone(), ready: make(chan struct{}, 1)}
	s.subs[sub.id] = sub
	room.subscribers[sub.id] = sub
	return space.Reply{Subscription: sub.id}, nil
}

func (e *Engine) unsubscribe(sub *subscriber) {
	delete(sub.session.subs, sub.id)
	if r := e.rooms[sub.space]; r != nil {
		delete(r.subscribers, sub.id)
	}
	close(sub.ready)
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
		sub, a, err := s.events(id)
		if err != nil {
			return space.Reply{}, err
		}
		if !a.reply.Found {
			if err := s.await(ctx, sub.ready); err != nil {
				return space.Reply{}, err
			}
			continue
		}
		reply, err := s.e.released(context.WithoutCancel(ctx), a)
		if a.void() == nil {
			return reply, err
		}
		s.e.mu.Lock()
		sub.missed += len(a.reply.Events) + a.reply.Missed
		s.e.mu.Unlock()
	}
}

// events takes what a subscription has to tell, as much as fits a reply.
func (s *session) events(id int64) (*subscriber, answer, error) {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	if err := s.e.usable(s); err != nil {
		return nil, answer{}, err
	}
	sub := s.subs[id]
	if sub == nil {
		return nil, answer{}, fmt.Errorf("subscription %d: %w", id, fault.ErrClosed)
	}
	reply := space.Reply{Missed: sub.missed}
	size, n := 0, 0
	for n < len(sub.events) {
		ev := &sub.events[n]
		bytes := ev.Tuple.Size()
		size += bytes + len(ev.Space) + len(ev.Procedure) + space.ReplyOverhead
		if size > space.MaxReply {
			break
		}
		sub.bytes -= bytes
		ev.Tuple = ev.Tuple.Clone()
		n++
	}
	reply.Events, sub.events, sub.missed = slices.Clip(sub.events[:n]), sub.events[n:], 0
	if n > 0 && len(sub.events) == 0 {
		sub.events = nil
	} else if n > 0 {
		signal(sub.ready)
	}
	reply.Found = n > 0 || reply.Missed > 0
	return sub, s.e.answer(reply, nil), nil
}

// drop forgets the events that wait, and says that some were missed.
func (sub *subscriber) drop() {
	sub.events, sub.bytes, sub.missed = nil, 0, sub.missed+len(sub.events)+1
	signal(sub.ready)
}

// publish tells a room's subscribers of a step.
func (r *room) publish(st step) {
	t := st.tuple()
	for _, sub := range r.subscribers {
		if sub.template != nil && !sub.template.Matches(t) {
			continue
		}
		if sub.bytes += t.Size(); len(sub.events) == maxEvents || sub.bytes > maxEventBytes {
			sub.missed += len(sub.events)
			sub.events, sub.bytes = nil, t.Size()
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
