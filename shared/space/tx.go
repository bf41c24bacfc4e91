package space

import (
	"cmp"
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

// WithArgs returns a procedure that calls p if the arguments match wanted; other arguments fail with
// fault.ErrInvalid.
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
	Name      string
	Options   Options
	QueryOnly bool // only the protocol's procedures may put into it and take from it
	Reserving bool // a tenth of its capacity is only for puts with PutOptions.Reserve
	// ShareBy is the index of a string field, not 0: tuples with equal values have one share of the memory (Tx.Share),
	// which the protocol bounds instead of the engine. 0: all tuples of the space have one share.
	ShareBy int
	Check   PutCheck
}

// A PutCheck refuses a tuple that a session puts, by itself and not in a procedure; nil accepts every tuple.
type PutCheck func(tx Tx, t tuple.Tuple) error

// PutChecks returns the checks of the spaces that have one.
func PutChecks(protocols ...[]Definition) map[string]PutCheck {
	checks := map[string]PutCheck{}
	for _, spaces := range protocols {
		for _, d := range spaces {
			if d.Check != nil {
				checks[d.Name] = d.Check
			}
		}
	}
	return checks
}

// ErrQueryOnly returns the error of a change of a space that only its protocol's procedures may
// change: fault.ErrForbidden.
func ErrQueryOnly(name string) error {
	return fmt.Errorf("space %s: %w: it can only be queried", name, fault.ErrForbidden)
}

// QueryOnly returns the names of the spaces that only procedures may change; a name is true in
// the map if it is one.
func QueryOnly(protocols ...[]Definition) map[string]bool {
	names := map[string]bool{}
	for _, spaces := range protocols {
		for _, d := range spaces {
			if d.QueryOnly {
				names[d.Name] = true
			}
		}
	}
	return names
}

// Reserving returns the names of the spaces that keep a reserve.
func Reserving(protocols ...[]Definition) map[string]bool {
	names := map[string]bool{}
	for _, spaces := range protocols {
		for _, d := range spaces {
			if d.Reserving {
				names[d.Name] = true
			}
		}
	}
	return names
}

// ShareBy returns the fields by which the tuples of spaces have shares of the memory.
func ShareBy(protocols ...[]Definition) map[string]int {
	fields := map[string]int{}
	for _, spaces := range protocols {
		for _, d := range spaces {
			if d.ShareBy != 0 {
				fields[d.Name] = d.ShareBy
			}
		}
	}
	return fields
}

// Join returns one set of procedures. It panics if two have the same name, because the mistake is in the program and
// not in its input.
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

