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
	known   map[string]bool // what identifies the items
}

// readPages reads the further pages of a feed whose first one was read at a URI (rel="next" or RFC 5005's
// "prev-archive" of the feed, next_url of a JSON Feed), one after the other. A page that cannot be read ends the
// feed with a notice, and the items before it count. The error is the cause of ctx.
func (l *Lister) readPages(ctx context.Context, o models.Origin, from source, first document) (pages, error) {
	all := pages{whole: true, known: map[string]bool{}}
	all.isNews(first)
	all.add(1, first)
	read := map[string]bool{}
	for _, uri := range []string{first.url, documentURI(o)} { // the answer may be elsewhere
		if page, _, err := from.resolve(uri); err == nil {
			read[page] = true // as a link to it is resolved
		}
	}
	last, next := first.url, nextPage(first.feed)
	for n := 2; next != ""; n++ {
		page, _, err := from.resolve(resolveAgainst(last, next))
		if err == nil && read[page] {
			break
		}
		if n > maxPages || len(all.items) >= feedItems {
			all.end("the feed goes on behind page %d; %d pages and %d items are read", n-1, maxPages, feedItems)
			break
		}
		var d document
		if err == nil {
			read[page] = true
			d, err = l.readPage(ctx, o, page, first.url, int(feedBytes-all.bytes), feedItems-len(all.items))
		}
		switch {
		case ctx.Err() != nil:
			return pages{}, context.Cause(ctx)
		case err != nil:
			all.end("page %d of the feed, %s: %v", n, sanitize(next), fault.Reason(err))
			return all, nil
		}
		if len(d.feed.Items) > 0 && !all.isNews(d) { // some servers send the first page for any number
			break
		}
		all.add(n, d)
		last, next, read[d.url] = d.url, nextPage(d.feed), true
	}
	return all, nil
}

// isNews reports whether any item of a page is not on the pages before, and notes all.
func (p *pages) isNews(d document) (news bool) {
	for _, item := range d.feed.Items {
		ids := identities(d.url, item)
		news = news || !slices.ContainsFunc(ids, func(id string) bool { return p.known[id] })
		for _, id := range ids {
			p.known[id] = true
		}
	}
	return news
}

// identities returns what tells an item of a page from others: its guid and recording, or without a guid the URL of its
// enclosure, its link or its title. Of one that is dated, guid, title and date do so too, because a server may send a
// page again with other URLs.
func identities(page string, item *gofeed.Item) []string {
	x := listed{Item: item}
	x.enclosure, _ = chooseEnclosure(item.Enclosures) // without one, the rest tells
	x.enclosure.URL = resolveAgainst(page, x.enclosure.URL)
	x.uri = x.enclosure.URL
	names := x.names()
	if item.GUID == "" {
		return []string{cmp.Or(names[0], item.Link, item.Title)}
	}
	ids := names[len(names)-1:]
	if at := aired(item); !at.IsZero() {
		ids = append(ids, fmt.Sprintf("%q %q %s", item.GUID, item.Title, at))
	}
	return ids
}

// readPage reads a page of at most maxBytes, which may have no items. Its enclosures are relative to itself, and not to
// the feed that was read at another URL. Those that mean the same there stay as they are, because an item without a guid
// is named by it, and moves from page to page.
func (l *Lister) readPage(ctx context.Context, o models.Origin, page, feed string, maxBytes, items int) (document, error) {
	doc, err := l.Fetch.Poll(ctx, models.WithUserOf(o.URI, page), models.Known{}, int64(maxBytes))
	if err != nil {
		return document{}, err
	}
	doc.URL = models.WithoutUserOf(o.URI, doc.URL)
	d, err := readDocument(ctx, doc, maxBytes, items)
	if err != nil && !errors.Is(err, errNoItems) {
		return document{}, err
	}
	for _, item := range d.feed.Items {
		for _, e := range item.Enclosures {
			if absolute := resolveAgainst(d.url, e.URL); absolute != resolveAgainst(feed, e.URL) {
				e.URL = absolute
			}
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
