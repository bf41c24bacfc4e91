// Package status is the protocol by which sessions report that they are alive, what
// they do, and what they serve.
//
// In the space "status", which is volatile, a session has one tuple
//
//	(id, state, since)
//
// and one for each action that it serves
//
//	("serves", id, action, slots int64)
//
// A heartbeat carries both and is an upsert by id: it replaces the tuples in place, so
// that a reader never misses them, and removes actions that are no longer served. A
// heartbeat that changes nothing writes nothing. The tuples end with the session. If
// heartbeats stop, the session is lost and its tuples are removed before its holds
// end; closing the session removes them at once.
//
// The same space sums up what tasks have cost since the coordinator started, one tuple
// for each action and each way in which its tasks are done:
//
//	("cost", action, how, tasks, wallMicroseconds, cpuMicroseconds, windows int64)
//
// A session whose wall clock differs from the coordinator's by more than 2 s has a tuple
// ("clock", id, nanoseconds int64) there too; the number is negative if it is behind.
//
// The space "log", also volatile, holds lines for administrators; the oldest are
// removed first. A Forwarder writes the warnings and errors of a process there.
//
//	("log", at, id, level, message)
//
// A line about another session than the writer's ends with the writer's id, so that no session can write in the
// name of another. How many lines a session may write in a second is bounded: ("logged", id, next), in the space
// "status", has the state of that rate.
//
// The space "sessiondata" is durable. In it a session may keep a record of itself, from which the next coordinator knows what
// no heartbeat tells it. The coordinator keeps there how a worker opened its session over HTTP.
//
//	(id, record)
//
// A message (Repository.Receive) asks a session that sends heartbeats to drain: to take
// nothing new, finish or hand back what it holds, and end.
//
// The package does not decide how long a session may be silent: the code that opens
// the session does (the TTL of engine.Session).
package status

import (
	"context"
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// The spaces of the protocol.
const (
	Space = "status" // what sessions do, what they serve, what tasks cost
	Log   = "log"    // lines for administrators
)

// logCapacity is how many lines the log keeps.
const logCapacity = 10_000

// Spaces returns the spaces that the protocol needs. Two are volatile: after a restart sessions
// report again, and only the newest lines count.
func Spaces() []space.Definition {
	return []space.Definition{
		{Name: Space, QueryOnly: true, Options: space.Options{Volatile: true}},
		{Name: Log, QueryOnly: true, Options: space.Options{Volatile: true, Capacity: logCapacity, Overflow: space.DropOldest}},
		{Name: Records, QueryOnly: true},
	}
}

const (
	procBeat  = "status.beat"
	procDrain = "status.drain"
	procLeave = "status.leave"
	procLog   = "status.log"
	procSpend = "status.spend"
	procClock = "status.clock"
)

// Procedures returns the verbs as procedures: status.beat (state, since, (action, slots)…);
// status.drain (session); status.leave (reason); status.log (at, id, level, message); status.spend (action, how,
// tasks, wallMicroseconds, cpuMicroseconds, windows); status.clock (milliseconds since 1970); status.remember (record).
func Procedures() space.Procedures {
	return space.Procedures{
		procBeat: beat, procDrain: space.WithArgs1(drain), procLeave: space.WithArgs1(leave), procSpend: space.WithArgs(spendArgs, spend),
		procLog: space.WithArgs(logArgs, writeLine), procRemember: space.WithArgs1(remember),
		procClock: space.WithArgs(clockArgs, func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) { return nil, clock(tx, decodeClockArgs(args)) }),
	}
}

// GuardedProcedures is Procedures, but accepts costs of an action only from a session for which holds
// returns true: one that has a task of the action, because costs are of tasks. To others status.spend
// fails with fault.ErrForbidden.
func GuardedProcedures(holds func(tx space.Tx, action string) bool) space.Procedures {
	all := Procedures()
	all[procSpend] = space.WithArgs(spendArgs, func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
		if action := decodeSpend(args).Action; !holds(tx, action) {
			return nil, fmt.Errorf("%s: %w: this session holds no task of action %.100q", procSpend, fault.ErrForbidden, action)
		}
		return spend(tx, args)
	})
	return all
}

// beat (state, since, (action, slots)…) keeps the caller's session alive and replaces its state and all that it
// serves. The first heartbeat of a session is logged. A call without a session, or with arguments that no Heartbeat
// sends, fails and does not count as a sign of life.
func beat(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	id := tx.Caller()
	if id == "" {
		return nil, fmt.Errorf("%s: %w: only a session can send a heartbeat", procBeat, fault.ErrInvalid)
	}
	b, err := decodeBeat(args)
	if err != nil {
		return nil, err
	}
	served := map[string]bool{}
	for _, s := range b.Serves {
		s.ID, served[s.Action] = id, true
		if err := upsert(tx, Space, MatchServing(id, s.Action), s.encode()); err != nil {
			return nil, err
		}
	}
	tx.KeepAlive()
	if _, known := tx.Find(Space, StateOf(id), nil); !known {
		if err := Record(tx, id, "info", "session joined"); err != nil {
			return nil, err
		}
	}
	for _, e := range tx.Scan(Space, MatchServing(id, tuple.AnyString)) {
		if served[DecodeServing(e.Tuple).Action] {
			continue
		}
		if err := tx.Take(e.Ref); err != nil {
			return nil, err
		}
	}
	return nil, upsert(tx, Space, StateOf(id), SessionState{id, b.State, b.Since}.encode())
}

