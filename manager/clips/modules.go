package clips

import (
	"cmp"
	"maps"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"
	"github.com/mmcdole/gofeed/atom"
	ext "github.com/mmcdole/gofeed/extensions"
)

// fillFromModules sets the missing fields of an item from the modules of its feed: Dublin Core, Media RSS, the enclosures of
// RSS 1.0; and the recording that its link leads to, if nothing that has sound is enclosed. The elements of RSS,
// Atom and JSON Feed themselves come first.
func fillFromModules(item *gofeed.Item) {
	media := item.Extensions["media"]
	title := moduleText(media, "title")
	for _, group := range media["group"] {
		title = cmp.Or(title, moduleText(group.Children, "title"))
	}
	for _, content := range media["content"] {
		title = cmp.Or(title, moduleText(content.Children, "title"))
	}
	dc, terms := item.Extensions["dc"], item.Extensions["dcterms"]
	item.Title = cmp.Or(strings.TrimSpace(item.Title), title, moduleText(dc, "title"), moduleText(terms, "title"), moduleText(item.Extensions["itunes"], "title"))
	item.GUID = cmp.Or(strings.TrimSpace(item.GUID), moduleText(dc, "identifier"), moduleText(terms, "identifier"))
	fillDate(&item.Published, &item.PublishedParsed, item.Published, moduleText(terms, "issued"), moduleText(dc, "date"), moduleText(terms, "created"), moduleText(terms, "date"))
	fillDate(&item.Updated, &item.UpdatedParsed, item.Updated, moduleText(terms, "modified"))
	addModuleEnclosures(item)
	addAlternates(item)
	if _, err := chooseEnclosure(item.Enclosures); err == nil {
		return
	}
	for _, link := range append([]string{item.Link}, item.Links...) {
		if isAudio(urlPath(link)) {
			addEnclosure(item, gofeed.Enclosure{URL: link})
		}
	}
}

// moduleText returns the text of the first element of a name that has one.
func moduleText(elements map[string][]ext.Extension, name string) string {
	for _, e := range elements[name] {
		if s := strings.TrimSpace(e.Value); s != "" {
			return s
		}
	}
	return ""
}

// fillDate sets a date that is missing or not readable to the first of others that is readable.
func fillDate(text *string, at **time.Time, others ...string) {
	if *at != nil {
		return
	}
	for _, other := range others {
		if t, ok := parseDate(other); ok {
			*at = &t
			*text = cmp.Or(*text, other)
			return
		}
	}
}

// dateLayouts are those of W3CDTF, which Dublin Core uses, and variants that feeds have.
var dateLayouts = []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02", "2006-01", "2006",
	"2006/01/02 15:04:05", "2006/01/02 15:04", "2006/01/02", "2 January 2006", "2. January 2006", "02.01.2006"}

func parseDate(s string) (time.Time, bool) {
	if s == "" { // as in most items; trying all layouts takes longer than reading the item
		return time.Time{}, false
	}
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n >= 1e9 && n < 1e10 { // seconds since 1970
		return time.Unix(n, 0).UTC(), true
	}
	t, err := mail.ParseDate(s)
	return t.UTC(), err == nil
}

// addModuleEnclosures adds the enclosures of RSS 1.0 (enc:enclosure) and of Media RSS (media:content), those of a
// group with the default first.
func addModuleEnclosures(item *gofeed.Item) {
	for _, module := range slices.Sorted(maps.Keys(item.Extensions)) {
		for _, e := range item.Extensions[module]["enclosure"] {
			addEnclosure(item, gofeed.Enclosure{URL: cmp.Or(e.Attrs["resource"], e.Attrs["url"], e.Attrs["href"]), Type: e.Attrs["type"], Length: e.Attrs["length"]})
		}
	}
	media := item.Extensions["media"]
	contents := slices.Clone(media["content"])
	for _, group := range media["group"] {
		contents = append(contents, group.Children["content"]...)
	}
	sortDefaults(contents, "isDefault")
	for _, c := range contents {
		kind := c.Attrs["type"]
		if medium := c.Attrs["medium"]; kind == "" && (medium == "audio" || medium == "video" || medium == "image") {
			kind = medium + "/*"
		}
		addEnclosure(item, gofeed.Enclosure{URL: c.Attrs["url"], Type: kind, Length: c.Attrs["fileSize"]})
	}
}

// sortDefaults sorts elements by an attribute that marks the default: first those with true, last those with false.
func sortDefaults(elements []ext.Extension, attribute string) {
	rank := func(e ext.Extension) int {
		switch strings.ToLower(strings.TrimSpace(e.Attrs[attribute])) {
		case "true":
			return 0
		case "false":
			return 2
		}
		return 1
	}
	slices.SortStableFunc(elements, func(a, b ext.Extension) int { return cmp.Compare(rank(a), rank(b)) })
}

// addAlternates adds the sources of podcast:alternateEnclosure, those of the default first.
func addAlternates(item *gofeed.Item) {
	for _, module := range slices.Sorted(maps.Keys(item.Extensions)) {
		alternates := slices.Clone(item.Extensions[module]["alternateEnclosure"])
		sortDefaults(alternates, "default")
		for _, e := range alternates {
			for _, source := range e.Children["source"] {
				addEnclosure(item, gofeed.Enclosure{URL: source.Attrs["uri"], Type: e.Attrs["type"], Length: e.Attrs["length"]})
			}
		}
	}
}

// addEnclosure adds an enclosure unless the item has its URL or it has none.
func addEnclosure(item *gofeed.Item, e gofeed.Enclosure) {
	e.URL = strings.TrimSpace(e.URL)
	known := func(other *gofeed.Enclosure) bool { return other != nil && strings.TrimSpace(other.URL) == e.URL }
	if e.URL != "" && !slices.ContainsFunc(item.Enclosures, known) {
		item.Enclosures = append(item.Enclosures, &e)
	}
}

// addLinksOfAtom adds to the items of an Atom feed the recordings that the parser leaves out: content that is
// elsewhere, and links with a type of sound whose relation is not enclosure.
func addLinksOfAtom(feed *gofeed.Feed) {
	original, ok := feed.OriginalFeed().(*atom.Feed)
	if !ok || len(original.Entries) != len(feed.Items) {
		return
	}
	for i, entry := range original.Entries {
		if entry.Content != nil && entry.Content.Src != "" && hasSound(entry.Content.Type) {
			addEnclosure(feed.Items[i], gofeed.Enclosure{URL: entry.Content.Src, Type: entry.Content.Type})
		}
		for _, link := range entry.Links {
			if hasSound(link.Type) {
				addEnclosure(feed.Items[i], gofeed.Enclosure{URL: link.Href, Type: link.Type, Length: link.Length})
			}
		}
	}
}

// hasSound reports whether a type is of audio or video.
func hasSound(mediaType string) bool {
	major, _, _ := strings.Cut(strings.ToLower(mediaType), "/")
	return major == "audio" || major == "video"
}
