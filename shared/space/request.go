package space

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/tuple"
)

// OpID identifies one changing operation for ever, so that repeating it returns the
// first answer instead of doing it twice. The session is the caller's. The zero OpID
// is none: such an operation cannot be repeated. An error is not an answer, because
// nothing has happened then: the operation may be tried again.
type OpID struct {
	Session string
	Seq     uint64
}

// AutoSeq is the first of the sequence numbers that connections give to operations
// without one; those below are the caller's to choose.
const AutoSeq uint64 = 1 << 63

// Window is how many answers are kept for a session. Repeating an operation that is this many sequence numbers and
// this many answers behind the session's newest fails with fault.ErrConflict. The caller's numbers and the automatic
// ones have a window each.
const Window = 1024

// WindowBytes is how many bytes of answers are kept for a session, the newest answer excepted. Of older operations it
// is only known that they have happened: repeating one fails with fault.ErrConflict.
const WindowBytes = 8 << 20

// Bounds of requests and replies.
const (
	MaxName       = 255            // bytes of a name of a space, session or procedure
	MaxReply      = 4<<20 - 64<<10 // bytes of all tuples in one reply: it fits a frame of 4 MiB
	ReplyOverhead = 32             // bytes that each tuple in a reply counts beside its own
	// MaxAcknowledged is how many further gets one VerbAck or VerbBack may end.
	MaxAcknowledged = 64
)

// Verb is the operation that a request asks for.
type Verb uint8

// The verbs. Get, Query, Put into a full space, Call of a procedure that waits,
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
	VerbAck  // ends gets with Ack: what they took is gone for good
	VerbBack // ends gets with Ack: what they took comes back to its old place
	VerbGetUpTo
	VerbQueryUpTo
)

var verbNames = [...]string{"", "create", "list", "put", "putp", "get", "getp", "getall", "query",
	"queryp", "queryall", "count", "call", "receive", "notify", "next", "unnotify", "end", "ack", "back", "getupto", "queryupto"}

// String returns the verb's name, as traces and errors have it; "" for an unknown number.
func (v Verb) String() string {
	if int(v) < len(verbNames) {
		return verbNames[v]
	}
	return ""
}

// Changes reports whether the verb changes tuples or spaces, so that an
// operation id makes sense for it.
func (v Verb) Changes() bool {
	return v == VerbCreate || v == VerbPut || v == VerbPutP || v.Takes() || v == VerbCall
}

// Takes reports whether the verb takes tuples out of a space.
func (v Verb) Takes() bool { return v == VerbGet || v == VerbGetP || v.TakesMany() }

// TakesMany reports whether the verb takes any number of tuples out of a space.
func (v Verb) TakesMany() bool { return v == VerbGetAll || v == VerbGetUpTo }

// KeepsAnswer reports whether the gate keeps the answer until the client acknowledges it. The engine
// does not know such a call by its operation id, so a repetition would find nothing.
func (v Verb) KeepsAnswer() bool { return v == VerbReceive || v == VerbNext || v == VerbNotify }

// Request is one call as it travels to the engine. The verb decides which fields are
// used.
type Request struct {
	Verb         Verb
	Op           OpID
	Space        string
	Tuple        tuple.Tuple // of a put
	Template     tuple.Template
	TTL          time.Duration // of a put
	Limit        int           // of VerbGetUpTo and VerbQueryUpTo: tuples, at least 1
	Procedure    string        // of a call
	Args         tuple.Tuple   // of the procedure
	Options      Options       // of a create
	Subscription int64         // of VerbNext and VerbUnnotify
	// Acknowledged are further sequence numbers of the session's gets, beside Op.Seq,
	// that a VerbAck or VerbBack ends: at most MaxAcknowledged.
	Acknowledged []uint64
	// Ack means that the answer to a verb that Takes may get lost on its way. No other
	// session sees what it took, but the tuples come back to their old place if the
	// session ends before VerbAck with the same Op confirms that the answer arrived.
	Ack bool
	// Recent means that the session has at most Window operations unanswered at a time.
	// Then the answer to this operation is still kept if there was one, and it may
	// happen now if there was none, however far its number is behind the newest.
	Recent bool
	// Shared means that the reply may contain the space's own tuples instead of copies,
	// because the caller only reads them. It does not travel.
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

// Target returns the name of the procedure or space that a request is about, for
// messages.
func (r Request) Target() string {
	if r.Verb == VerbCall {
		return r.Procedure
	}
	return r.Space
}

// String returns what r asks for, as errors name it.
func (r Request) String() string { return strings.TrimSpace(r.Verb.String() + " " + r.Target()) }

// Operation returns the procedure of a call, or the name of any other verb.
func (r Request) Operation() string {
	if r.Verb == VerbCall {
		return r.Procedure
	}
	return r.Verb.String()
}

// Validate refuses with fault.ErrInvalid requests that no engine accepts in any
// state: malformed tuples and templates, names that are too long, a negative TTL.
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
		return fmt.Errorf("%w: a TTL of %s, want 0 or more", fault.ErrInvalid, r.TTL)
	}
	if limited := r.Verb == VerbGetUpTo || r.Verb == VerbQueryUpTo; limited && r.Limit < 1 {
		return fmt.Errorf("%w: at most %d tuples, want a limit of at least 1", fault.ErrInvalid, r.Limit)
	}
	return nil
}

// Reply is the engine's answer to a request.
type Reply struct {
	Found        bool          // a match, a message or an event, for the verbs that look for one
	Tuple        tuple.Tuple   // that was found, or the result of a procedure
	Tuples       []tuple.Tuple // that a verb for several tuples found
	Count        int
	Infos        []Info
	Events       []Event
	Missed       int // events that were dropped because the subscriber was slow
	Subscription int64
}

// Change is what happened to a tuple.
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
