package clips

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

// readFeed lists the episodes that a feed's items enclose. The listing is never complete, because a feed has its
// latest items only. If the server reports no change since known, it lists nothing (same).
func (l *Lister) readFeed(ctx context.Context, o models.Origin, known models.Known) (observed, error) {
	from, uri, err := l.sourceOf(o)
	if err != nil {
		return observed{}, err
	}
	defer from.close()
	doc, err := l.Fetch.Poll(ctx, uri, known, feedBytes)
	if err != nil {
		return observed{}, err
	}
	if doc.Same {
		return observed{same: true, digest: known.Digest, etag: doc.ETag, modified: doc.Modified, freshFor: doc.FreshFor}, nil
	}
	items, more, err := parseFeed(ctx, doc.Content)
	if err != nil {
		return observed{}, fmt.Errorf("read %s: %w", o.URI, err)
	}
	seen := observed{digest: prefix(o) + feedDigest(items), etag: doc.ETag, modified: doc.Modified, times: feedTimes(items), size: int64(len(doc.Content)),
		freshFor: max(doc.FreshFor, feedTTL(doc.Content))}
	seen.Listing, err = l.listFeed(ctx, o, from, items, more)
	return seen, err
}

var ttl = regexp.MustCompile(`<ttl>\s*([0-9]{1,6})\s*</ttl>`)

// feedTTL returns how long an RSS document asks to be kept, which it states before its
// items; 0 if it does not.
func feedTTL(content []byte) time.Duration {
	if i := bytes.Index(content, []byte("<item")); i >= 0 {
		content = content[:i]
	}
	found := ttl.FindSubmatch(content)
	if found == nil {
		return 0
	}
	minutes, _ := strconv.Atoi(string(found[1])) // at most six digits
	return time.Duration(minutes) * time.Minute
}

// listFeed turns items into a listing. more is how many items the feed has beyond them.
// The error is the cause of ctx.
func (l *Lister) listFeed(ctx context.Context, o models.Origin, from source, items []*gofeed.Item, more int) (catalog.Listing, error) {
	c := curator{origin: o, resolve: from.resolve, problems: problems{origin: o.ID}, seen: map[string]bool{}}
	for i, item := range items {
		if err := ctx.Err(); err != nil {
			return catalog.Listing{}, context.Cause(ctx)
		}
		c.addItem(i, item)
	}
	if more > 0 {
		c.problems.add("", "the feed has %d items more than the %d that are read", more, feedItems)
	}
	return catalog.Listing{Episodes: c.episodes, Problems: c.problems.all(), Latest: more == 0}, nil
}

// sourceOf returns the source of a feed's enclosures, which the caller closes, and the URI at which the feed is
// read.
func (l *Lister) sourceOf(o models.Origin) (source, string, error) {
	if isURL(o.URI) {
		base, err := url.Parse(o.URI)
		if err != nil {
			return nil, "", fmt.Errorf("%w: %w", err, fault.ErrInvalid)
		}
		return web{base, l.Fetch.Check}, o.URI, nil
	}
	dir := filepath.Dir(o.URI)
	root, err := l.Fetch.Folder(dir)
	if err != nil {
		return nil, "", err
	}
	return localBase{web{check: l.Fetch.Check}, dir, root}, fetch.FileURI(o.URI), nil
}

// shownBytes of a document are shown in the error if it is not a feed.
const shownBytes = 60

