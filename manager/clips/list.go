package clips

import (
	"context"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

// The limits of one listing.
const (
	feedBytes     = 64 << 20  // of a feed's document; the largest real ones have 20
	feedItems     = 20_000    // a show that aired hourly for two years; the excess is one problem
	folderEntries = 1_000_000 // entries of a folder and all in it

	problemLimit   = 1000     // problems of one listing; the rest is counted
	clipHashBytes  = 64 << 20 // a clip above this is curated without its hash
	nameLimit      = 1024     // bytes of a recording's name
	titleLimit     = 300      // runes of a title
	enclosureLimit = 4096     // bytes of an enclosure's URL
	sidecarBytes   = 64 << 10
)

// Lister lists the recordings of origins.
type Lister struct {
	// Fetch reads feeds and folders. It must trust the origin (Fetcher.Trust),
	// or the visit fails: a visit tuple may come from anybody.
	Fetch *fetch.Fetcher

	checker clipChecker
}

// List visits one origin. catalog.Curate sets the ids and dates of the listing. Problems
// name the origin and the item. The same content gives the same listing, in the same
// order.
//
// An error means that the origin could not be visited at all. An item that cannot be curated is a problem, and
// the other items are listed. List fails with fault.ErrInvalid (not a feed, an unknown kind, an untrusted
// origin), with fault.ErrTooLarge (a feed beyond the limits of prune), or if fetching fails. List may be called
// concurrently.
func (l *Lister) List(ctx context.Context, o models.Origin) (catalog.Listing, error) {
	seen, err := l.read(ctx, o, models.Known{})
	return seen.Listing, err
}

// observed is the result of one visit.
type observed struct {
	catalog.Listing
	same           bool // nothing has changed since the known visit; Listing is empty
	digest         string
	etag, modified string
	times          []time.Time   // of changes, the latest first
	window         int           // items of a feed that has no further pages, so that it may lose the oldest
	freshFor       time.Duration // by its server's Cache-Control, or by its own ttl or update period
	hub            *models.Hub   // that a feed names; nil: as before
	skip           *models.Skip  // when a feed asks not to be read; nil: as before
	size           int64
	move           *models.Move // of a feed that gives a new address or is redirected to one
}

// read lists an origin, but has no listing (same) if nothing has changed since the known visit.
func (l *Lister) read(ctx context.Context, o models.Origin, known models.Known) (observed, error) {
	switch o.Kind {
	case models.Feed:
		return l.readFeed(ctx, o, known)
	case models.Media, models.Clips:
		return l.readFolder(ctx, o, known)
	}
	return observed{}, fmt.Errorf("kind %q: %s are accepted: %w", o.Kind, kindNames(), fault.ErrInvalid)
}