// Tx is what a procedure reads and writes. Spaces are named; tuples in them are found by template, and then
// identified by their Ref. Errors of all methods: fault.ErrNotFound if the tuple of a ref is gone or the space does
// not exist, fault.ErrInvalid for an invalid tuple or a negative TTL, fault.ErrTooLarge for attributes beyond their
// bounds.
type Tx interface {
	// Exists reports whether there is a space; the other methods find nothing in one that
	// does not exist.
	Exists(space string) bool
	// Find returns the tuple that a get would take, of the visible ones that keep accepts, and
	// reports whether there is one; a nil keep accepts all.
	Find(space string, p tuple.Template, keep func(Entry) bool) (Entry, bool)
	// Scan returns all visible matches, in the order of the kind.
	Scan(space string, p tuple.Template) []Entry
	// Held returns all matches that are held, in the order of the kind.
	Held(space string, p tuple.Template) []Entry
	// Walk calls f with the tuples that w selects, in the order of the kind, until f
	// returns false. Nothing may be changed meanwhile. It costs O(1) for each tuple, if the
	// template's shape has an index.
	Walk(w Walk, f func(Entry) bool)
	// LastLabelled returns the tuple that Walk with that label visits last, and reports
	// whether there is one.
	LastLabelled(space, label string) (Entry, bool)
	// Entry returns the tuple of a ref as it is now, and reports whether it is there.
	Entry(ref int64) (Entry, bool)
	// Count counts the visible matches. It is O(1) for a template whose shape has an index.
	Count(space string, p tuple.Template) int
	// CountLabelled counts the tuples with a label, visible and held. It is O(1).
	CountLabelled(space, label string) int
	// Free returns how many more tuples fit into a space without PutOptions.Reserve, of how many in all; 0 and 0 for
	// a space that does not exist. It is O(1).
	Free(space string) (free, capacity int)
	// Share returns the memory that the tuples of a space with a value in the field of Definition.ShareBy take, and
	// how much is left for puts without PutOptions.Reserve, in bytes; nearlyFull reports whether that is less than a
	// tenth. Without a budget all are 0. It is O(1).
	Share(space, value string) (used, left int64, nearlyFull bool)

	// Shares calls f with the share of each value of the field Definition.ShareBy that a tuple of a space has, in no
	// order, until f returns false. Nothing may be changed meanwhile. It costs O(1) for each value.
	Shares(space string, f func(Share) bool)

	// Put adds a tuple. If the space is full it fails with fault.ErrOverloaded, because a procedure cannot wait for
	// capacity.
	Put(space string, t tuple.Tuple, o PutOptions) (ref int64, err error)
	// Take removes a tuple, held or not.
	Take(ref int64) error
	// Replace changes a tuple, held or not, in place.
	Replace(ref int64, t tuple.Tuple) error
	// Amend is Replace, and changes the attributes too. A nil tuple stays as it is.
	Amend(ref int64, t tuple.Tuple, a Attributes) error
	// Extend starts a tuple's TTL again with a new length; with 0 it has none.
	Extend(ref int64, ttl time.Duration) error
	// Hold hides a tuple but keeps its place. Holding a held tuple replaces its hold. It fails with fault.ErrInvalid
	// for a hold that nothing would end: one in an expiry, without a TTL and without NoSession.
	Hold(ref int64, o HoldOptions) error
	// Done removes a held tuple for good. It fails with fault.ErrConflict if the tuple is not held.
	Done(ref int64) error
	// Back makes a held tuple visible: at its old place, or at a new one. If its TTL has passed meanwhile, the TTL
	// ends now. It fails with fault.ErrConflict if the tuple is not held.
	Back(ref int64, at Placement) error

	// Now is the wall clock, for display, and to convert a time that a user gave to a
	// duration: deadlines use another clock.
	Now() time.Time
	// Elapsed is the clock of deadlines: it goes on over restarts, and stands still while
	// the process does not run.
	Elapsed() time.Duration
	// RecordHistory adds a record to the history, in the same journal record as the rest of the transaction. It fails
	// with fault.ErrInvalid for an empty key and for one of more than MaxHistoryKey bytes. While the disk is full,
	// nothing is recorded, and it returns nil.
	RecordHistory(key, value string) error
	// NextToken returns a number larger than all that it returned before.
	NextToken() int64
	// Caller is the session that calls; empty in an expiry.
	Caller() string
	// Alive reports whether a session is alive.
	Alive(session string) bool
	// Host returns the machine of a session, as its client reports it; empty if it is not
	// known. In the expiry of a hold whose session has ended, it knows that session too.
	Host(session string) string
	// WorkerName returns the stable name of the process of a session; empty if it has none,
	// or if its client has not come back since a restart.
	WorkerName(session string) string
	// KeepAlive counts as a sign of life of the caller: its session's TTL starts again.
	// It does nothing in a procedure that runs again after it waited, because the
	// caller has sent nothing since.
	KeepAlive()
	// Tell sends a message to a session, if it is alive. The message must be a valid
	// tuple.
	Tell(session string, message tuple.Tuple)
	// Note passes n to the engine's observer if the transaction succeeds. It is not durable: a note may be lost, and the
	// note of a transaction whose commit fails is passed too. n must not be changed afterwards.
	Note(n any)
	// Call runs another procedure within this transaction. If that fails, only what it did is undone, and the calling
	// procedure may go on. Errors: fault.ErrNotFound for an unknown procedure, fault.ErrTooLarge for calls nested too
	// deeply.
	Call(procedure string, args tuple.Tuple) (tuple.Tuple, error)
	// Wait returns the error with which a procedure that found nothing returns, and records what it waits for. For a
	// space that does not exist it returns fault.ErrNotFound.
	Wait(awaited ...Awaited) error
}

// Share is what the tuples of a space have in common that have one value in the field Definition.ShareBy.
type Share struct {
	Value  string
	Tuples int   // visible and held
	Oldest Entry // the visible one that was put first, or placed anew (NewPlace); its Ref is 0 if none is visible
}

// Surveyor is what a Tx may also be: one that can look through a whole space, over
// all signatures of tuples. It is apart from Tx because its cost grows with the
// space, so that no protocol should need it.
type Surveyor interface {
	// Survey returns the tuples that keep accepts, in the order of the kind: the
	// visible ones, and the held ones too if held is set.
	Survey(space string, held bool, keep func(Entry) bool) []Entry
}

// Entry is a tuple in its space, as a procedure sees it. Tuple and Attributes are shared with
// the space, so they must not be changed.
type Entry struct {
	Ref   int64
	Space string
	Tuple tuple.Tuple
	// Held is whether it is held, and Holder the session that holds it; a hold may be
	// without a session.
	Held   bool
	Holder string
	// Attributes were set by the last Put or Amend.
	Attributes
	// Position is its position in the order of the kind.
	Position Position
}

// Attributes are what a procedure knows of a tuple beside its fields. Sessions neither see
// nor change them. They are durable.
type Attributes struct {
	// Fields is a record in the protocol's own encoding, opaque to the engine.
	Fields string
	// Labels are names by which Walk finds the tuple, whether it is visible or held; at
	// most MaxLabels, each of at most MaxLabel bytes.
	Labels []string
	// Turn orders the tuples of an Ordered space whose order fields are equal: the lowest
	// first, and then the oldest.
	Turn int64
}

