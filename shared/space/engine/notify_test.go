package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/tuple"
)

// subscribed returns a session with a subscription to s with a template, and what all takes at first.
func subscribed(t *testing.T, p tuple.Template) (e *Engine, s *session, sub *subscriber, before int64) {
	t.Helper()
	e, s = takerOf(t, 0)
	before = e.Stats().Memory
	reply, err := s.subscribe(space.Request{Space: "s", Template: p})
	require.NoError(t, err)
	return e, s, s.subscriptions[reply.Subscription], before
}

// changed is a step that puts a tuple.
func changed(u tuple.Tuple) step {
	return step{new: &entry{Space: "s", Tuple: u}, change: space.Put, procedure: "procedure"}
}

func TestTheEventsOfASubscriberAreCountedUntilTheyAreTakenOrItEnds(t *testing.T) {
	t.Parallel()
	p := tuple.Match("a", tuple.AnyInt64)
	e, s, sub, before := subscribed(t, p)
	cost := subscriptionCost + tupleCost(tuple.Tuple(p))
	u := tuple.New("a", int64(1))
	require.Equal(t, before+cost, e.Stats().Memory)
	in := e.state.spaces["s"]
	for range 3 {
		in.publish(changed(u))
		in.publish(changed(tuple.New("b", int64(1))))
	}
	require.Len(t, sub.events, 3, "the others do not match")
	require.Equal(t, space.Event{Change: space.Put, Space: "s", Procedure: "procedure", Tuple: u}, sub.events[0])
	require.Equal(t, 3*u.Size(), sub.bytes)
	require.Equal(t, 3*eventMemory(u), e.state.events)
	require.Equal(t, before+cost+3*eventMemory(u), e.Stats().Memory)
	require.Equal(t, cost+3*eventMemory(u), sub.memory)
	sub.missed = 2
	_, a, err := s.takeEvents(sub.id)
	require.NoError(t, err)
	require.Len(t, a.reply.Events, 3)
	require.Equal(t, 2, a.reply.Missed)
	require.True(t, a.reply.Found)
	require.Zero(t, sub.bytes+sub.missed+len(sub.events))
	require.Zero(t, e.state.events)
	require.Equal(t, before+cost, e.Stats().Memory)
	_, a, err = s.takeEvents(sub.id)
	require.NoError(t, err)
	require.False(t, a.reply.Found)

	in.publish(changed(u))
	sub.dropEvents()
	require.Equal(t, 2, sub.missed, "the one, and what it cannot know")
	require.Equal(t, before+cost, e.Stats().Memory)
	in.publish(changed(u))
	_, err = s.unsubscribe(sub.id)
	require.NoError(t, err)
	_, err = s.unsubscribe(sub.id)
	require.NoError(t, err)
	require.Equal(t, before, e.Stats().Memory)
	require.Zero(t, e.state.events)
	require.Empty(t, in.subscribers)
	require.Empty(t, s.subscriptions)
	_, _, err = s.takeEvents(sub.id)
	require.ErrorIs(t, err, fault.ErrClosed)
}

func TestTheEventsThatWaitAreDroppedAtTheirBounds(t *testing.T) {
	t.Parallel()
	e, _, sub, _ := subscribed(t, nil)
	in := e.state.spaces["s"]
	u := tuple.New("a")
	for range maxEvents {
		in.publish(changed(u))
	}
	require.Len(t, sub.events, maxEvents)
	require.Zero(t, sub.missed)
	in.publish(changed(u))
	require.Len(t, sub.events, 1)
	require.Equal(t, maxEvents, sub.missed)
	require.Equal(t, u.Size(), sub.bytes)

	sub.bytes = maxEventBytes - u.Size()
	in.publish(changed(u))
	require.Len(t, sub.events, 2, "it fits exactly")
	in.publish(changed(u))
	require.Len(t, sub.events, 1)
	require.Equal(t, maxEvents+2, sub.missed)
}

