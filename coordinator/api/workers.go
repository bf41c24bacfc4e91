package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"leasehold/coordinator"
	"leasehold/coordinator/peer"
	"leasehold/models"
	"leasehold/shared/access"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
)

// Limits of the sessions of workers.
const (
	defaultTTL   = 30 * time.Second
	minTTL       = time.Second
	peerSessions = 1_000 // of one peer

	// drainPoll is how long a heartbeat waits for a message; a waiting message comes at once.
	drainPoll = time.Millisecond
)

// workers are the sessions that workers opened over HTTP. Those that have ended are
// forgotten when another one is opened.
type workers struct {
	peers *peer.Quota

	mu   sync.Mutex // guards open
	open map[string]*worker

	turns [256]sync.Mutex // by a hash of the session's id: see turn
}

// find returns an open session; nil if there is none.
func (all *workers) find(id string) *worker {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.open[id]
}

// worker is the session of a worker. Every request of it is a sign of life.
type worker struct {
	engine.GateSession
	repo      space.Repository
	owner     string // id of the identity that opened it; only that one may use it
	heartbeat *status.Heartbeat
	peer      peer.Peer
	ttl       time.Duration
	actions   []string // that it serves

	receiving chan struct{} // capacity 1; the heartbeat that has its token receives the messages

	mu       sync.Mutex // guards the fields below
	draining bool
	endWait  context.CancelFunc // of the heartbeat that waits; nil: none does
}

// openSession opens the session of a worker, or resumes the one that n.Resume names. It counts for the quota of
// its peer (fault.ErrOverloaded) until it has ended.
func (s *server) openSession(ctx context.Context, q *request, n types.NewSession) (types.WorkerSession, error) {
	if s.Engine == nil {
		return types.WorkerSession{}, errNoEngine
	}
	if n.Resume != "" {
		defer s.workers.turn(n.Resume)()
	}
	w, err := s.openWorker(ctx, q, n)
	if err != nil {
		return types.WorkerSession{}, err
	}
	if err := remember(ctx, w, n); err != nil {
		if n.Resume == "" { // a resumed one has tasks, and can be used
			_ = s.Engine.EndSession(context.WithoutCancel(ctx), w.Session()) // else its TTL ends it
		}
		return types.WorkerSession{}, err
	}
	return s.beat(ctx, w, 0)
}

// openWorker opens or resumes a session, and adds it to those that are open.
func (s *server) openWorker(ctx context.Context, q *request, n types.NewSession) (*worker, error) {
	w, err := s.newWorker(q, n)
	if err != nil {
		return nil, err
	}
	if err := s.workers.peers.Take(w.peer); err != nil {
		return nil, err
	}
	id := cmp.Or(n.Resume, coordinator.SessionID("worker")+s.ownerTag(w.owner))
	if !strings.HasSuffix(n.Resume, s.ownerTag(w.owner)) && n.Resume != "" {
		s.workers.peers.Return(w.peer)
		return nil, notOwner(id, access.Of(ctx))
	}
	w.GateSession, err = s.Engine.OpenGateSession(ctx, engine.Opening{ID: id, TTL: w.ttl, Resume: n.Resume != "", Process: space.Process{
		Mode: "worker", Host: cmp.Or(n.Host, hostOf(q.RemoteAddr)), PID: n.PID, Version: n.Version, Name: n.Name,
	}})
	if err != nil {
		s.workers.peers.Return(w.peer)
		return nil, err
	}
	s.workers.add(w, id, n.Serves)
	if s.Auth != nil && ctx.Err() != nil { // the identity may have been revoked before add, and its sessions ended
		s.endSessionOf(context.WithoutCancel(ctx), id, w.owner)
		return nil, context.Cause(ctx)
	}
	return w, nil
}

func (s *server) maxSessionTTL() time.Duration { return cmp.Or(s.MaxTTL, time.Minute) }

