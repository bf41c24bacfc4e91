package engine

import (
	"context"
	"slices"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// maxMail bounds the messages that wait for a session; the oldest go.
const maxMail = 64

// message is what a transaction tells a session.
type message struct {
	to   string
	text tuple.Tuple
}

// letter is a message in a mailbox. Its answer is void if the transaction that
// sent it never became durable.
type letter struct{ answer }

// deliver puts the messages of the transaction that was executed last into the
// mailboxes of those that live.
func (e *Engine) deliver(told []message) {
	for _, m := range told {
		s := e.sessions[m.to]
		if s == nil {
			continue
		}
		if len(s.mail) == maxMail {
			s.mail = slices.Delete(s.mail, 0, 1)
		}
		s.mail = append(s.mail, letter{e.answer(space.Reply{Found: true, Tuple: m.text}, nil)})
		signal(s.mailed)
	}
}

// receive waits for the next message.
func (s *session) receive(ctx context.Context) (space.Reply, error) {
	for {
		l, ok, err := s.open()
		if err != nil {
			return space.Reply{}, err
		}
		if !ok {
			if err := s.await(ctx, s.mailed); err != nil {
				return space.Reply{}, err
			}
			continue
		}
		reply, err := s.e.released(context.WithoutCancel(ctx), l.answer)
		if l.void() == nil {
			return reply, err
		}
	}
}

// open takes the oldest letter out of the mailbox.
func (s *session) open() (l letter, ok bool, err error) {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	if len(s.mail) == 0 {
		return letter{}, false, s.e.usable(s)
	}
	l = s.mail[0]
	s.mail = slices.Delete(s.mail, 0, 1)
	if len(s.mail) > 0 {
		signal(s.mailed)
	}
	return l, true, nil
}
