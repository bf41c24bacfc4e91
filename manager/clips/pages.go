package clips

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mmcdole/gofeed"
	"github.com/mmcdole/gofeed/atom"
	"github.com/mmcdole/gofeed/json"

	"leasehold/models"
	"leasehold/shared/fault"
)

// maxPages bounds the documents of one feed. feedBytes and feedItems are for all of them together.
const maxPages = 100

// pages are the documents of one feed together.
type pages struct {
	items   []*gofeed.Item
	read    int             // documents
	size    int64           // bytes that were read
	bytes   int64           // of the documents, decoded
	notices []string        // problems of the feed as a whole
	whole   bool            // all items were read
	known   map[string]bool // keys of items
}

// readPages reads the further pages of a feed whose first one was read at a URI (rel="next" or RFC 5005's
// "prev-archive" of the feed, next_url of a JSON Feed), one after the other. A page that cannot be read ends the
// feed with a notice, and the items before it count. The error is the cause of ctx.
func (l *Lister) readPages(ctx context.Context, o models.Origin, uri string, from source, first document) (pages, error) {
	all := pages{whole: true, known: map[string]bool{}}
	all.add(1, first)
	if page, _, err := from.resolve(uri); err == nil {
		uri = page // as a link to it is resolved
	}
	read := map[string]bool{uri: true}
	next := nextPage(first.feed)
	for n := 2; next != ""; n++ {
		page, _, err := from.resolve(resolveAgainst(uri, next))
		if err == nil && read[page] {
			break
		}
		if n > maxPages || len(all.items) >= feedItems {
			all.end("the feed goes on behind page %d; %d pages and %d items are read", n-1, maxPages, feedItems)
			break
		}
		var d document
		if err == nil {
			uri, read[page] = page, true
			d, err = l.readPage(ctx, o, page, int(feedBytes-all.bytes), feedItems-len(all.items))
		}
		switch {
		case ctx.Err() != nil:
			return pages{}, context.Cause(ctx)
		case errors.Is(err, errNoItems):
			return all, nil
		case err != nil:
			all.end("page %d of the feed, %s: %v", n, sanitize(next), fault.Reason(err))
			return all, nil
		}
		if !all.isNews(d.feed.Items) { // some servers send the first page for any number
			break
		}
		all.add(n, d)
		next = nextPage(d.feed)
	}
	return all, nil
}

// isNews reports whether any item is not on the pages before, by its guid or else its URL.
func (p *pages) isNews(items []*gofeed.Item) bool {
	return slices.ContainsFunc(items, func(item *gofeed.Item) bool { return !p.known[pageKey(item)] })
}

func pageKey(item *gofeed.Item) string {
	enclosure, _ := chooseEnclosure(item.Enclosures)
	return cmp.Or(item.GUID, enclosure.URL, item.Link, item.Title)
}

// readPage reads a page of at most maxBytes. Its enclosures are relative to itself, and not to the feed.
func (l *Lister) readPage(ctx context.Context, o models.Origin, page string, maxBytes, items int) (document, error) {
	doc, err := l.Fetch.Poll(ctx, models.WithUserOf(o.URI, page), models.Known{}, int64(maxBytes))
	if err != nil {
		return document{}, err
	}
	d, err := readDocument(ctx, doc, maxBytes, items)
	if err != nil {
		return document{}, err
	}
	for _, item := range d.feed.Items {
		for _, e := range item.Enclosures {
			e.URL = resolveAgainst(page, e.URL)
		}
	}
	return d, nil
}

// resolveAgainst returns a link as a document on the web makes it; unchanged if the document is a file or one of
// them cannot be parsed.
func resolveAgainst(document, link string) string {
	base, err := url.Parse(document)
	if err != nil || !isURL(document) {
		return link
	}
	u, err := base.Parse(strings.TrimSpace(link))
	if err != nil {
		return link
	}
	return u.String()
}

// add adds the items of page n, and a notice of its repairs and of the items beyond the limit.
func (p *pages) add(n int, d document) {
	p.items = append(p.items, d.feed.Items...)
	for _, item := range d.feed.Items {
		p.known[pageKey(item)] = true
	}
	p.read++
	p.size += d.size
	p.bytes += int64(len(d.text))
	name := "the feed"
	if n > 1 {
		name = fmt.Sprintf("page %d of the feed", n)
	}
	if d.faults.Any() {
		p.notices = append(p.notices, fmt.Sprintf("%s was repaired: %s", name, d.faults))
	}
	if d.dropped > 0 {
		p.notices = append(p.notices, fmt.Sprintf("%s has %d members of a wrong type, which were converted or left out", name, d.dropped))
	}
	if d.more > 0 {
		p.end("%s has %d items more than the %d that are read", name, d.more, feedItems)
	}
}

// end notes why the rest of the feed is not read.
func (p *pages) end(reason string, args ...any) {
	p.notices = append(p.notices, fmt.Sprintf(reason, args...))
	p.whole = false
}

// linksOf returns the first link of each relation in a feed: the links of Atom, also in RSS, and feed_url (self) and
// next_url of a JSON Feed.
func linksOf(feed *gofeed.Feed) map[string]string {
	links := map[string]string{}
	switch original := feed.OriginalFeed().(type) {
	case *atom.Feed:
		for _, link := range original.Links {
			noteLink(links, link.Rel, link.Href)
		}
	case *json.Feed:
		noteLink(links, "self", original.FeedURL)
		noteLink(links, "next", original.NextURL)
	default:
		for _, elements := range feed.Extensions {
			for _, link := range elements["link"] {
				noteLink(links, link.Attrs["rel"], link.Attrs["href"])
			}
		}
	}
	return links
}

// noteLink adds the link of a relation unless there is one.
func noteLink(links map[string]string, rel, href string) {
	rel = strings.ToLower(strings.TrimSpace(rel))
	if links[rel] == "" {
		links[rel] = strings.TrimSpace(href)
	}
}

// nextPage returns the URL of the page behind a document, as it is written; empty if there is none.
func nextPage(feed *gofeed.Feed) string {
	links := linksOf(feed)
	if links["next"] != "" {
		return links["next"]
	}
	return links["prev-archive"]
}