// Two calls may wait for one subscription, and one signal is kept.
func TestEventsThatExceedAReplyAreLeftForTheNextCall(t *testing.T) {
	t.Parallel()
	e, s, sub, _ := subscribed(t, nil)
	u := tuple.New(string(make([]byte, space.MaxReply/2)))
	for range 3 {
		e.state.spaces["s"].publish(changed(u))
	}
	for _, left := range []int{2, 1, 0} {
		clear := sub.ready
		for len(clear) > 0 {
			<-clear
		}
		reply, err := s.nextEvents(t.Context(), sub.id)
		require.NoError(t, err)
		require.Len(t, reply.Events, 1)
		require.Len(t, sub.events, left)
		require.Equal(t, left > 0, len(sub.ready) == 1)
	}
	require.Nil(t, sub.events)
}

func TestASubscriptionIsRefusedBeyondItsBounds(t *testing.T) {
	t.Parallel()
	e, s, sub, _ := subscribed(t, nil)
	in := space.Request{Space: "s"}
	_, err := s.subscribe(space.Request{Space: "nowhere"})
	require.ErrorIs(t, err, fault.ErrNotFound)
	for len(s.subscriptions) < maxSubscriptions {
		_, err = s.subscribe(in)
		require.NoError(t, err)
	}
	_, err = s.subscribe(in)
	require.ErrorIs(t, err, fault.ErrOverloaded)
	require.NotErrorIs(t, err, memory.ErrFull)
	_, err = s.unsubscribe(sub.id)
	require.NoError(t, err)
	used := e.Stats().Memory
	e.state.memory.Add(1 << 40)
	_, err = s.subscribe(in)
	require.ErrorIs(t, err, memory.ErrFull)
	require.Equal(t, used+1<<40, e.Stats().Memory)
	require.Len(t, s.subscriptions, maxSubscriptions-1)
	require.Len(t, e.state.spaces["s"].subscribers, maxSubscriptions-1)
	e.state.memory.Add(-1 << 40)
	_, err = s.subscribe(in)
	require.NoError(t, err)
	_, err = s.close(t.Context())
	require.NoError(t, err)
	require.Empty(t, e.state.spaces["s"].subscribers)
	_, err = s.subscribe(in)
	require.ErrorIs(t, err, fault.ErrClosed)
	_, err = s.nextEvents(t.Context(), sub.id)
	require.ErrorIs(t, err, fault.ErrClosed)
}

// Events and messages of a transaction that was never durable have not happened.
func TestEventsOfAFailedCommitCountAsMissedAndItsMessagesDoNotArrive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, r := telling(t)
		require.NoError(t, r.Create(t.Context(), "s", space.Options{}))
		s := e.state.sessions["test-1"]
		reply, err := s.subscribe(space.Request{Space: "s"})
		require.NoError(t, err)
		m := e.journal.(*journal.Memory)
		m.Before = func(context.Context, []journal.Record) error {
			m.Before = nil
			time.Sleep(time.Second)
			return errCommit
		}
		events, messages := make(chan space.Reply, 1), make(chan tuple.Tuple, 1)
		go func() { x, _ := s.nextEvents(context.Background(), reply.Subscription); events <- x }()
		go func() { x, _ := r.Receive(context.Background()); messages <- x }()
		synctest.Wait()
		go func() { _ = r.Space("s").Put(t.Context(), tuple.New("a"), 0) }()
		synctest.Wait() // the message follows the put
		go func() { _, _ = r.Call(t.Context(), space.OpID{}, "tell", tuple.New("test-1", int64(1))) }()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Len(t, events, 1)
		x := <-events
		require.Empty(t, x.Events)
		require.GreaterOrEqual(t, x.Missed, 1)
		require.Empty(t, messages)
		_, err = r.Call(t.Context(), space.OpID{}, "tell", tuple.New("test-1", int64(2)))
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, tuple.New(int64(1)), <-messages)
		require.NoError(t, r.Close(t.Context()))
	})
}
