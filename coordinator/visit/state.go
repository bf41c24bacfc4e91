package visit

import "math"

// Never stands for a time that has not come, a date that nobody gave, or a target
// that was never set. 0 is a time like any other.
const Never int64 = math.MinInt64

// Latest is the last second that is worked with: the end of the year 9999.
const Latest int64 = 253402300799

const day = 86400 // seconds

// State is what is remembered of an origin for deciding when to look again.
type State struct {
	Key    int64 // of the origin in the store; ties are broken by it
	Lister int32 // whose dates LastUpdate are; 0: none

	FirstSeen, LastSeen int64 // in a listing
	Created             int64 // as the lister says; Never: it does not
	LastUpdate          int64 // the latest that the lister gave

	LastScheduled int64
	LastVisit     int64 // the date of the latest outcome
	LastSuccess   int64
	LastStatus    Status // of the latest outcome
	LastDigest    string // of the latest success
	Target        int64
	Index         int // of the interval
	Failures      int // in a row
	Disabled      Reason
	NotBefore     int64 // the origin asked for patience (Retry-After)

	// Changes and Days are what visits taught of the rate: changes seen in so many
	// days watched, both decaying.
	Changes, Days float64
}

// NewState is an origin that was seen first at a time, and never visited.
func NewState(key, at int64, r Rules) State {
	at = clampTime(at)
	return State{
		Key: key, FirstSeen: at, LastSeen: at, Created: Never, LastUpdate: Never, LastScheduled: Never,
		LastVisit: Never, LastSuccess: Never, Target: Never, Index: r.FirstIndex, NotBefore: Never,
	}
}

// Enabled reports whether the origin takes part.
func (s State) Enabled() bool { return s.Disabled == "" }

// Reason says why an origin is disabled.
type Reason string

// The reasons. The next listing takes back all but the operator's.
const (
	ByFailures Reason = "failures"
	ByLister   Reason = "lister" // a full listing did not name it
	ByOperator Reason = "operator"
)

// Status is how a visit ended, as far as its origin is concerned.
type Status string

// The final statuses; any other is ignored.
const (
	Full     Status = "full"
	Partial  Status = "partial" // a success if it has a digest
	Failed   Status = "failed"
	NotFound Status = "not_found"
)

// An Event is the outcome of a visit.
type Event struct {
	Status Status
	At     int64
	Digest string // of what was found; empty: none
	// Fudge spreads targets: a number in [-1, 1] times Rules.Fudge. It is drawn by
	// the caller, so that recording is repeatable.
	Fudge float64
	// Changes is how many changes the visit saw in the Span days before it, if it
	// can count them (0 with a Span above 0 is a count); without a Span the digest
	// tells only whether there was one.
	Changes, Span float64
	NotBefore     int64 // Retry-After; 0 or Never: none
}

// success reports whether the event is one.
func (e Event) success() bool {
	return (e.Status == Full || e.Status == Partial) && e.Digest != ""
}

// clamped has times that arithmetic can be done with.
func (e Event) clamped() Event {
	e.At, e.NotBefore = clampTime(e.At), clampTime(e.NotBefore)
	return e
}

func (e Event) final() bool {
	switch e.Status {
	case Full, Partial, Failed, NotFound:
		return true
	}
	return false
}

// Effect says what an event did.
type Effect struct {
	Ignored string // why nothing was done; empty: it was recorded
	Success bool
	Changed bool
	First   bool // it was the first outcome of the origin
}

// The reasons for which an event is ignored.
const (
	NotFinal = "not final"
	NotNewer = "not newer than the last visit"
	InFuture = "from the future"
)
