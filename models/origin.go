package models

import "time"

// OriginKind says how an origin is visited.
type OriginKind string

// The kinds of origin.
const (
	Feed  OriginKind = "feed"  // an RSS or Atom document whose items enclose episodes
	Media OriginKind = "media" // a folder of episodes
	Clips OriginKind = "clips" // a folder of clips
	Git   OriginKind = "git"   // a repository, visited by its refs

	// Listers: a visit of one names other origins.
	OPML         OriginKind = "opml"         // a document of feeds
	URLs         OriginKind = "urls"         // a text file, a feed's or repository's URL on each line
	Repositories OriginKind = "repositories" // a folder of repositories

	API OriginKind = "api" // a curator that puts episodes and clips itself; never visited
)

// OriginKinds lists every kind that is visited, for messages that say what is
// accepted.
var OriginKinds = []OriginKind{Feed, Media, Clips, Git, OPML, URLs, Repositories}

// Listers are the kinds whose visits name other origins.
var Listers = []OriginKind{OPML, URLs, Repositories}

// Origin is something that is visited again and again because it lists
// recordings.
type Origin struct {
	ID       string     `json:"id"` // NewID(kind, uri)
	Kind     OriginKind `json:"kind"`
	URI      string     `json:"uri"` // an http(s) URL, or an absolute path
	Priority int64      `json:"priority" doc:"of its recordings, unless they have their own; higher is sooner; of a lister, above 0: first visits of the origins it lists come first"`
	AddedAt  time.Time  `json:"added_at"`
	// Listed says that a lister named it, not the operator, so that it is trusted with
	// nothing: a private address is not dialled for it.
	Listed bool `json:"listed,omitempty" doc:"a lister listed it, not the operator: private addresses are not dialled for it"`

	LastVisit   time.Time `json:"last_visit,omitzero"`
	LastOutcome Status    `json:"last_outcome,omitempty" doc:"eventful, uneventful, failed, not_found or lost"`
	LastError   string    `json:"last_error,omitempty"`
}

// Status is how a visit ended.
type Status string

// The outcomes of a visit.
const (
	Eventful   Status = "eventful"   // something was new or had changed
	Uneventful Status = "uneventful" // nothing was
	Failed     Status = "failed"     // the origin could not be read
	NotFound   Status = "not_found"  // it is not there any more
	Lost       Status = "lost"       // whoever visited went away
)

// Visit is the body of a visit tuple: one time to look at one origin.
type Visit struct {
	ID     string `json:"id"`
	Origin Origin `json:"origin"`
	Known  Known  `json:"known,omitzero"`
	// Listed says that a lister named the origin, not the operator.
	Listed bool `json:"listed,omitempty"`
}

// Known is what an earlier visit left, so that this one can ask whether anything
// has changed since.
type Known struct {
	Digest   string    `json:"digest,omitempty"`
	ETag     string    `json:"etag,omitempty"`
	Modified string    `json:"modified,omitempty"` // Last-Modified, as the server wrote it
	At       time.Time `json:"at,omitzero"`
	Next     int       `json:"next,omitempty"` // Listed.Next of a lister's visit before
}

// Outcome is the body of the result of a visit.
type Outcome struct {
	Visit  string    `json:"visit"`
	Origin string    `json:"origin"`
	Status Status    `json:"status"`
	Error  string    `json:"error,omitempty" doc:"why it failed"`
	Items  int       `json:"items" doc:"recordings listed"`
	At     time.Time `json:"at"`
	Took   Seconds   `json:"took_s"`

	// What tells when to look again. Digest is equal while nothing changes; an
	// outcome without one is as its status says.
	Digest     string      `json:"digest,omitempty" doc:"of the visited content: equal while nothing changes"`
	ETag       string      `json:"etag,omitempty"`
	Modified   string      `json:"modified,omitempty" doc:"Last-Modified"`
	Changes    int         `json:"changes,omitempty" doc:"since the last success, if they can be counted"`
	ChangedAt  []time.Time `json:"changed_at,omitempty" doc:"times of the latest changes, at most 500"`
	Size       int64       `json:"size,omitempty" doc:"bytes that were read"`
	RetryAfter Seconds     `json:"retry_after_s,omitempty"`

	Listed *Listed `json:"listed,omitempty" doc:"of a lister"`
}

// MaxListed is how many origins one visit of a lister names; the next visit goes on
// where it ended.
const MaxListed = 5000

// MaxChanges is how many times of changes an outcome carries.
const MaxChanges = 500

// Listed is what a lister named.
type Listed struct {
	Origins []ListedOrigin `json:"origins"`
	// Full says that it named all there are, and ended well: what it did not name
	// is not visited until it names it again.
	Full bool `json:"full,omitempty" doc:"these and the origins of the visits before are the whole list"`

	// From is how many origins the visits before this one named of the same list, and
	// Next how many they have named with it, if there are more: another visit goes
	// on there. 0 is the beginning, and the end.
	From int `json:"from,omitempty" doc:"number of origins that the visits before listed"`
	Next int `json:"next,omitempty" doc:"number of origins listed so far, if there are more"`
}

// ListedOrigin is one origin as a lister names it.
type ListedOrigin struct {
	Kind    OriginKind `json:"kind"`
	URI     string     `json:"uri"`
	Created time.Time  `json:"created,omitzero"`
	Updated time.Time  `json:"updated,omitzero"`
}
