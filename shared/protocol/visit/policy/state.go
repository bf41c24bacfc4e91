package policy

import "math"

// Never marks an unknown time, or one not set. 0 is a time like any other.
const Never int64 = math.MinInt64

// Latest is the largest time: the last second of the year 9999.
const Latest int64 = 253402300799

const day = 86400 // seconds

// State is the record of an origin from which a policy decides when to visit it.
type State struct {
	Type   string // of its visits: the kind of origin
	Key    int64  // identifies the origin; the smaller key wins ties
	Lister int32  // the lister that gave LastUpdate; 0: none

	FirstSeen, LastSeen int64 // in a listing
	Created             int64 // date that the lister gave; Never: none
	Fork                bool  // of another origin
	Every               int64 // seconds between two visits that a user fixed; 0: the policy decides
	Told                bool  // its dates come from those who tell of its changes (Tell), not from its lister
	ToldAt              int64 // first report of a change since the last visit began; Never: none
	ToldFalse           int   `json:",omitempty"` // visits in a row that found no change although one was reported
	LastUpdate          int64 // latest date that the lister gave; Never: none
	Dates               int   // that it gave since the last success

	LastScheduled int64
	LastVisit     int64 // date of the latest outcome
	LastSuccess   int64
	LastStatus    Status // of the latest outcome
	LastDigest    string // of the latest success
	Target        int64
	Index         int // into Rules.Intervals
	Failures      int // in a row
	Disabled      Reason
	NotBefore     int64 // end of the origin's Retry-After; Never: none
	Refusals      int   `json:",omitempty"` // visits in a row that ended with a Retry-After
	FreshUntil    int64 // until when its server called its answer fresh; Never: not at all

	// Changes seen in Days watched, from which the rate is estimated. Both lose weight
	// with time (Rules.HalfLifeDays).
	Changes, Days float64
	Recent        Recent  // dates of the last changes that visits found
	Window        int     // items that its document has, which loses older ones; 0: it loses none
	Overflows     int     // visits that found a document that had probably lost items unseen
	Missed        int     // items that these documents had probably lost
	LastRead      int64   // last success that read the content and not only that it was unmodified; Never: none
	Activity      float64 // factor on the rate after the silence before the last success (Rules.Activity); 0: 1
}

// NewState returns the state of an origin that was first seen at a time.
func NewState(key, at int64, r Rules) State {
	at = clampTime(at)
	return State{
		Key: key, FirstSeen: at, LastSeen: at, Created: Never, LastUpdate: Never, ToldAt: Never, LastScheduled: Never,
		LastVisit: Never, LastSuccess: Never, Target: Never, Index: r.FirstIndex, NotBefore: Never, FreshUntil: Never,
		LastRead: Never,
	}
}

// Begin records that a visit begins. It answers the reports of changes so far.
func (s *State) Begin(at int64) { s.LastScheduled, s.ToldAt = at, Never }

// Enabled reports whether the origin is scheduled at all.
func (s State) Enabled() bool { return s.Disabled == "" }

// Reason is why an origin is disabled; empty: it is enabled.
type Reason string

// A listing that names the origin enables it again, unless the reason is ByOperator or
// ByGone (see Listed).
const (
	ByFailures Reason = "failures"
	ByGone     Reason = "gone"   // its server answered that it is gone for good
	ByLister   Reason = "lister" // its lister's full listing did not name it
	ByOperator Reason = "operator"
)

// Status is how a visit ended.
type Status string

// The final statuses; Record ignores events with any other.
const (
	Full     Status = "full"
	Partial  Status = "partial" // counts as a success if the event has a digest
	Failed   Status = "failed"
	NotFound Status = "not_found"
	Gone     Status = "gone" // not found, for good
)

// An Event is the outcome of a visit.
type Event struct {
	Status Status
	At     int64
	Digest string // of the content found; empty: none
	// Fudge is the share by which the interval varies, so that targets spread out. The
	// caller draws it, because recording must be repeatable.
	Fudge float64
	// Changes is the number of changes in the Span days before the visit. If Span is 0
	// the visit cannot count, and the digest shows only whether there was a change.
	Changes, Span float64
	// Times are the dates of changes that the visit found, ascending and not after At; at most the last
	// MostTimes count for habits. The caller may use the slice again.
	Times []int64
	// Open is true if the visit saw back to the first of Times and no further, and no change before that is known.
	// Changes and Span then do not count. It has no effect without Times.
	Open bool
	// Window is the number of items in a document that loses old ones; 0: it loses none, or nothing was read.
	Window     int
	Unmodified bool  // the server reported that nothing has changed, and sent no content
	NotBefore  int64 // end of a Retry-After; 0 or Never: none
	FreshUntil int64 // until when the server calls its answer fresh; 0 or Never: not at all
}

// MostTimes is how many dates of changes an Event can use.
const MostTimes = 16

// success reports whether the visit saw the whole or a part of the origin's content.
func (e Event) success() bool {
	return (e.Status == Full || e.Status == Partial) && e.Digest != ""
}

// clamped limits the times, so that arithmetic on them does not overflow, clears Open without Times, and leaves out
// pinned items.
func (e Event) clamped() Event {
	e.At, e.NotBefore, e.FreshUntil = clampTime(e.At), clampTime(e.NotBefore), clampTime(e.FreshUntil)
	e.Open = e.Open && len(e.Times) > 0
	e.Times = withoutPinned(e.Times, e.At)
	return e
}

// final reports whether the visit has ended.
func (e Event) final() bool {
	switch e.Status {
	case Full, Partial, Failed, NotFound, Gone:
		return true
	}
	return false
}

// Effect is what recording an event did.
type Effect struct {
	Ignored string // why the event was not recorded; empty: it was recorded
	Success bool
	Changed bool // the digest differs from the last success
	First   bool // the origin had no outcome before
	Missed  int  // items that the document has probably lost since the last success
}

// The values of Effect.Ignored.
const (
	NotFinal = "not final"
	NotNewer = "not newer than the last visit"
	InFuture = "from the future"
)
