package models

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Origin is a source to visit periodically, because it lists recordings or other origins.
type Origin struct {
	ID       string     `json:"id" schema:"id"` // NewID(kind, uri)
	Kind     OriginKind `json:"kind" schema:"kind"`
	URI      string     `json:"uri" schema:"anyURI"` // an http(s) URL, or an absolute path
	Priority int64      `json:"priority" doc:"of its recordings, unless they have their own; higher is sooner; of a lister, above 0: first visits of the origins it lists come first"`
	AddedAt  time.Time  `json:"added_at,omitzero"`
	// Every is the fixed time between two visits of an added origin; 0 leaves it to the policy, nil leaves it as it
	// is. The schedule keeps it, not the catalog.
	Every *Seconds `json:"every_s,omitempty" doc:"fixed seconds between two visits, when it is added; 0: the policy decides; absent: unchanged" schema:"every"`
	// Hours are those in which an added origin may be visited; AnyHours takes them back, nil leaves them as they are.
	// The schedule keeps them, not the catalog.
	Hours *Hours `json:"hours,omitempty" doc:"hours in which it may be visited, when it is added, such as 22:00-06:00@Europe/Berlin; any: at any time; absent: unchanged" schema:"hours"`
	// Branches are the branches to index of a repository, or of the repositories that a lister lists: names, patterns
	// of path.Match, or HEAD. If empty, the manager's setting applies. nil, when the origin is added, leaves them as
	// they are.
	Branches []string `json:"branches,omitzero" doc:"branches that are indexed: names, patterns such as release-*, or HEAD; of a lister, of the repositories that it lists; empty: the manager's setting; absent, when it is added: unchanged" schema:"branches"`
	// Tags are the tags to index beside the branches, as Branches are: names, or patterns of path.Match. If empty, the
	// manager's setting applies. nil, when the origin is added, leaves them as they are.
	Tags []string `json:"tags,omitzero" doc:"tags that are indexed beside the branches: names, or patterns such as v*; the newest, at most 64 with the branches; of a lister, of the repositories that it lists; empty: the manager's setting; absent, when it is added: unchanged" schema:"branches"`
	// Listed is true if a lister or a client on another machine named the origin, and the operator did not. Such
	// an origin is not trusted: no private address is dialled for it.
	Listed bool `json:"listed,omitempty" doc:"a lister or another machine named it, not the operator: private addresses are not dialled for it"`
	// Disabled is why it is not visited; empty: it is enabled. The schedule keeps it, not the
	// catalog, and only lists and pages of origins have it.
	Disabled string `json:"disabled,omitempty" schema:"enum: ['', failures, gone, lister, operator]" doc:"why it is not visited; absent: it is enabled"`

	// MovesTo is an address that the feed gave as its new one at each visit since MovesSince; MovedFrom is the URI
	// that the origin had before it last moved.
	MovesTo    string    `json:"moves_to,omitempty" doc:"address that a feed gives as its new one, or to which the server redirects for good; it becomes the uri if a visit a day later still finds it and what the origin has is read there"`
	MovesSince time.Time `json:"moves_since,omitzero" doc:"of moves_to: first visit that found it"`
	MovedFrom  string    `json:"moved_from,omitempty" doc:"the uri before the origin moved"`

	LastVisit   time.Time `json:"last_visit,omitzero"`
	LastOutcome Status    `json:"last_outcome,omitempty" doc:"eventful, uneventful, failed, not_found or lost"`
	LastError   string    `json:"last_error,omitempty"`
}

// Visiting is what a user fixes of when an origin is visited, as in Origin. nil leaves it as it is.
type Visiting struct {
	Every *Seconds
	Hours *Hours
}

// EveryRule is the end of an error about an interval: what ValidEvery accepts.
const EveryRule = "want 0 (the policy decides), or from 1m to 876000h"

// ValidEvery reports whether an interval between two visits can be fixed: 0, or from a
// minute to a hundred years.
func ValidEvery(every Seconds) bool {
	return every == 0 || every >= 60 && every <= 876000*3600
}

// BranchRule is the end of an error about branches or tags: what ValidBranches accepts.
const BranchRule = "want at most 64 names, patterns such as release-*, or HEAD, each of 1 to 255 characters without spaces"

// BranchPattern is a regular expression of the names and patterns that ValidBranches accepts, apart from their length.
const BranchPattern = `^(` + branchChar + `|[*?]|` + branchClass + `)(` + branchChar + `|[-*?]|` + branchClass + `)*$`