// upsert puts t into a space, tied to the caller's session, or replaces the tuple that matches p if it differs from t. An equal
// one is left, so that a heartbeat without news writes nothing.
func upsert(tx space.Tx, in string, p tuple.Template, t tuple.Tuple) error {
	e, ok := tx.Find(in, p, nil)
	switch {
	case !ok:
		_, err := tx.Put(in, t, space.PutOptions{Ephemeral: true})
		return err
	case e.Tuple.Equal(t):
		return nil
	}
	return tx.Replace(e.Ref, t)
}

// MaxSlots is the maximum number of slots that one session may report, of all actions together, because
// managers issue work for as many.
const MaxSlots = 1 << 14

// Servers returns the live sessions that serve an action with at least one slot. A
// tuple that a foreign client put counts too, with at most MaxSlots.
func Servers(tx space.Tx, action string) []Serving {
	var servers []Serving
	for _, e := range tx.Scan(Space, AnyServing(action)) {
		s := DecodeServing(e.Tuple)
		s.Slots = min(s.Slots, MaxSlots)
		if s.Slots > 0 {
			servers = append(servers, s)
		}
	}
	return servers
}

// Paused returns the live sessions that serve an action and have no slot for it now, because their machines cannot do
// it for a while.
func Paused(tx space.Tx, action string) (paused []Serving) {
	for _, e := range tx.Scan(Space, AnyServing(action)) {
		if s := DecodeServing(e.Tuple); s.Slots <= 0 {
			paused = append(paused, s)
		}
	}
	return paused
}

// Slots returns how many slots serve an action, of all sessions together. Each has at most
// MaxSlots, so that the sum cannot overflow.
func Slots(tx space.Tx, action string) (slots int64) {
	for _, s := range Servers(tx, action) {
		slots += s.Slots
	}
	return slots
}

// Record adds a line to the log as part of a transaction. id names the session or the task that the line is about.
// level is one of slog's, in lower case.
func Record(tx space.Tx, id, level, message string) error {
	_, err := tx.Put(Log, Line{tx.Now(), id, level, message}.encode(), space.PutOptions{})
	return err
}

// drainMessage tells a session to drain.
var drainMessage = tuple.New("drain")

// drain (session) tells a session that sends heartbeats to drain. It fails with fault.ErrNotFound if the session
// sends none or is not alive. Repeating it is harmless.
func drain(tx space.Tx, id string) (tuple.Tuple, error) {
	if _, beats := tx.Find(Space, StateOf(id), nil); !beats || !tx.Alive(id) {
		return nil, fmt.Errorf("session %.100q: %w: no manager or worker with this id is connected", id, fault.ErrNotFound)
	}
	tx.Tell(id, drainMessage)
	return nil, Record(tx, id, "info", "asked to drain")
}

// Drain asks a manager or worker to take nothing new, to finish or hand back what
// it holds, and to end. It does not wait until that has happened. If no session of
// that id sends heartbeats, it returns fault.ErrNotFound.
func Drain(ctx context.Context, repo space.Repository, session string) error {
	_, err := repo.Call(ctx, space.OpID{}, procDrain, tuple.New(session))
	return err
}

// leave (reason) logs that the caller's session is about to end in order.
func leave(tx space.Tx, reason string) (tuple.Tuple, error) {
	if tx.Caller() == "" {
		return nil, fmt.Errorf("%s: %w: only a session can leave", procLeave, fault.ErrInvalid)
	}
	if err := countLine(tx); err != nil {
		return nil, err
	}
	return nil, Record(tx, tx.Caller(), "info", "session ended: "+oneLine(reason))
}

// leaveTimeout bounds Leave, because a session that ends has little time.
const leaveTimeout = time.Second

// Leave logs that the session is about to end in order, and why. It is called before the session is closed, and
// returns after leaveTimeout at the latest; errors are ignored, because only the log would miss a line.
func Leave(ctx context.Context, repo space.Repository, reason string) {
	ctx, cancel := context.WithTimeout(ctx, leaveTimeout)
	defer cancel()
	_, _ = space.Once(repo).Call(ctx, space.OpID{}, procLeave, tuple.New(reason))
}

// IsDrain reports whether a message asks its receiver to drain.
func IsDrain(message tuple.Tuple) bool { return message.Equal(drainMessage) }
