package api

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/status"
)

// remember keeps how a session was opened, for recall at the next coordinator.
func remember(ctx context.Context, w *worker, n types.NewSession) error {
	ttl := models.SecondsOf(w.ttl)
	n.TTL, n.Resume = &ttl, w.Session()
	record, err := json.Marshal(n)
	if err == nil {
		err = status.Remember(ctx, w.repo, string(record))
	}
	return err
}

// recall makes the worker of a session again that was opened at the coordinator before this one. If another request has
// done so meanwhile, it returns that worker. fault.ErrClosed means that the session has ended.
func (s *server) recall(ctx context.Context, q *request, id string) (*worker, error) {
	defer s.workers.turn(id)()
	if w := s.workers.find(id); w != nil {
		return w, nil
	}
	record, known, err := status.Recall(ctx, s.repo, id)
	if err != nil {
		return nil, err
	}
	if !known || s.Engine == nil {
		return nil, fmt.Errorf("session %.100q: %w: it has ended, or a coordinator of an older version opened it; open a session, with resume to keep its tasks", id, fault.ErrClosed)
	}
	var n types.NewSession
	if err := json.Unmarshal([]byte(record), &n); err != nil || n.TTL == nil {
		return nil, fmt.Errorf("session %.100q: %w: its record cannot be read", id, fault.ErrCorrupt)
	}
	ttl := min(*n.TTL, models.SecondsOf(s.maxSessionTTL())) // the limit may be lower now, for the restored session too
	n.TTL = &ttl
	return s.openWorker(ctx, q, n)
}

// turn waits until no other request resumes a session, and returns what lets the next one do so.
func (all *workers) turn(id string) (done func()) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	m := &all.turns[h.Sum32()%uint32(len(all.turns))]
	m.Lock()
	return m.Unlock
}