// parseFeed returns a feed's items, at least one and at most feedItems, and how many more it has. A panic of the
// lenient parser counts as a malformed document.
func parseFeed(ctx context.Context, doc []byte) (items []*gofeed.Item, more int, err error) {
	begin := doc[:min(len(doc), beginningBytes)]
	if len(bytes.TrimSpace(begin)) == 0 {
		return nil, 0, fmt.Errorf("not an RSS, Atom or JSON feed, but empty: %w", fault.ErrInvalid)
	}
	if gofeed.DetectFeedType(bytes.NewReader(begin)) == gofeed.FeedTypeUnknown {
		return nil, 0, fmt.Errorf("not an RSS, Atom or JSON feed; it begins with %q: %w", begin[:min(len(begin), shownBytes)], fault.ErrInvalid)
	}
	doc, more, err = prune(doc, feedItems)
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if r := recover(); r != nil {
			items, err = nil, fmt.Errorf("the feed's parser gave up: %v: %w", r, fault.ErrInvalid)
		}
	}()
	parser := gofeed.NewParser()
	parser.RSSTranslator = &gofeed.DefaultRSSTranslator{DisableContentImageScan: true}
	parser.AtomTranslator = &gofeed.DefaultAtomTranslator{}
	parser.JSONTranslator = &gofeed.DefaultJSONTranslator{}
	feed, err := parser.Parse(&contextReader{ctx, bytes.NewReader(doc)})
	switch {
	case ctx.Err() != nil:
		return nil, 0, context.Cause(ctx)
	case err != nil:
		return nil, 0, fmt.Errorf("the feed is malformed: %w: %w", err, fault.ErrInvalid)
	case len(feed.Items) == 0:
		return nil, 0, fmt.Errorf("the feed has no items: %w", fault.ErrInvalid)
	}
	return feed.Items, more, nil
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

// A curator turns items into episodes and problems.
type curator struct {
	origin   models.Origin
	resolve  func(enclosure string) (uri, version string, err error)
	episodes []models.Episode
	problems problems
	seen     map[string]bool // names
}

// addItem adds item n as an episode, or a problem if it cannot be curated. An item is named by
// its guid, or else its URL; of two with one name the first counts. Without a version of its
// file, the URL, the length and the dates stand for one.
func (c *curator) addItem(n int, item *gofeed.Item) {
	enclosure, err := chooseEnclosure(item.Enclosures)
	label := cmp.Or(sanitize(item.Title), sanitize(item.GUID), sanitize(enclosure.URL), fmt.Sprintf("item %d", n+1))
	if err != nil {
		c.problems.add(label, "%v", err)
		return
	}
	name := cmp.Or(oneLine(item.GUID), oneLine(enclosure.URL))
	if len(name) > nameLimit {
		c.problems.add(label, "its guid, or the URL in its place, has more than %d bytes", nameLimit)
		return
	}
	if c.seen[name] {
		c.problems.add(label, "an earlier item has the same guid, %s", sanitize(name))
		return
	}
	uri, version, err := c.resolve(enclosure.URL)
	if err != nil {
		c.problems.add(label, "enclosure %s: %v", sanitize(enclosure.URL), withoutKind(err))
		return
	}
	c.seen[name] = true
	e := models.Episode{Aired: aired(item)}
	e.Name = name
	e.Title = cmp.Or(sanitize(item.Title), sanitize(path.Base(uri)))
	e.Priority = c.choosePriority(label, item)
	e.Media = models.MediaRef{URI: uri, Type: mediaType(enclosure), Version: version}
	if version == "" {
		e.Media.Version = models.NewID(uri, enclosure.Length, item.Published, item.Updated)
	}
	c.episodes = append(c.episodes, e)
}

// choosePriority returns an item's own priority, or else its origin's. Anything but a whole number is a problem,
// and the origin's priority is used.
func (c *curator) choosePriority(label string, item *gofeed.Item) int64 {
	value, ok := priorityOf(item)
	if !ok {
		return c.origin.Priority
	}
	p, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	if err != nil {
		c.problems.add(label, "priority %q is not a whole number; the origin's %d is used", sanitize(value), c.origin.Priority)
		return c.origin.Priority
	}
	return p
}

// aired returns when an item was published, or the zero time. Years that JSON cannot
// represent count as none.
func aired(item *gofeed.Item) time.Time {
	for _, t := range []*time.Time{item.PublishedParsed, item.UpdatedParsed} {
		if t != nil && t.UTC().Year() >= 1 && t.UTC().Year() <= 9999 {
			return t.UTC()
		}
	}
	return time.Time{}
}

// withoutKind returns an error's text without its kind, because a problem states that
// already.
func withoutKind(err error) string {
	s := err.Error()
	for _, row := range fault.Table {
		if row.Kind != nil && errors.Is(err, row.Kind) {
			s = strings.TrimSuffix(s, ": "+row.Kind.Error())
		}
	}
	return s
}