// newWorker checks the body that opens a session, and returns a worker without the session. The comparison of the
// TTL is negated, because NaN must not pass.
func (s *server) newWorker(q *request, n types.NewSession) (*worker, error) {
	most := s.maxSessionTTL()
	w := &worker{owner: access.Of(q.Context()).ID, receiving: make(chan struct{}, 1), peer: peer.OfText(q.RemoteAddr, s.Exempt), ttl: min(defaultTTL, most)}
	if n.TTL != nil {
		w.ttl = n.TTL.Duration()
		if !(*n.TTL >= models.SecondsOf(min(minTTL, most)) && *n.TTL <= models.SecondsOf(most)) {
			return nil, fmt.Errorf("ttl %v: %w: want %v to %v seconds", *n.TTL, fault.ErrInvalid, models.SecondsOf(minTTL), models.SecondsOf(most))
		}
	}
	for what, text := range map[string]string{"name": n.Name, "host": n.Host, "version": n.Version} {
		if len(text) > space.MaxName || strings.ContainsFunc(text, unicode.IsControl) {
			return nil, fmt.Errorf("%s %.64q: %w: want at most %d bytes without control characters", what, text, fault.ErrInvalid, space.MaxName)
		}
	}
	if len(n.Serves) > status.MaxServed {
		return nil, fmt.Errorf("serves: %w: %d actions, at most %d", fault.ErrInvalid, len(n.Serves), status.MaxServed)
	}
	slots := int64(0)
	for _, served := range n.Serves {
		if !models.ValidID(served.Action) || served.Slots < 1 || served.Slots > status.MaxSlots {
			return nil, fmt.Errorf("serves: action %.64q, slots %d: %w: %s, and 1 to %d slots", served.Action, served.Slots, fault.ErrInvalid, models.IDRule, status.MaxSlots)
		}
		if slices.Contains(w.actions, served.Action) {
			return nil, fmt.Errorf("serves: action %s: %w: it is there twice", served.Action, fault.ErrConflict)
		}
		w.actions = append(w.actions, served.Action)
		slots += served.Slots
		if slots > status.MaxSlots {
			return nil, fmt.Errorf("serves: %w: want at most %d slots of all actions together", fault.ErrConflict, status.MaxSlots)
		}
	}
	return w, nil
}

// add adds a session that was opened, with the slots that it serves, and forgets those that have
// ended, which count for the quotas of their peers until then.
func (all *workers) add(w *worker, id string, serves []types.Served) {
	slots := map[string]int{}
	for _, served := range serves {
		slots[served.Action] = int(served.Slots)
	}
	w.repo = space.Over(w.GateSession)
	w.heartbeat = status.NewHeartbeat(w.repo, w.ttl, slots) // only Beat is called, so the interval is not used
	w.heartbeat.SetState("works over HTTP")
	all.mu.Lock()
	defer all.mu.Unlock()
	for other, open := range all.open {
		select {
		case <-open.Ended():
			delete(all.open, other)
			all.peers.Return(open.peer)
		default:
		}
	}
	all.open[id] = w
}

// of returns the sessions that an identity opened.
func (all *workers) of(id string) (sessions []string) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for session, w := range all.open {
		if w.owner == id {
			sessions = append(sessions, session)
		}
	}
	return sessions
}

// notOwner is the error of an identity that uses the session of another one.
// ownerTag is the end of the ids of the sessions that an identity opens; empty without authentication. A coordinator that
// was started again knows by it whether a session that is resumed is the caller's.
func (s *server) ownerTag(owner string) string {
	if s.Identify == nil {
		return ""
	}
	sum := sha256.Sum256([]byte(owner))
	return hex.EncodeToString(sum[:8])
}

func notOwner(session string, i access.Identity) error {
	return fmt.Errorf("session %.100q: %w: %s did not open it", session, fault.ErrForbidden, i)
}

// keepAlive returns the session of a request, and starts its TTL again. fault.ErrClosed means that the session
// has ended.
func (s *server) keepAlive(ctx context.Context, q *request) (*worker, error) {
	w, err := s.workerOf(ctx, q)
	if err != nil {
		return nil, err
	}
	return w, w.heartbeat.Beat(ctx)
}