// Parts of BranchPattern: one character, which may be escaped, and a class of characters as path.Match reads it.
const (
	branchChar  = `[^\x00-\x20\x7f\\\[*?-]|\\[^\x00-\x20\x7f]`
	branchEnd   = `(-([^\x00-\x20\x7f\\\]-]|\\[^\x00-\x20\x7f]))?`
	branchRange = `([^\x00-\x20\x7f\\\]-]|\\[^\x00-\x20\x7f])` + branchEnd
	branchFirst = `([^\x00-\x20\x7f\\\]^-]|\\[^\x00-\x20\x7f])` + branchEnd // a ^ there excludes the class
	branchClass = `\[(\^` + branchRange + `|` + branchFirst + `)(` + branchRange + `)*\]`
)

// ValidBranches reports whether these branches can be selected.
func ValidBranches(branches []string) bool {
	return len(branches) <= 64 && !slices.ContainsFunc(branches, func(b string) bool { return !validBranch(b) })
}

// validBranch reports whether b is a name or a pattern of path.Match that git does not take for
// an option.
func validBranch(b string) bool {
	_, err := path.Match(b, "")
	isSpace := func(r rune) bool { return r <= ' ' || r == 0x7f }
	return err == nil && b != "" && utf8.RuneCountInString(b) <= 255 && b[0] != '-' && utf8.ValidString(b) && !strings.ContainsFunc(b, isSpace)
}

// CheckRefs returns the end of an error if the branches or tags of an origin of this kind are not valid: the field,
// its value, and what is accepted; "" if they are.
func (o Origin) CheckRefs() string {
	for _, f := range []struct {
		name     string
		patterns []string
	}{{"branches", o.Branches}, {"tags", o.Tags}} {
		switch {
		case !ValidBranches(f.patterns):
			return fmt.Sprintf("%s %.200q: %s", f.name, f.patterns, BranchRule)
		case len(f.patterns) > 0 && !o.Kind.HasBranches():
			return fmt.Sprintf("%s of kind %q: want a repository or a lister", f.name, o.Kind)
		}
	}
	return ""
}

// HasBranches reports whether branches and tags can be selected of an origin of this kind.
func (k OriginKind) HasBranches() bool { return k == Git || k.Info().Lister }

// Status is the outcome of a visit.
type Status string

// The outcomes of a visit.
const (
	Eventful   Status = "eventful"   // the origin had something new or changed
	Uneventful Status = "uneventful" // nothing new or changed
	Failed     Status = "failed"     // the origin could not be read
	NotFound   Status = "not_found"  // the origin no longer exists
	Lost       Status = "lost"       // the manager that visited was lost
)

// Fault is the kind of a failure, where it matters for the next visit.
type Fault string

// The kinds of failures. Without one, a failed visit concerns its origin alone, and may
// pass.
const (
	HostFault Fault = "host" // no connection to the host: other origins of it have the same
	GoneFault Fault = "gone" // the server answers that the origin is gone for good (410)
)

// Visit is the body of a visit tuple: one visit of one origin.
type Visit struct {
	ID     string `json:"id"`
	Origin Origin `json:"origin"`
	Known  Known  `json:"known,omitzero"`
	// Listed is true if a lister named the origin and the operator did not.
	Listed bool `json:"listed,omitempty"`
	// Unconditional is true if the content must be read even if the server has the validators of Known.
	Unconditional bool `json:"unconditional,omitempty"`

	HostSlots  int     `json:"host_slots,omitempty"`    // requests of one host at once; 0: not given
	LongestGap Seconds `json:"longest_gap_s,omitempty"` // longest Crawl-delay that is obeyed
}

// Known is what an earlier visit found, so that this visit can ask for changes only.
type Known struct {
	Digest   string    `json:"digest,omitempty"`
	ETag     string    `json:"etag,omitempty"`
	Modified string    `json:"modified,omitempty"` // Last-Modified, as the server wrote it
	At       time.Time `json:"at,omitzero"`
	Next     int       `json:"next,omitempty"` // Listed.Next of the lister's previous visit
}

