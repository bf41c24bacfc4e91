package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"leasehold/shared/fault"
	"leasehold/shared/process/failpoint"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

// load replaces the state by what the journal holds, and begins an epoch. Sessions that this process knows stay;
// others get their TTL to come back. Engine time and numbers never go back. The state is written to the trace before
// absent sessions end, so that the trace has their ends as events. After an error the state is incomplete, and the
// engine must not be used. The caller holds state.mu and has the committer's turn, or is Open.
func (e *Engine) load(ctx context.Context) error {
	st := &e.state
	subscribers := st.subscribers()
	st.entries, st.spaces, st.answers = map[int64]*entry{}, map[string]*spaceState{}, map[string]*answerWindow{}
	st.timers, st.held = newTimers(e.wake), 0
	st.forgetMeasured()
	st.contents.Close()
	st.kept.Close()
	st.memory.Add(-st.pending.size)
	st.newTuples, st.freedSpaces, st.pending = nil, nil, batch{}
	for _, s := range st.sessions {
		clear(s.ephemeral)
		clear(s.holds)
		clear(s.taken)
	}
	loaded := restored{e: e, sessions: map[string]*journal.Session{}}
	failpoint.Reached("recovery.before", "")
	standing, err := e.journal.Load(ctx, loaded.addFact)
	if err != nil {
		return err
	}
	failpoint.Reached("recovery.loaded", "")
	e.committer.position = standing.Position
	st.lastNumber = max(st.lastNumber, standing.Ref)
	if standing.Clock > st.now() {
		st.base += standing.Clock - st.now()
	}
	st.epoch = &epoch{}
	loaded.restoreSessions()
	if err := loaded.restoreEntries(); err != nil {
		return err
	}
	e.traceState()
	st.resubscribe(subscribers)
	e.endAbsentSessions()
	st.contents.Budget.Rebase()
	failpoint.Reached("recovery.after", "")
	return nil
}

// restored collects the sessions and entries until all are known, because they must be
// restored in order: spaces, sessions, entries.
type restored struct {
	e        *Engine
	sessions map[string]*journal.Session
	entries  []*entry
}

// addFact takes facts in any order: it applies facts at once if they depend on no others.
func (r *restored) addFact(f journal.Fact) error {
	failpoint.Reached("recovery.fact", "")
	st := &r.e.state
	switch f := f.(type) {
	case *journal.Space:
		st.spaces[f.Name] = r.e.newSpace(f)
	case *journal.Session:
		r.sessions[f.ID] = f
	case *journal.Entry:
		r.entries = append(r.entries, f)
	case *journal.Answer:
		st.answersOf(f.Op.Session).add(f)
	case journal.Token:
		st.lastToken = max(st.lastToken, int64(f))
	default:
		return fmt.Errorf("%w: the journal holds a fact of type %T", fault.ErrCorrupt, f)
	}
	return nil
}

// restoreSessions ends the live sessions missing in the journal, and adds the sessions found only in the journal,
// with their TTL, at most maxTTL, or without one with the grace. It must precede restoreEntries, which links entries to sessions.
func (r *restored) restoreSessions() {
	live := r.e.state.sessions
	for id, s := range live {
		if r.sessions[id] == nil {
			delete(live, id)
			r.e.state.memory.Add(-sessionCost)
			s.end(space.Lost)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.sessions)) {
		if s := live[id]; s != nil {
			r.e.state.startTTL(s)
			if !s.attached {
				r.e.startGrace(s)
			}
		} else {
			f := r.sessions[id]
			ttl := f.TTL
			if r.e.maxTTL > 0 {
				ttl = min(ttl, r.e.maxTTL)
			}
			s := r.e.newSession(id, ttl)
			s.key = f.Key
			r.e.startGrace(s)
			r.e.state.memory.Add(sessionCost)
		}
	}
}

// startGrace gives a session without a TTL the time in which the client that has its key may come
// back. Without a key it is of a process that has ended (endAbsentSessions).
func (e *Engine) startGrace(s *session) {
	if s.ttl == 0 && s.key != nil && e.grace > 0 {
		s.deadline = e.state.now() + e.grace
		e.state.timers.setSession(s.deadline, s)
	}
}

func (r *restored) restoreEntries() error {
	for _, x := range r.entries {
		if r.e.state.spaces[x.Space] == nil {
			return fmt.Errorf("%w: tuple %d is in a space %q that does not exist", fault.ErrCorrupt, x.Ref, x.Space)
		}
		r.e.state.replace(nil, x)
	}
	return nil
}

// endAbsentSessions ends the sessions that cannot come back, and releases tuples of
// sessions that are not in the journal. A session without a TTL and a grace ended with the
// process that hosted it, so its holds are handed back (closed) and not lost.
func (e *Engine) endAbsentSessions() {
	st := &e.state
	for _, id := range slices.Sorted(maps.Keys(st.sessions)) {
		if s := st.sessions[id]; !s.attached && s.ttl == 0 && s.deadline == 0 {
			e.endSession(s, space.Closed)
		}
	}
	refs := slices.Sorted(maps.Keys(st.entries))
	together := st.holdsByExpiry(refs)
	for _, ref := range refs {
		x := st.entries[ref]
		if x == nil { // an expiry procedure before it took it
			continue
		}
		if x.Owner != "" && st.sessions[x.Owner] == nil {
			e.runInternal(func(tx *transaction) { tx.releaseFrom(x.Owner, ref, space.Lost, 0) })
		} else if x.Hold != nil && x.Hold.Session != "" && st.sessions[x.Hold.Session] == nil {
			e.runInternal(func(tx *transaction) { tx.releaseFrom(x.Hold.Session, ref, space.Lost, together.beside(ref)) })
		}
	}
}

// resubscribe brings the subscriptions of live sessions back after a reload, and
// tells each that it may have missed events. Those whose space is gone end.
func (st *state) resubscribe(subs []*subscriber) {
	for _, sub := range subs {
		if st.sessions[sub.session.id] != sub.session {
			continue // it has ended, and its subscriptions with it
		}
		in := st.spaces[sub.space]
		if in == nil {
			st.endSubscription(sub)
			continue
		}
		in.subscribers[sub.id] = sub
		sub.dropEvents()
	}
}
