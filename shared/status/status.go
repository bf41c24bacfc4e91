// Package status is the protocol by which sessions say that they live, what they
// do, and what they serve.
//
// In the space "status", which is volatile, a session has one tuple
//
//	(id, state, since)
//
// and one for each action that it serves
//
//	("serves", id, action, slots int64)
//
// A beat is an upsert by id: the tuples are replaced in place, so there is never
// a moment without them. They are tied to the session. When beats stop, the
// session is lost, and they go with it, before its holds end; closing the session
// takes them at once.
//
// The space "log" holds what administrators should read:
//
//	("log", at, id, level, message)
package status

import (
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// The spaces of the protocol.
const (
	Space = "status"
	Log   = "log"
)

// logCapacity bounds the log; the oldest lines go.
const logCapacity = 10_000

// Spaces returns the spaces that the protocol needs.
func Spaces() []space.Definition {
	return []space.Definition{
		{Name: Space, Options: space.Options{Volatile: true}},
		{Name: Log, Options: space.Options{Volatile: true, Capacity: logCapacity, Overflow: space.DropOldest}},
	}
}

const procBeat = "status.beat"

// Procedures returns the procedures of the protocol.
func Procedures() space.Procedures {
	return space.Procedures{procBeat: beat}
}

// beat (state, since, (action, slots)…) notes that the caller lives.
func beat(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	id := tx.Caller()
	if id == "" || len(args) < 2 {
		return nil, fmt.Errorf("%s: %w: state and since are wanted, of a session", procBeat, fault.ErrInvalid)
	}
	tx.KeepAlive()
	state := tuple.New(id, args.Str(0), args.Str(1))
	if err := upsert(tx, tuple.Match(id, tuple.AnyString, tuple.AnyString), state); err != nil {
		return nil, err
	}
	for _, f := range args[2:] {
		serves, _ := f.(tuple.Tuple)
		action, slots := serves.Str(0), serves.Int64(1)
		p := tuple.Match("serves", id, action, tuple.AnyInt64)
		if err := upsert(tx, p, tuple.New("serves", id, action, slots)); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// upsert replaces the tuple that matches p, if it differs, or puts it.
func upsert(tx space.Tx, p tuple.Template, t tuple.Tuple) error {
	e, ok := tx.Find(Space, p, nil)
	switch {
	case !ok:
		_, err := tx.Put(Space, t, space.PutOptions{Ephemeral: true})
		return err
	case e.Tuple.Equal(t):
		return nil
	}
	return tx.Replace(e.Ref, t)
}

// Server is a session that serves an action.
type Server struct {
	ID    string
	Slots int64
}

// Serving returns the live sessions that serve an action.
func Serving(tx space.Tx, action string) []Server {
	var servers []Server
	for _, e := range tx.Scan(Space, AnyServing(action)) {
		servers = append(servers, Server{ID: e.Tuple.Str(1), Slots: e.Tuple.Int64(3)})
	}
	return servers
}

// AnyServing matches the tuples of those that serve an action.
func AnyServing(action string) tuple.Template {
	return tuple.Match("serves", tuple.AnyString, action, tuple.AnyInt64)
}

// Record puts a line into the log, as part of a transaction.
func Record(tx space.Tx, id, level, message string) error {
	at := tx.Now().UTC().Format(time.RFC3339)
	_, err := tx.Put(Log, tuple.New("log", at, id, level, message), space.PutOptions{})
	return err
}
