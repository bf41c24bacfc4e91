package space

import (
	"fmt"
	"maps"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/tuple"
)

// Procedure is a named transaction over spaces. It depends only on its arguments and
// on what it reads through tx: no clock, no randomness, no I/O. If it returns an error,
// all that it did is undone. If it returns the error of tx.Wait, all is undone too, and
// it runs again, oldest waiter first, when a tuple that it waits for is put. It must not
// keep tx.
type Procedure func(tx Tx, args tuple.Tuple) (tuple.Tuple, error)

// Procedures are registered at an engine by name, such as "task.claim".
type Procedures map[string]Procedure

// WithArgs returns a procedure that calls p if the arguments match wanted; others
// are fault.ErrInvalid.
func WithArgs(wanted tuple.Template, p Procedure) Procedure {
	return func(tx Tx, args tuple.Tuple) (tuple.Tuple, error) {
		if !wanted.Matches(args) {
			return nil, fmt.Errorf("%w: the arguments must be %s", fault.ErrInvalid, wanted)
		}
		return p(tx, args)
	}
}

// Definition is a space that a protocol needs.
type Definition struct {
	Name    string
	Options Options
}

// Join returns one set of procedures. It panics if two have the same name.
func Join(sets ...Procedures) Procedures {
	all := Procedures{}
	for _, set := range sets {
		for name := range set {
			if _, taken := all[name]; taken {
				panic("space.Join: two procedures named " + name)
			}
		}
		maps.Copy(all, set)
	}
	return all
}

// Tx is what a procedure reads and writes. Spaces are named; tuples in them are found
// by template, and then identified by their Ref.
type Tx interface {
	// Find returns the tuple that a get would take, of those that keep accepts, and
	// reports whether there is one; a nil keep accepts all.
	Find(space string, p tuple.Template, keep func(Entry) bool) (Entry, bool)
	// Scan returns all visible matches, in the order of the kind.
	Scan(space string, p tuple.Template) []Entry
	// Held returns all matches that are held, in the order of the kind.
	Held(space string, p tuple.Template) []Entry
	// Entry returns the tuple of a ref as it is now, and reports whether it is there.
	Entry(ref int64) (Entry, bool)
	// Count counts the visible matches.
	Count(space string, p tuple.Template) int

	// Put adds a tuple. A full space is fault.ErrOverloaded, because a procedure cannot
	// wait for capacity.
	Put(space string, t tuple.Tuple, o PutOptions) (ref int64, err error)
	// Take removes a tuple, held or not.
	Take(ref int64) error
	// Replace changes a tuple, held or not, in place.
	Replace(ref int64, t tuple.Tuple) error
	// Extend starts a tuple's TTL again with a new length; with 0 it has none.
	Extend(ref int64, ttl time.Duration) error
	// Hold hides a tuple but keeps its place. Holding a tuple that is held already
	// replaces its hold.
	Hold(ref int64, o HoldOptions) error
	// Done removes a held tuple for good.
	Done(ref int64) error
	// Back makes a held tuple visible: at its old place, or at a new one. If its
	// TTL has passed meanwhile, the TTL ends now.
	Back(ref int64, at Placement) error

	// Now is the wall clock, for display only: deadlines use another clock.
	Now() time.Time
	// NextToken returns a number larger than all that it returned before.
	NextToken() int64
	// Caller is the session that calls; empty in an expiry.
	Caller() string
	// Alive reports whether a session is alive.
	Alive(session string) bool
	// KeepAlive counts as a sign of life of the caller: its session's TTL starts again.
	// It does nothing in a procedure that runs again after it waited, because the
	// caller has sent nothing since.
	KeepAlive()
	// Tell sends a message to a session, if it is alive. The message must be a valid
	// tuple.
	Tell(session string, message tuple.Tuple)
	// Call runs another procedure within this transaction.
	Call(procedure string, args tuple.Tuple) (tuple.Tuple, error)
	// Wait returns the error with which a procedure that found nothing returns, and
	// records what it waits for. A space that does not exist is fault.ErrNotFound.
	Wait(awaited ...Awaited) error
}

// Surveyor is what a Tx may also be: one that can look through a whole space, over
// all signatures of tuples. It is apart from Tx because its cost grows with the
// space, so that no protocol should need it.
type Surveyor interface {
	// Survey returns the tuples that keep accepts, in the order of the kind: the
	// visible ones, and the held ones too if held is set.
	Survey(space string, held bool, keep func(Entry) bool) []Entry
}

// Entry is a tuple in its space, as a procedure sees it.
type Entry struct {
	Ref   int64
	Space string
	Tuple tuple.Tuple
	// Held is whether it is held, and Holder the session that holds it; a hold may be
	// without a session.
	Held   bool
	Holder string
}

// HoldOptions limit how long a hold lasts.
type HoldOptions struct {
	TTL time.Duration // 0: as long as the session is alive
	// Expiry names the procedure that runs, in the same journal record, when the TTL
	// or the session ends; it gets Expired.Args. The tuple goes back to its old place
	// unless the procedure changes the hold. Empty: it goes back.
	Expiry    string
	NoSession bool // held by no session, as during a back-off; it needs a TTL
}

// Placement is where a held tuple comes back.
type Placement int

// The placements.
const (
	OldPlace Placement = iota
	NewPlace           // as if it were put now
)

// Awaited is a kind of tuple that a procedure waits for.
type Awaited struct {
	Space    string
	Template tuple.Template
}

// Cause is why a TTL, a hold or a session ended.
type Cause string

// The causes.
const (
	Due    Cause = "due"    // its deadline has passed
	Lost   Cause = "lost"   // the holder's session gave no sign of life
	Closed Cause = "closed" // the holder's session ended in order
)

// Expired is what an expiry procedure gets as its arguments.
type Expired struct {
	Ref    int64
	Cause  Cause
	Holder string // the session that held it; empty for a TTL
}

// Args encodes x as the arguments of an expiry procedure.
func (x Expired) Args() tuple.Tuple {
	return tuple.New(x.Ref, string(x.Cause), x.Holder)
}

// ParseExpired decodes the arguments of an expiry procedure.
func ParseExpired(args tuple.Tuple) (Expired, error) {
	if len(args) != 3 || args.Int64(0) == 0 {
		return Expired{}, fmt.Errorf("expiry arguments %s: %w", args, fault.ErrInvalid)
	}
	return Expired{Ref: args.Int64(0), Cause: Cause(args.Str(1)), Holder: args.Str(2)}, nil
}

// Expiring must be the first call of an expiry procedure: it returns the tuple that
// expires, as it is now, and why. It is fault.ErrInvalid if a session calls the
// procedure by its name, because only the engine ends a TTL or a hold.
func Expiring(tx Tx, args tuple.Tuple) (Entry, Expired, error) {
	x, err := ParseExpired(args)
	if err != nil {
		return Entry{}, Expired{}, err
	}
	if tx.Caller() != "" {
		return Entry{}, Expired{}, fmt.Errorf("expiry of tuple %d: %w: called by session %s", x.Ref, fault.ErrInvalid, tx.Caller())
	}
	e, ok := tx.Entry(x.Ref)
	if !ok {
		return Entry{}, Expired{}, fmt.Errorf("expiry of tuple %d: %w", x.Ref, fault.ErrNotFound)
	}
	return e, x, nil
}