// workerOf returns the session of a request, which must be of the caller.
func (s *server) workerOf(ctx context.Context, q *request) (w *worker, err error) {
	id := q.text("session")
	if w = s.workers.find(id); w == nil {
		w, err = s.recall(ctx, q, id)
	}
	if err != nil {
		return nil, err
	}
	if i := access.Of(ctx); i.ID != w.owner {
		return nil, notOwner(id, i)
	}
	return w, nil
}

// beat waits for a message of the session, up to wait, and returns the session and the tasks that it has, and
// restarts its TTL. It fails if the session has ended meanwhile.
func (s *server) beat(ctx context.Context, w *worker, wait time.Duration) (types.WorkerSession, error) {
	shown := types.WorkerSession{ID: w.Session(), TTL: models.SecondsOf(w.ttl), Claims: []types.Claim{}}
	if err := w.awaitMessage(ctx, wait); err != nil {
		return shown, err
	}
	claims, err := w.repo.Space(lease.Space).QueryAll(ctx, task.ClaimsOf(w.Session()))
	if err != nil {
		return shown, err
	}
	for _, t := range claims {
		c := task.DecodeClaim(t)
		shown.Claims = append(shown.Claims, types.Claim{Task: c.Task, Token: c.Token, Due: c.Due})
	}
	w.mu.Lock()
	shown.Draining = w.draining
	w.mu.Unlock()
	if shown.Draining {
		w.heartbeat.SetState("draining")
	}
	return shown, w.heartbeat.Beat(ctx)
}

// awaitMessage takes all messages of the session, and waits up to wait for the first one. A message that stops a task
// is not needed itself, because a heartbeat shows which tasks the session has. One call receives at a time; a later
// one ends the wait of an earlier one. The wait also ends when the session shall drain or the server stops.
func (w *worker) awaitMessage(ctx context.Context, wait time.Duration) error {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	w.mu.Lock()
	if w.endWait != nil {
		w.endWait()
	}
	w.endWait = cancel
	w.mu.Unlock()
	select {
	case w.receiving <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-w.receiving }()
	for end := time.Now().Add(wait); ; {
		poll := drainPoll
		if left := time.Until(end); !w.isDraining() && waiting.Err() == nil && left > 0 {
			poll = min(left, w.ttl/3)
		}
		received, err := w.receive(waiting, ctx, poll)
		switch {
		case err != nil:
			return err
		case received:
			end = time.Time{} // what else is there is taken too
		case time.Until(end) <= 0 || waiting.Err() != nil || w.isDraining() || draining(ctx):
			return nil
		default:
			if err := w.heartbeat.Beat(ctx); err != nil {
				return err
			}
		}
	}
}

// receive takes one message, for which it waits until the timeout or until waiting ends, and reports whether there
// was one. It fails if the session or ctx ended.
func (w *worker) receive(waiting, ctx context.Context, timeout time.Duration) (received bool, err error) {
	err = waitFor(waiting, timeout, func(ctx context.Context) error {
		message, err := w.repo.Receive(ctx)
		if err == nil && status.IsDrain(message) {
			w.mu.Lock()
			w.draining = true
			w.mu.Unlock()
		}
		return err
	})
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return false, ctx.Err()
	}
	return err == nil, err
}

func (w *worker) isDraining() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.draining
}

// sessionHeartbeat keeps a session alive, and returns what beat returns.
func (s *server) sessionHeartbeat(ctx context.Context, q *request, n types.NewHeartbeat) (types.WorkerSession, error) {
	wait, err := seconds("wait", n.Wait, maxWait)
	if err != nil {
		return types.WorkerSession{}, err
	}
	w, err := s.keepAlive(ctx, q)
	if err != nil {
		return types.WorkerSession{}, err
	}
	return s.beat(ctx, w, wait)
}

// hostOf returns the address of a client without its port; empty if it has another form.
func hostOf(address string) string {
	host, _, _ := net.SplitHostPort(address)
	return host
}
