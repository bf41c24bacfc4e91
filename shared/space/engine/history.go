package engine

import (
	"context"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

// RecordHistory adds a fact to the transaction, so that the record is in the journal exactly if the transaction is.
// It fails with fault.ErrInvalid for an empty key or one of more than MaxHistoryKey bytes. While the journal is full
// it records nothing and returns nil.
func (tx *transaction) RecordHistory(key, value string) error {
	if key == "" || len(key) > space.MaxHistoryKey {
		return fmt.Errorf("history record %.300q: %w: want a key of 1 to %d bytes", key, fault.ErrInvalid, space.MaxHistoryKey)
	}
	if tx.e.journalFull() {
		return nil
	}
	h := space.HistoryRecord{Seq: tx.st.nextNumber(), Clock: tx.st.now(), Key: key, Value: value}
	tx.facts = append(tx.facts, &journal.Historic{HistoryRecord: h})
	return nil
}

// read answers a request for the history with a registered reader. A reader sees durable records only, so its
// answer need not wait for the journal. It runs without state.mu, because reading the disk may take long.
func (s *session) read(ctx context.Context, reader space.Reader, r space.Request) (space.Reply, error) {
	if err := s.usable(); err != nil {
		return space.Reply{}, err
	}
	reply, err := reader(ctx, s.e.journal, r.Args)
	if err != nil {
		return space.Reply{}, err
	}
	if err := reply.Validate(); err != nil {
		return space.Reply{}, fmt.Errorf("its reply: %w", err)
	}
	return space.Reply{Tuple: reply}, nil
}

// usable returns why s cannot be used; nil if it can. It locks state.mu.
func (s *session) usable() error {
	st := &s.e.state
	st.mu.Lock()
	defer st.mu.Unlock()
	return s.e.fireDueFor(s)
}

// TrimHistory removes the oldest records of the history that exceed the limits. The journal removes some at a time,
// so it is called until it removes none. If ctx ends first it returns nil, and a later call removes the rest.
func (e *Engine) TrimHistory(ctx context.Context, l space.HistoryLimits) error {
	e.state.mu.Lock()
	before := e.state.now() - l.Age
	e.state.mu.Unlock()
	for ctx.Err() == nil {
		removed, err := e.journal.TrimHistory(ctx, before, l)
		if err != nil || removed == 0 {
			return err
		}
	}
	return nil
}