// Bounds of attributes.
const (
	MaxLabels = 256
	MaxLabel  = 600     // bytes
	MaxFields = 1 << 20 // bytes
)

// Check refuses attributes beyond the bounds with fault.ErrTooLarge.
func (a Attributes) Check() error {
	if len(a.Fields) > MaxFields {
		return fmt.Errorf("attributes of %d bytes, at most %d: %w", len(a.Fields), MaxFields, fault.ErrTooLarge)
	}
	if len(a.Labels) > MaxLabels {
		return fmt.Errorf("%d labels, at most %d: %w", len(a.Labels), MaxLabels, fault.ErrTooLarge)
	}
	for _, l := range a.Labels {
		if len(l) > MaxLabel {
			return fmt.Errorf("a label of %d bytes, at most %d: %w", len(l), MaxLabel, fault.ErrTooLarge)
		}
	}
	return nil
}

// IsZero reports whether a has no attribute.
func (a Attributes) IsZero() bool { return a.Fields == "" && len(a.Labels) == 0 && a.Turn == 0 }

// Walk selects the tuples of a space with Label, visible and held. If Label is empty, it selects the matches of
// Template: the held ones if Held is set, otherwise the visible ones.
type Walk struct {
	Space    string
	Label    string
	Template tuple.Template // not used with a Label
	Held     bool           // not used with a Label
	After    Position       // only those behind it; the zero Position selects all
}

// Position is a place in the order of a space's kind. The zero Position is before all.
type Position struct{ Major, Turn, Minor int64 }

// Compare orders positions by Major, then by Turn, then by Minor: it is negative if p is before
// o, 0 if they are equal, else positive.
func (p Position) Compare(o Position) int {
	if c := cmp.Compare(p.Major, o.Major); c != 0 {
		return c
	}
	if c := cmp.Compare(p.Turn, o.Turn); c != 0 {
		return c
	}
	return cmp.Compare(p.Minor, o.Minor)
}

// HoldOptions limit how long a hold lasts.
type HoldOptions struct {
	TTL time.Duration // 0: as long as the session is alive; without a session, until a procedure ends it
	// Expiry names the procedure that runs, in the same journal record, when the TTL
	// or the session ends; it gets Expired.Args. The tuple goes back to its old place
	// unless the procedure changes the hold. Empty: it goes back.
	Expiry    string
	NoSession bool // held by no session, as during a back-off
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

// TakeArgs encodes what a procedure gets that answers a get from a space: the template, and
// whether the get may wait.
func TakeArgs(p tuple.Template, waits bool) tuple.Tuple { return tuple.New(p.Append(nil), waits) }

// ParseTake decodes what TakeArgs encoded: the template, and whether the get may wait. It fails with fault.ErrInvalid
// for anything else.
func ParseTake(args tuple.Tuple) (p tuple.Template, waits bool, err error) {
	if !tuple.Match(tuple.Formal{Type: tuple.Bytes}, tuple.AnyBool).Matches(args) {
		return nil, false, fmt.Errorf("the arguments of a get: %w: want a template", fault.ErrInvalid)
	}
	data, _ := args[0].([]byte)
	p, rest, err := tuple.DecodeTemplate(data)
	if err != nil || len(rest) > 0 {
		return nil, false, fmt.Errorf("the arguments of a get: %w: want a template", fault.ErrInvalid)
	}
	return p, args.Bool(1), nil
}

// Expired is what an expiry procedure gets as its arguments.
type Expired struct {
	Ref    int64
	Cause  Cause
	Holder string // the session that held it; empty for a TTL
	Beside int64  // other holds with the same expiry procedure that its holder lost with it
}

// Args encodes x as the arguments of an expiry procedure.
func (x Expired) Args() tuple.Tuple {
	return tuple.New(x.Ref, string(x.Cause), x.Holder, x.Beside)
}

// ParseExpired decodes the arguments of an expiry procedure; it fails with fault.ErrInvalid for any other.
func ParseExpired(args tuple.Tuple) (Expired, error) {
	if len(args) != 4 || args.Int64(0) == 0 {
		return Expired{}, fmt.Errorf("expiry arguments %s: %w", args, fault.ErrInvalid)
	}
	return Expired{Ref: args.Int64(0), Cause: Cause(args.Str(1)), Holder: args.Str(2), Beside: args.Int64(3)}, nil
}

// Expiring must be the first call of an expiry procedure: it returns the tuple that expires, as it is now, and why.
// It fails with fault.ErrInvalid if a session calls the procedure by its name, because only the engine ends a TTL or
// a hold, and with fault.ErrNotFound if the tuple is gone.
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
