package clips

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"

	"leasehold/manager/move"
	"leasehold/models"
	"leasehold/shared/fault"
)

// newAddress returns the address that a feed gives as its new one (itunes:new-feed-url); empty if there is none.
func newAddress(feed *gofeed.Feed) string {
	if feed.ITunesExt != nil && feed.ITunesExt.NewFeedURL != "" {
		return strings.TrimSpace(feed.ITunesExt.NewFeedURL)
	}
	return moduleText(feed.Extensions["itunes"], "new-feed-url")
}

// checkMove returns the move of a feed on the web to the new address that it gives, or else to the one to which its
// server redirects for good; nil without one. problem, for people, tells why it cannot move to a given address. That
// is read only if the feed has given it for models.MoveAfter, because then the origin moves if a feed answers.
func (l *Lister) checkMove(ctx context.Context, o models.Origin, given, redirected string) (m *models.Move, problem string) {
	if given == "" || !isURL(o.URI) {
		return move.Redirected(l.Fetch, o, redirected), ""
	}
	m, err := l.checkGiven(ctx, o, given)
	if err != nil {
		problem = fmt.Sprintf("the feed gives a new address, %s, which cannot be used: %v", sanitize(given), fault.Reason(err))
	}
	return m, problem
}

// checkGiven returns the move to a given address, nil if it is that of the origin or cannot be used. With an error of
// reading it, the move has no answer yet.
func (l *Lister) checkGiven(ctx context.Context, o models.Origin, given string) (*models.Move, error) {
	u, err := parseEnclosure(given)
	if err != nil {
		return nil, err
	}
	to, err := move.Target(l.Fetch, o, u)
	if err != nil || to == "" {
		return nil, err
	}
	m := &models.Move{To: to}
	if o.MovesTo == to && time.Since(o.MovesSince) >= models.MoveAfter {
		err = l.readFeedAt(ctx, models.WithUserOf(o.URI, to))
		m.Answers = err == nil
	}
	return m, err
}

// readFeedAt fails unless a feed answers at a URI.
func (l *Lister) readFeedAt(ctx context.Context, uri string) error {
	doc, err := l.Fetch.Poll(ctx, uri, models.Known{}, feedBytes)
	if err != nil {
		return err
	}
	_, err = readDocument(ctx, doc, feedBytes, feedItems)
	return err
}
