package clips

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

// readFeed lists the episodes that a feed's items enclose. The listing is never complete, because a feed has its
// latest items only. If the server reports no change since known, it lists nothing (same).
func (l *Lister) readFeed(ctx context.Context, o models.Origin, known models.Known) (observed, error) {
	doc, err := l.Fetch.Poll(ctx, documentURI(o), known, feedBytes)
	if err != nil {
		return observed{}, err
	}
	if doc.Same {
		given := o.MovesTo // unless the server redirects there
		if doc.MovedTo != "" {
			given = ""
		}
		move, _ := l.checkMove(ctx, o, given, doc.MovedTo) // a problem of a given address was listed with the document
		return observed{same: true, digest: known.Digest, etag: doc.ETag, modified: doc.Modified, freshFor: doc.FreshFor, move: move}, nil
	}
	doc.URL = models.WithoutUserOf(o.URI, doc.URL)
	first, err := readDocument(ctx, doc, feedBytes, feedItems)
	if err != nil {
		return observed{}, fmt.Errorf("read %s: %w", o.URI, err)
	}
	from, err := l.sourceOf(o, doc.URL)
	if err != nil {
		return observed{}, err
	}
	defer from.close()
	all, err := l.readPages(ctx, o, from, first)
	if err != nil {
		return observed{}, err
	}
	if len(all.items) == 0 {
		return observed{}, fmt.Errorf("read %s: %w%s", o.URI, errNoItems, strings.Join(append([]string{""}, all.notices...), "; "))
	}
	move, problem := l.checkMove(ctx, o, newAddress(first.feed), doc.MovedTo)
	if problem != "" {
		all.notices = append(all.notices, problem)
	}
	skip, problem := skipOf(first.feed)
	if problem != "" {
		all.notices = append(all.notices, problem)
	}
	hub := hubOf(doc.URL, doc.Links, first)
	seen := observed{skip: &skip, hub: &hub, digest: prefix(o) + feedDigest(all.items), etag: doc.ETag, modified: doc.Modified, times: feedTimes(all.items), size: all.size,
		freshFor: max(doc.FreshFor, feedTTL(first.text), updateInterval(first.feed)), move: move}
	if all.read == 1 {
		seen.window = len(all.items)
	}
	seen.Listing, err = l.listFeed(ctx, o, from, all)
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

// listFeed turns the items of a feed into a listing. The error is the cause of ctx.
func (l *Lister) listFeed(ctx context.Context, o models.Origin, from source, all pages) (catalog.Listing, error) {
	c := curator{origin: o, resolve: from.resolve, problems: problems{origin: o.ID}}
	if err := c.addItems(ctx, all.items); err != nil {
		return catalog.Listing{}, err
	}
	for _, notice := range all.notices {
		c.problems.add("", "%s", notice)
	}
	if c.misread > 0 {
		c.problems.add("", "titles of %d items were UTF-8 that a program had read as windows-1252; they were repaired", c.misread)
	}
	return catalog.Listing{Episodes: c.episodes, Problems: c.problems.all(), Latest: all.whole}, nil
}

// documentURI returns the URI at which a feed is read.
func documentURI(o models.Origin) string {
	if isURL(o.URI) {
		return o.URI
	}
	return fetch.FileURI(o.URI)
}

// sourceOf returns the source of a feed's enclosures, which the caller closes. An enclosure on the web is relative to
// the URL of the answer and not to that of the origin, which may redirect elsewhere (RFC 3986, 5.1.3).
func (l *Lister) sourceOf(o models.Origin, answer string) (source, error) {
	if isURL(o.URI) {
		base, err := url.Parse(answer)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", err, fault.ErrInvalid)
		}
		return web{base, l.Fetch.Check, o.URI}, nil
	}
	dir := filepath.Dir(o.URI)
	root, err := l.Fetch.Folder(dir)
	if err != nil {
		return nil, err
	}
	return localBase{web{check: l.Fetch.Check}, dir, root}, nil
}
