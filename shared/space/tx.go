package space

import (
	"fmt"
	"maps"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/tuple"
)

// Procedure is a named transaction over spaces. It is a function of its
// arguments and of what it reads through tx, and nothing else: no clock, no
// randomness, no I/O. If it returns an error, nothing of what it did has
// happened. If it returns what tx.Wait returned, nothing has happened either,
// and it is run again, oldest waiter first, when a tuple that it waits for is
// put. It must not keep tx.
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

// Join returns one set of procedures; two of one name are a programmer's error.
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

// Tx is what a procedure reads and writes. Spaces are named; tuples in them are
// found by template and then known by their Ref.
type Tx interface {
	// Find returns the tuple that a get would take, of those that keep accepts;
	// a nil keep accepts all.
	Find(space string, p tuple.Template, keep func(Entry) bool) (Entry, bool)
	// Scan returns all matches that can be found, in the order of the kind.
	Scan(space string, p tuple.Template) []Entry
	// Held returns all matches that are held, in the order of the kind.
	Held(space string, p tuple.Template) []Entry
	// Entry returns what is known of a ref now.
	Entry(ref int64) (Entry, bool)
	// Count counts the matches that can be found.
	Count(space string, p tuple.Template) int

	// Put adds a tuple. A full space is fault.ErrOverloaded: a procedure does
	// not wait for room.
	Put(space string, t tuple.Tuple, o PutOptions) (ref int64, err error)
	// Take removes a tuple, held or not.
	Take(ref int64) error
	// Replace changes a tuple, held or not, in place.
	Replace(ref int64, t tuple.Tuple) error
	// Extend lets a tuple's TTL begin anew; 0 is no TTL.
	Extend(ref int64, ttl time.Duration) error
	// Hold takes a tuple out of sight but keeps its place. Holding a tuple that
	// is held already changes its hold.
	Hold(ref int64, o HoldOptions) error
	// Done removes a held tuple for good.
	Done(ref int64) error
	// Back makes a held tuple visible: at its old place, or at a new one. If its
	// TTL has passed meanwhile, the TTL acts now.
	Back(ref int64, at Placement) error

	// Now is the wall clock, to be shown and not to be compared with deadlines.
	Now() time.Time
	// NextToken returns a number larger than every one before it.
	NextToken() int64
	// Caller is the session that calls; empty in an expiry.
	Caller() string
	// Alive reports whether a session lives.
	Alive(session string) bool
	// KeepAlive notes that the caller lives: its session's TTL begins anew. It
	// does nothing in a procedure that is run again after it waited.
	KeepAlive()
	// Tell sends a message to a session, if it lives. The message must be a valid
	// tuple.
	Tell(session string, message tuple.Tuple)
	// Call runs another procedure within this transaction.
	Call(procedure string, args tuple.Tuple) (tuple.Tuple, error)
	// Wait is returned by a procedure that found nothing, with what it waits for.
	// A space that does not exist is fault.ErrNotFound.
	Wait(awaited ...Awaited) error
}

// Entry is a tuple in its space, as a procedure sees it.
type Entry struct {
	Ref   int64
	Space string
	Tuple tuple.Tuple
	// Held says that it is held, and Holder by which session; a tuple may be held
	// by nobody, until its hold ends.
	Held   bool
	Holder string
}

// HoldOptions say how long a hold lasts and what ends it.
type HoldOptions struct {
	TTL time.Duration // 0: as long as the session lives
	// Expiry names the procedure that runs, in the same record, when the TTL or
	// the session ends; it gets Expired.Args. The tuple goes back to its old
	// place if the procedure leaves the hold as it was, and if there is none.
	Expiry    string
	NoSession bool // held by no session, as during a back-off; it needs a TTL
}

// Placement says where a held tuple comes back.
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

// Cause says why something expired.
type Cause string

// The causes.
const (
	Due    Cause = "due"    // its time was over
	Lost   Cause = "lost"   // the holder's session stopped beating
	Closed Cause = "closed" // the holder's session ended in order
)

// Expired is what an expiry procedure is told.
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

// Expiring is how an expiry procedure begins: it returns the tuple that expires
// as it is now, and why. Only the engine ends a TTL or a hold: a session that
// calls an expiry by its name is fault.ErrInvalid.
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