// Outcome is the body of the result of a visit.
type Outcome struct {
	Visit  string    `json:"visit,omitempty" doc:"id; absent: none of the coordinator's visits"`
	Origin string    `json:"origin" schema:"id"`
	Status Status    `json:"status" schema:"enum: [eventful, uneventful, failed, not_found]"`
	Error  string    `json:"error,omitempty" doc:"why it failed"`
	Fault  Fault     `json:"fault,omitempty" schema:"enum: ['', host, gone]" doc:"of a failure: host (no connection to it) or gone (for good, such as HTTP 410)"`
	Items  int       `json:"items,omitempty" doc:"recordings listed" schema:"minimum: 0"`
	At     time.Time `json:"at"`
	Took   Seconds   `json:"took_s,omitempty" schema:"minimum: 0"`

	// The rest decides when the next visit is due. Without a digest the status
	// decides alone.
	Digest     string      `json:"digest,omitempty" doc:"of the visited content: equal while nothing changes"`
	ETag       string      `json:"etag,omitempty"`
	Modified   string      `json:"modified,omitempty" doc:"Last-Modified"`
	Changes    int         `json:"changes,omitempty" doc:"since the last success, if they can be counted" schema:"minimum: 0"`
	ChangedAt  []time.Time `json:"changed_at,omitempty" doc:"times of the latest changes, at most 500" schema:"maxItems: 500"`
	Since      time.Time   `json:"changed_since,omitzero" doc:"changed_at has all changes since then; absent: it has the latest ones"`
	Window     int         `json:"window,omitempty" doc:"items in a document that loses its oldest ones when new ones come, such as a feed; absent: it loses none" schema:"minimum: 0"`
	New        *int        `json:"new,omitempty" doc:"how many of the items no earlier visit has found; absent if this is not known" schema:"minimum: 0"`
	Unmodified bool        `json:"unmodified,omitempty" doc:"the server reported that nothing has changed, and sent no content"`
	Size       int64       `json:"size,omitempty" doc:"bytes that were read" schema:"minimum: 0"`
	RetryAfter Seconds     `json:"retry_after_s,omitempty" schema:"minimum: 0"`
	Answered   string      `json:"answered,omitempty" doc:"scheme and host of the server that answered the first request, after redirects, such as https://a.example; absent if nothing was requested"`
	CrawlDelay *Seconds    `json:"crawl_delay_s,omitempty" doc:"that the robots.txt of the host that answered asks for, 0 if none; absent if it was not read" schema:"minimum: 0"`
	FreshFor   Seconds     `json:"fresh_for_s,omitempty" doc:"for which the server calls the content fresh (Cache-Control, or the ttl or update period of a feed); at most a day counts" schema:"minimum: 0"`
	Skip       *Skip       `json:"skip,omitempty" doc:"when a feed asks not to be read (skipHours, skipDays), in UTC; absent: unchanged"`

	Listed *Listed `json:"listed,omitempty" doc:"of a lister"`
	Hub    *Hub    `json:"hub,omitempty" doc:"WebSub hub that a feed names; absent: unchanged"`
	Move   *Move   `json:"move,omitempty" doc:"to the new address that a feed gives, or to which the server of an origin redirects for good"`
}

// MoveAfter is how long visits must have found the same new address before the origin moves there, because a wrong
// one may be corrected.
const MoveAfter = 24 * time.Hour

// Move is the new address of an origin.
type Move struct {
	To      string `json:"to" doc:"URL; empty if the origin cannot move"`
	Answers bool   `json:"answers,omitempty" doc:"what the origin has was read there"`
	Problem string `json:"problem,omitempty" doc:"why the origin cannot move where its server redirects"`
}

// MaxListed is how many origins one visit of a lister names; the next visit continues
// behind them.
const MaxListed = 5000

// MaxChanges is how many times of changes an outcome carries at most.
const MaxChanges = 500

// Listed is the origins that a visit of a lister named.
type Listed struct {
	Origins []ListedOrigin `json:"origins" schema:"maxItems: 5000"`
	// Full is true if the lister named its whole list without an error. Then an origin missing from the list is not
	// visited until the lister names it again.
	Full bool `json:"full,omitempty" doc:"these and the origins of the visits before are the whole list"`

	// Next is where the next visit continues; 0 means that this visit reached the end.
	From int `json:"from,omitempty" doc:"number of origins that the visits before listed" schema:"minimum: 0"`
	Next int `json:"next,omitempty" doc:"number of origins listed so far, if there are more" schema:"minimum: 0"`
}

// ListedOrigin is one origin as a lister names it.
type ListedOrigin struct {
	Kind    OriginKind `json:"kind" schema:"kind"`
	URI     string     `json:"uri"`
	Created time.Time  `json:"created,omitzero"`
	Updated time.Time  `json:"updated,omitzero"`
	Fork    bool       `json:"fork,omitempty" doc:"it is a fork"`
	ForkOf  string     `json:"fork_of,omitempty" doc:"URI of the origin that it is a fork of"`
	// Metadata is kept and shown, and has no effect; more than 4 KiB are not kept.
	Metadata map[string]string `json:"metadata,omitempty" doc:"kept and shown; at most 4 KiB"`
}
