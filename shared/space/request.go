package space

import (
	"errors"
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/tuple"
)

// OpID identifies one changing operation for ever, so that repeating it returns
// the first answer instead of doing it twice. The session is the one that asks.
// The zero OpID is none: such an operation cannot be repeated. An error is not
// an answer: nothing has happened, and the operation may be tried again.
type OpID struct {
	Session string
	Seq     uint64
}

// AutoSeq is the first of the sequence numbers that connections give to the
// operations that have none; those below are the caller's to choose.
const AutoSeq uint64 = 1 << 63

// Window is how many answers are kept for a session: an operation that is this
// many sequence numbers and this many answers behind the session's newest can no
// longer be repeated, and is fault.ErrConflict. The caller's numbers and the
// automatic ones have a window each.
const Window = 1024

// WindowBytes is how many bytes of answers are kept for a session, the newest
// alone excepted. What older operations were answered is forgotten, though not
// that they have happened: to repeat one is fault.ErrConflict.
const WindowBytes = 8 << 20

// Bounds of what is asked and answered.
const (
	MaxName       = 255            // bytes of a name of a space, session or procedure
	MaxReply      = 4<<20 - 64<<10 // bytes of all tuples in one reply: it fits a frame of 4 MiB
	ReplyOverhead = 32             // bytes that each tuple in a reply counts beside its own
	// MaxAcknowledged is how many further gets one VerbAck or VerbBack may end.
	MaxAcknowledged = 64
)

// Verb says what a request wants.
type Verb uint8

// The verbs. Get, Query, Put on a full space, Call of a procedure that waits,
// Receive and Next block.
const (
	VerbCreate Verb = iota + 1
	VerbList
	VerbPut
	VerbPutP
	VerbGet
	VerbGetP
	VerbGetAll
	VerbQuery
	VerbQueryP
	VerbQueryAll
	VerbCount
	VerbCall
	VerbReceive
	VerbNotify
	VerbNext
	VerbUnnotify
	VerbEnd
	VerbAck  // ends the hold that a get with Ack left, for good
	VerbBack // ends it the other way: what was taken is back at its old place
)

var verbNames = [...]string{"", "create", "list", "put", "putp", "get", "getp", "getall", "query",
	"queryp", "queryall", "count", "call", "receive", "notify", "next", "unnotify", "end", "ack", "back"}

// String returns the verb's name.
func (v Verb) String() string {
	if int(v) < len(verbNames) {
		return verbNames[v]
	}
	return ""
}

// Changes reports whether the verb changes tuples or spaces, so that an
// operation id makes sense for it.
func (v Verb) Changes() bool {
	switch v {
	case VerbCreate, VerbPut, VerbPutP, VerbGet, VerbGetP, VerbGetAll, VerbCall:
		return true
	}
	return false
}

// Takes reports whether the verb takes tuples out of a space.
func (v Verb) Takes() bool { return v == VerbGet || v == VerbGetP || v == VerbGetAll }

// Request is one call as it travels to the engine. Which fields count depends
// on the verb.
type Request struct {
	Verb         Verb
	Op           OpID
	Space        string
	Tuple        tuple.Tuple // to put
	Template     tuple.Template
	TTL          time.Duration // of a put
	Procedure    string
	Args         tuple.Tuple // of the procedure
	Options      Options     // of a create
	Subscription int64
	// Acknowledged are further sequence numbers of the session's gets, beside Op.Seq,
	// that a VerbAck or VerbBack ends: at most MaxAcknowledged.
	Acknowledged []uint64
	// Ack says that the answer to a verb that Takes may get lost on its way. What
	// it takes is gone for everybody, but comes back to its old place if the
	// session ends before VerbAck with the same Op has said that it arrived.
	Ack bool
	// Recent says that the session has at most Window operations unanswered at a
	// time: so if this one was answered, the answer is still kept, and if not, it
	// may happen now, however many numbers have overtaken it.
	Recent bool
	// Shared says that the answer's tuples may be the space's own, since whoever
	// asks only reads them. It does not travel.
	Shared bool
}

// ReplyTuple returns the tuple as a reply to the request may contain it: a copy, or t
// itself if the request is Shared.
func (r Request) ReplyTuple(t tuple.Tuple) tuple.Tuple {
	if r.Shared {
		return t
	}
	return t.Clone()
}

// Target names what a request is about, for messages.
func (r Request) Target() string {
	if r.Verb == VerbCall {
		return r.Procedure
	}
	return r.Space
}

// Operation names what is to be done: the procedure of a call, else the verb.
func (r Request) Operation() string {
	if r.Verb == VerbCall {
		return r.Procedure
	}
	return r.Verb.String()
}

// Validate refuses with fault.ErrInvalid what no engine looks at: tuples and
// templates that are none, names that are too long, a negative TTL.
func (r Request) Validate() error {
	if err := errors.Join(r.Tuple.Validate(), r.Args.Validate(), r.Template.Validate()); err != nil {
		return fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	}
	for _, name := range []string{r.Space, r.Procedure, r.Op.Session, string(r.Options.Kind), string(r.Options.Overflow)} {
		if len(name) > MaxName {
			return fmt.Errorf("%w: a name of %d bytes, at most %d", fault.ErrInvalid, len(name), MaxName)
		}
	}
	if len(r.Acknowledged) > MaxAcknowledged {
		return fmt.Errorf("%w: %d sequence numbers to acknowledge, at most %d", fault.ErrInvalid, len(r.Acknowledged), MaxAcknowledged)
	}
	if r.TTL < 0 {
		return fmt.Errorf("%w: a TTL of %s", fault.ErrInvalid, r.TTL)
	}
	return nil
}

// Reply is the engine's answer to a request.
type Reply struct {
	Found        bool // a match, for the verbs that look for one
	Tuple        tuple.Tuple
	Tuples       []tuple.Tuple
	Count        int
	Infos        []Info
	Events       []Event
	Missed       int // events lost because the subscriber was slow
	Subscription int64
}

// Change says what happened to a tuple.
type Change string

// The changes that are notified and traced.
const (
	Put     Change = "put"
	Take    Change = "take"
	Replace Change = "replace" // in place
	Hold    Change = "hold"
	Back    Change = "back"
	Done    Change = "done" // taken while it was held
)

// Event is one change to a tuple in a space.
type Event struct {
	Change    Change
	Space     string
	Procedure string // that made it; empty for a plain operation
	Tuple     tuple.Tuple
}
