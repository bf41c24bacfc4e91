// Package journal makes an engine durable: it is a log of records. A record is one
// transaction, kept as the facts that it established.
//
// A record holds effects, not requests: replaying it needs neither procedures
// nor clocks, and the order of records is the order of everything. A driver may
// keep records as a log or fold them into the newest fact for each key; Load
// yields facts either way.
//
// Invariants: records are applied whole or not at all, in the order of Commit;
// a position is the number of records committed so far, so that a writer that
// expects another position than the journal's learns that there is another writer.
//
// This package has the interface, the facts and the memory driver. It knows
// nothing of waiters, timers or procedures.
package journal

import (
	"context"
	"errors"
	"time"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// ErrFenced means that the journal is not at the position that the writer expects,
// because another writer has written. Nothing of the batch was written.
var ErrFenced = errors.New("journal: another writer has moved it on")

// Position is the number of records committed.
type Position uint64

// Journal is one durable log. An engine calls Load once, then Commit from one
// goroutine at a time; after an error it calls Load again before it commits.
type Journal interface {
	// Load passes every fact that holds to restore, in no particular order, and returns where the
	// journal stands and the clock of the last record. An error of restore ends it and is returned.
	Load(ctx context.Context, restore func(Fact) error) (Standing, error)
	// Commit makes the records durable, in order, if the journal stands at expected. ErrFenced and
	// ErrFull mean that nothing was written; any other error leaves the outcome unknown. The
	// journal owns the records from now on.
	Commit(ctx context.Context, expected Position, records []Record) error
	// The history may be read and trimmed concurrently with everything else.
	space.History
	HistoryTrimmer
	// Close ends it. Who made the journal closes it, once the engine has ended.
	Close() error
}

// Standing is where a journal stands.
type Standing struct {
	Position Position
	Clock    time.Duration // elapsed engine time at the last record
	Ref      int64         // the highest Ref, Place or Seq of all entries and history records there ever were
}

// Record is one transaction.
type Record struct {
	Clock time.Duration // elapsed engine time when it happened
	Facts []Fact
}

// Fact is one thing that an engine must remember: *Entry, Gone, *Space,
// Deleted, *Session, Ended, *Answer, Forgotten, Token or *Historic. Facts are immutable.
type Fact interface{ fact() }

// Entry records that a tuple is in a space. A later Entry of the same Ref replaces
// it.
type Entry struct {
	Ref      int64
	Space    string
	Place    int64 // its order among the tuples of the space
	Tuple    tuple.Tuple
	Deadline time.Duration // engine time at which its TTL acts; 0: never
	Expiry   string        // procedure
	Owner    string        // the session that an ephemeral tuple is tied to
	Hold     *Hold         // nil: it can be found
	// Attributes are the protocol's; nil: none. They must not be changed.
	Attributes *space.Attributes
}

// Hold records that a tuple is held.
type Hold struct {
	Session string        // empty: by no session
	Due     time.Duration // engine time at which it expires; 0: with the session
	Expiry  string        // procedure
	// Op is the sequence number of the session's get that took the tuple and was
	// not acknowledged yet: the tuple is gone for every session, and is back when the
	// session ends. 0: it is held by a procedure.
	Op uint64
}

// Gone records that the tuple of that ref has left its space.
type Gone int64

// Space records that a space exists.
type Space struct {
	Name    string
	Options space.Options
}

// Deleted records that the space of that name is gone. Its tuples are Gone one by one.
type Deleted string

// Session records that a session lives.
type Session struct {
	ID  string
	TTL time.Duration // without a sign of life; 0: for ever
	Key []byte        // SHA-256 of the secret that a client needs to come back to it; nil: none
}

// Ended records that a session has ended.
type Ended string

// Answer is what an operation was answered. It goes when it is Forgotten or its
// session has Ended.
type Answer struct {
	Op    space.OpID
	Nth   uint64 // of the answers to its session
	Reply space.Reply
	// DroppedBytes is the size of the reply's tuples if they are no longer kept: then
	// Reply has none, and the operation is known to have happened. 0: Reply is whole.
	DroppedBytes int
}

// Forgotten records that the answer to an operation is no longer kept.
type Forgotten space.OpID

// Token records that tokens up to this one have been given out.
type Token int64

func (*Entry) fact()    {}
func (Gone) fact()      {}
func (*Space) fact()    {}
func (Deleted) fact()   {}
func (*Session) fact()  {}
func (Ended) fact()     {}
func (*Answer) fact()   {}
func (Forgotten) fact() {}
func (Token) fact()     {}
