package archive

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
	FeedBytes  = 64 << 20  // of a feed's document; the largest real ones have 20
	FeedItems  = 20_000    // a show that aired hourly for two years; the excess is one problem
	FolderSize = 1_000_000 // entries of a folder and all in it

	problemLimit   = 1000     // problems of one listing; the rest is counted
	clipHashBytes  = 64 << 20 // a clip above this is curated without its hash
	nameLimit      = 1024     // bytes of a recording's name
	titleLimit     = 300      // runes of a title
	enclosureLimit = 4096     // bytes of an enclosure's URL
	sidecarBytes   = 64 << 10
)

// Lister lists what origins hold.
type Lister struct {
	// Fetch reads feeds and folders. It must trust the origin (Fetcher.Trust),
	// or the visit fails: a visit tuple may come from anybody.
	Fetch *fetch.Fetcher

	hygienist hygienist
}

// List visits one origin. Ids and dates of what it returns are for
// catalog.Curate to set; its problems name the origin and the item. The same
// content gives the same listing, in the same order.
//
// An error says that the origin could not be visited at all, and why; one item
// that cannot be curated is a problem, and all else goes on. Errors wrap
// fault.ErrInvalid (not a feed, an unknown kind, an origin that is not
// trusted), or those of package fetch. List may be called concurrently.
func (l *Lister) List(ctx context.Context, o models.Origin) (catalog.Listing, error) {
	seen, err := l.look(ctx, o, models.Known{})
	return seen.Listing, err
}

// A look is what one visit saw.
type look struct {
	catalog.Listing
	same           bool // nothing has changed since the visit that is known; Listing is empty
	digest         string
	etag, modified string
	times          []time.Time // of changes, the latest first
	size           int64
}

// look is List, unless nothing has changed since what is known.
func (l *Lister) look(ctx context.Context, o models.Origin, known models.Known) (look, error) {
	var seen look
	var err error
	switch o.Kind {
	case models.Feed:
		seen, err = l.lookAtFeed(ctx, o, known)
	case models.Media, models.Clips:
		seen, err = l.lookAtFolder(ctx, o, known)
	default:
		err = fmt.Errorf("kind %q: %s are accepted: %w", o.Kind, kindNames(), fault.ErrInvalid)
	}
	if err != nil {
		return look{}, fmt.Errorf("list %s %s: %w", o.Kind, o.URI, err)
	}
	return seen, nil
}
