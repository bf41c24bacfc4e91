package engine

import (
	"context"
	"slices"

	"leasehold/shared/space"
)

// maxInbox bounds the messages that wait for a session. When one more arrives, the
// oldest is dropped.
const maxInbox = 64

// deliver puts the messages of the transaction that was executed last into the inboxes of the sessions that live.
// Each message is an answer of that transaction, so that receive delivers it once the transaction is durable. The
// caller holds state.mu.
func (e *Engine) deliver(messages []outgoing) {
	for _, m := range messages {
		s := e.state.sessions[m.to]
		if s == nil {
			continue
		}
		if len(s.inbox) == maxInbox {
			s.removeOldest()
		}
		e.state.memory.Add(messageCost + tupleCost(m.text))
		s.inbox = append(s.inbox, e.answerNow(space.Reply{Found: true, Tuple: m.text}, nil))
		signal(s.inboxReady)
	}
}

// removeOldest removes the oldest message from the inbox, which must have one. The caller holds
// state.mu.
func (s *session) removeOldest() answer {
	m := s.inbox[0]
	s.inbox = slices.Delete(s.inbox, 0, 1)
	s.e.state.memory.Add(-messageCost - tupleCost(m.reply.Tuple))
	return m
}

// receive waits for the next message. It skips those whose transaction never became durable, because that transaction
// has not happened. The message was taken out of the inbox, so the end of ctx does not end the wait until it is
// durable.
func (s *session) receive(ctx context.Context) (space.Reply, error) {
	for {
		message, ok, err := s.takeMessage()
		if err != nil {
			return space.Reply{}, err
		}
		if !ok {
			if err := s.await(ctx, s.inboxReady); err != nil {
				return space.Reply{}, err
			}
			continue
		}
		reply, err := s.e.awaitDurable(context.WithoutCancel(ctx), message)
		if message.voidError() == nil {
			return reply, err
		}
	}
}

// takeMessage takes the oldest message out of the inbox, and reports whether there was one. If there was none, err
// tells why the session cannot be used; nil if it can. If more are left it signals again, because another call may
// wait and inboxReady keeps one signal.
func (s *session) takeMessage() (message answer, ok bool, err error) {
	s.e.state.mu.Lock()
	defer s.e.state.mu.Unlock()
	if len(s.inbox) == 0 {
		return answer{}, false, s.e.checkUsable(s)
	}
	message = s.removeOldest()
	if len(s.inbox) > 0 {
		signal(s.inboxReady)
	}
	return message, true, nil
}
