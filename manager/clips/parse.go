package clips

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/mmcdole/gofeed"
	"github.com/mmcdole/gofeed/json"

	"leasehold/manager/repair"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

// A document is one page of a feed.
type document struct {
	url     string // where it was read
	text    []byte // as it was parsed
	size    int64  // bytes that were read
	feed    *gofeed.Feed
	more    int           // items beyond those of feed
	dropped int           // members of a JSON Feed with another type than its version has
	faults  repair.Faults // that were repaired
}

// readDocument repairs and parses a document of at most maxBytes, and fills its items from the modules of the feed.
// It has at most items. With errNoItems, it has none; without an error, it has one or names a next page.
func readDocument(ctx context.Context, doc fetch.Poll, maxBytes, items int) (document, error) {
	text, faults, err := repair.Document(doc.Content, doc.Type, maxBytes)
	if err != nil {
		return document{}, err
	}
	d := document{url: doc.URL, text: text, size: int64(len(doc.Content)), faults: faults}
	d.feed, d.more, err = parseFeed(ctx, text, items)
	if errors.Is(err, fault.ErrInvalid) {
		if fixed, dropped := fixTypes(text); dropped > 0 {
			d.text, d.dropped = fixed, dropped
			d.feed, d.more, err = parseFeed(ctx, fixed, items)
		}
	}
	if errors.Is(err, errNoItems) && nextPage(d.feed) != "" {
		err = nil
	}
	if err != nil {
		if faults.Any() {
			err = fmt.Errorf("%w (after repairs: %s)", err, faults)
		}
		return d, err
	}
	addLinksOfAtom(d.feed)
	for _, item := range d.feed.Items {
		fillFromModules(item)
	}
	return d, nil
}

var errNoItems = fmt.Errorf("the feed has no items: %w", fault.ErrInvalid)

// shownBytes of a document are shown in the error if it is not a feed.
const shownBytes = 60

// parseFeed returns a feed with its first items, and how many more it has. With errNoItems, it returns the feed too.
// A panic of the lenient parser counts as a malformed document.
func parseFeed(ctx context.Context, doc []byte, items int) (feed *gofeed.Feed, more int, err error) {
	begin := doc[:min(len(doc), beginningBytes)]
	if len(bytes.TrimSpace(begin)) == 0 {
		return nil, 0, fmt.Errorf("not an RSS, Atom or JSON feed, but empty: %w", fault.ErrInvalid)
	}
	if gofeed.DetectFeedType(bytes.NewReader(begin)) == gofeed.FeedTypeUnknown {
		return nil, 0, fmt.Errorf("not an RSS, Atom or JSON feed; it begins with %q: %w", begin[:min(len(begin), shownBytes)], fault.ErrInvalid)
	}
	doc, more, err = prune(doc, items)
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if r := recover(); r != nil {
			feed, err = nil, fmt.Errorf("the feed's parser gave up: %v: %w", r, fault.ErrInvalid)
		}
	}()
	parser := gofeed.NewParser()
	parser.RSSTranslator = &gofeed.DefaultRSSTranslator{DisableContentImageScan: true}
	parser.AtomTranslator = &gofeed.DefaultAtomTranslator{}
	parser.JSONTranslator = &gofeed.DefaultJSONTranslator{}
	parser.KeepOriginalFeed = true // it has the links of Atom and JSON Feed
	feed, err = parser.Parse(&contextReader{ctx, bytes.NewReader(doc)})
	switch {
	case ctx.Err() != nil:
		return nil, 0, context.Cause(ctx)
	case err != nil:
		return nil, 0, fmt.Errorf("the feed is malformed: %w: %w", err, fault.ErrInvalid)
	case len(feed.Items) > 0:
		return feed, more, nil
	}
	if original, ok := feed.OriginalFeed().(*json.Feed); ok && original.Version == "" {
		return nil, 0, fmt.Errorf("not a JSON Feed: it has no items and no version: %w", fault.ErrInvalid)
	}
	return feed, 0, errNoItems
}

// contextReader fails when its context ends, which stops the parser.
type contextReader struct {
	ctx context.Context
	r   *bytes.Reader
}

// Read reads, unless ctx has ended; then it returns its error.
func (p *contextReader) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.r.Read(b)
}
