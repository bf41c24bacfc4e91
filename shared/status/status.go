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
// A beat says the whole of it, and is an upsert by id: the tuples are replaced in
// place, so there is never a moment without them, and what is no longer served
// goes. A beat that changes nothing writes nothing. The tuples are tied to the
// session. When beats stop, the session is lost, and they go with it, before its
// holds end; closing the session takes them at once.
//
// What tasks have cost since the coordinator began is summed up there, too: of each action,
// and of each way in which its tasks are done,
//
//	("cost", action, how, tasks, wallMicroseconds, cpuMicroseconds, windows int64)
//
// The space "log", volatile too, holds what administrators should read; the oldest
// lines go:
//
//	("log", at, id, level, message)
//
// A session that beats can be told to drain: to take nothing new, finish or hand back
// what it holds, and end. It reads that among its messages (Repository.Receive).
//
// The package does not decide how long a session may be silent: who opens it does
// (the TTL of engine.Session).
package status

import (
	"fmt"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Space is where states are, and what is served.
const Space = "status"

// Spaces returns the spaces that the protocol needs.
func Spaces() []space.Definition {
	return []space.Definition{
		{Name: Space, Options: space.Options{Volatile: true}},
		{Name: Log, Options: space.Options{Volatile: true, Capacity: logCapacity, Overflow: space.DropOldest}},
	}
}

const procBeat = "status.beat"

// What a beat says, and of each action.
var (
	beatArgs   = tuple.Match(tuple.AnyString, tuple.AnyString)
	servesArgs = tuple.Match(tuple.AnyString, tuple.AnyInt64)
)

// Procedures returns the verbs as procedures: status.beat (state, since, (action,
// slots)…); status.drain (session); status.spend (action, how, tasks, wallMicroseconds,
// cpuMicroseconds, windows).
func Procedures() space.Procedures {
	return space.Procedures{
		procBeat: beat, procDrain: space.WithArgs(tuple.Match(tuple.AnyString), drain), procSpend: space.WithArgs(spendArgs, spend),
	}
}

// beat (state, since, (action, slots)…) notes that the caller lives, what it does,
// and all that it serves.
func beat(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	id := tx.Caller()
	if id == "" || len(args) < 2 || !beatArgs.Matches(args[:2]) {
		return nil, fmt.Errorf("%s: %w: state and since are wanted, of a session", procBeat, fault.ErrInvalid)
	}
	served := map[string]bool{}
	for _, f := range args[2:] {
		serves, _ := f.(tuple.Tuple)
		action, slots := serves.Str(0), serves.Int64(1)
		if !servesArgs.Matches(serves) || !models.ValidID(action) || slots < 0 || slots > MaxSlots {
			return nil, fmt.Errorf("%s: %w: %s serves %.100s: an action's id and 0 to %d slots are wanted", procBeat, fault.ErrInvalid, id, serves, MaxSlots)
		}
		served[action] = true
		if err := upsert(tx, anyServedBy(id, action), tuple.New("serves", id, action, slots)); err != nil {
			return nil, err
		}
	}
	tx.KeepAlive()
	if err := forgetOthers(tx, id, served); err != nil {
		return nil, err
	}
	return nil, upsert(tx, tuple.Match(id, tuple.AnyString, tuple.AnyString), tuple.New(id, args.Str(0), args.Str(1)))
}

// forgetOthers takes the tuples of what id no longer serves.
func forgetOthers(tx space.Tx, id string, served map[string]bool) error {
	for _, e := range tx.Scan(Space, anyServedBy(id, tuple.AnyString)) {
		if served[e.Tuple.Str(2)] {
			continue
		}
		if err := tx.Take(e.Ref); err != nil {
			return err
		}
	}
	return nil
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
