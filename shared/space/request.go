package space

import (
	"time"

	"leasehold/shared/tuple"
)

// OpID identifies one changing operation for ever, so that repeating it returns
// the first answer instead of doing it twice. The zero OpID is none: such an
// operation cannot be repeated.
type OpID struct {
	Session string
	Seq     uint64
}

// Window is how many answers are kept for a session: an operation whose sequence
// number is this much below the session's newest can no longer be repeated.
const Window = 1024

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
)

var verbNames = [...]string{"", "create", "list", "put", "putp", "get", "getp", "getall", "query",
	"queryp", "queryall", "count", "call", "receive", "notify", "next", "unnotify", "end"}

// String returns the verb's name.
func (v Verb) String() string {
	if int(v) < len(verbNames) {
		return verbNames[v]
	}
	return ""
}

// Request is one call as it travels to the engine. Which fields count depends
// on the verb.
type Request struct {
	Verb         Verb
	Op           OpID
	Space        string
	Tuple        tuple.Tuple // to put, or a procedure's arguments
	Template     tuple.Template
	TTL          time.Duration // of a put
	Procedure    string
	Options      Options // of a create
	Subscription int64
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
