package engine

import (
	"context"
	"fmt"
	"slices"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/memory"
	"leasehold/shared/tuple"
)

const (
	maxEvents        = 4096     // that wait for one subscriber; then all of them are dropped and counted
	maxEventBytes    = 16 << 20 // of their tuples, likewise
	maxSubscriptions = 256      // of one session
)

// subscriber is one subscription to the changes of a space. state.mu guards its
// fields.
type subscriber struct {
	id       int64
	session  *session
	space    string
	template tuple.Template // nil: all tuples
	events   []space.Event
	bytes    int   // of their tuples
	memory   int64 // estimate for the subscription and its events
	missed   int
	ready    chan struct{} // signalled when there are events or missed ones; closed at the end
}

// subscribe makes a subscription to a space. It is not journalled: it ends with the process.
func (s *session) subscribe(r space.Request) (space.Reply, error) {
	st := &s.e.state
	st.mu.Lock()
	defer st.mu.Unlock()
	if err := s.e.checkUsable(s); err != nil {
		return space.Reply{}, err
	}
	in, err := st.space(r.Space)
	if err != nil {
		return space.Reply{}, err
	}
	if len(s.subscriptions) == maxSubscriptions {
		return space.Reply{}, fmt.Errorf("session %s has %d subscriptions: %w", s.id, maxSubscriptions, fault.ErrOverloaded)
	}
	cost := subscriptionCost + tupleCost(tuple.Tuple(r.Template))
	if err := st.memory.Reserve(cost, s.class()); err != nil {
		return space.Reply{}, err
	}
	sub := &subscriber{id: st.nextNumber(), session: s, space: r.Space, template: r.Template.Clone(), memory: cost, ready: make(chan struct{}, 1)}
	s.subscriptions[sub.id] = sub
	in.subscribers[sub.id] = sub
	return space.Reply{Subscription: sub.id}, nil
}

// unsubscribe ends a subscription; it does nothing if that has ended. It never fails.
func (s *session) unsubscribe(id int64) (space.Reply, error) {
	s.e.state.mu.Lock()
	defer s.e.state.mu.Unlock()
	if sub := s.subscriptions[id]; sub != nil {
		s.e.state.endSubscription(sub)
	}
	return space.Reply{}, nil
}

// endSubscription removes a subscription everywhere. It closes ready, so that nextEvents, which
// may wait, finds that the subscription has ended. It must be called once for each.
func (st *state) endSubscription(sub *subscriber) {
	delete(sub.session.subscriptions, sub.id)
	if in := st.spaces[sub.space]; in != nil {
		delete(in.subscribers, sub.id)
	}
	sub.forgetEvents()
	st.memory.Add(-sub.memory)
	close(sub.ready)
}

// eventMemory estimates the memory of an event with that tuple.
func eventMemory(t tuple.Tuple) int64 { return eventCost + tupleCost(t) }

// addMemory counts n bytes more, or less if n is negative, for the events that wait.
func (sub *subscriber) addMemory(n int64) {
	st := &sub.session.e.state
	sub.memory += n
	st.events += n
	st.memory.Add(n)
}

// subscribers returns all subscriptions, in no order. The caller holds state.mu.
func (st *state) subscribers() []*subscriber {
	var all []*subscriber
	for _, s := range st.sessions {
		for _, sub := range s.subscriptions {
			all = append(all, sub)
		}
	}
	return all
}

// nextEvents waits for the events of a subscription, or until events were missed. Events whose transactions never
// became durable count as missed. They were taken from the subscription, so the end of ctx does not end the wait
// until they are durable.
func (s *session) nextEvents(ctx context.Context, id int64) (space.Reply, error) {
	for {
		sub, a, err := s.takeEvents(id)
		if err != nil {
			return space.Reply{}, err
		}
		if !a.reply.Found {
			if err := s.await(ctx, sub.ready); err != nil {
				return space.Reply{}, err
			}
			continue
		}
		reply, err := s.e.awaitDurable(context.WithoutCancel(ctx), a)
		if a.voidError() == nil {
			return reply, err
		}
		s.e.state.mu.Lock()
		sub.missed += len(a.reply.Events) + a.reply.Missed
		s.e.state.mu.Unlock()
	}
}

// takeEvents takes the events that wait for a subscription, as many as fit a reply; one always fits. Its reply is
// Found if there are any, or missed ones. If some are left it signals, so that the next call does not wait. Tuples
// are cloned, because events share theirs with the space.
func (s *session) takeEvents(id int64) (*subscriber, answer, error) {
	s.e.state.mu.Lock()
	defer s.e.state.mu.Unlock()
	if err := s.e.checkUsable(s); err != nil {
		return nil, answer{}, err
	}
	sub := s.subscriptions[id]
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
		sub.addMemory(-eventMemory(ev.Tuple))
		ev.Tuple = ev.Tuple.Clone()
		n++
	}
	reply.Events, sub.events, sub.missed = slices.Clip(sub.events[:n]), sub.events[n:], 0
	if n > 0 && len(sub.events) == 0 {
		sub.events = nil // so that its memory is freed with the reply
	} else if n > 0 {
		signal(sub.ready)
	}
	reply.Found = n > 0 || reply.Missed > 0
	return sub, s.e.answerNow(reply, nil), nil
}

// dropEvents drops the events that wait, because the journal was loaded again or a batch was
// undone, and counts them and one more as missed, because the subscriber cannot know what else
// changed. The caller holds state.mu.
func (sub *subscriber) dropEvents() {
	sub.missed++
	sub.forgetEvents()
	signal(sub.ready)
}

// forgetEvents drops the events that wait, and counts them as missed. It does not signal that.
func (sub *subscriber) forgetEvents() {
	for _, ev := range sub.events {
		sub.addMemory(-eventMemory(ev.Tuple))
	}
	sub.events, sub.bytes, sub.missed = nil, 0, sub.missed+len(sub.events)
}

// forgetAllEvents forgets the events that wait for all subscribers, because memory is used up.
func (st *state) forgetAllEvents() {
	for _, sub := range st.subscribers() {
		sub.forgetEvents()
	}
}

// publish adds a step to the events of the space's subscribers. A subscriber that already has
// maxEvents or maxEventBytes of them loses those first (forgetEvents), and each one does while memory
// is used up, because tuples that were taken would stay in memory.
func (in *spaceState) publish(s step) {
	t := s.entry().Tuple
	for _, sub := range in.subscribers {
		if sub.template != nil && !sub.template.Matches(t) {
			continue
		}
		if len(sub.events) == maxEvents || sub.bytes+t.Size() > maxEventBytes || sub.session.e.state.memory.Budget.Check(memory.Growth) != nil {
			sub.forgetEvents()
		}
		sub.bytes += t.Size()
		sub.addMemory(eventMemory(t))
		sub.events = append(sub.events, space.Event{Change: s.change, Space: in.def.Name, Procedure: s.procedure, Tuple: t})
		signal(sub.ready)
	}
}
