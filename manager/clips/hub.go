package clips

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	feedjson "github.com/mmcdole/gofeed/json"

	"leasehold/models"
)

// hubOf returns the WebSub hub of a feed that was read at a URI, and the feed's topic there: by the headers Link or,
// if these name no hub, by the document. It is the zero Hub if the feed does not name both, or they are not accepted.
func hubOf(uri string, headers []string, d document) models.Hub {
	for _, links := range []map[string]string{headerLinks(headers), documentLinks(d)} {
		h := models.Hub{URL: resolveAgainst(uri, links["hub"]), Topic: resolveAgainst(uri, links["self"])}
		if links["hub"] != "" && links["self"] != "" && h.Valid() {
			return h
		}
	}
	return models.Hub{}
}

// A link of a header Link: the target, and its parameters.
var (
	headerLink = regexp.MustCompile(`<([^<>]+)>((?:\s*;\s*[a-zA-Z*]+\s*=\s*(?:"[^"]*"|[^\s",;<>]*))*)`)
	relation   = regexp.MustCompile(`(?i);\s*rel\s*=\s*(?:"([^"]*)"|([^\s",;]*))`)
)

// maxLinks is how many links of the headers are read.
const maxLinks = 100

// headerLinks returns the first link of each relation in the headers Link.
func headerLinks(headers []string) map[string]string {
	links := map[string]string{}
	for _, link := range headerLink.FindAllStringSubmatch(strings.Join(headers, ", "), maxLinks) {
		rel := relation.FindStringSubmatch(link[2])
		if rel == nil {
			continue
		}
		for _, name := range strings.Fields(rel[1] + rel[2]) {
			noteLink(links, name, link[1])
		}
	}
	return links
}

// documentLinks returns the first link of each relation in a document, with the hub of a JSON Feed.
func documentLinks(d document) map[string]string {
	links := linksOf(d.feed)
	if _, isJSON := d.feed.OriginalFeed().(*feedjson.Feed); isJSON {
		noteLink(links, "hub", hubOfJSON(d.text))
	}
	return links
}

// hubOfJSON returns the WebSub hub of a JSON Feed, which its parser leaves out.
func hubOfJSON(doc []byte) string {
	var feed struct {
		Hubs []struct{ Type, URL string }
	}
	_ = json.Unmarshal(doc, &feed) // what has another type is left out
	at := slices.IndexFunc(feed.Hubs, func(h struct{ Type, URL string }) bool { return strings.EqualFold(h.Type, "WebSub") })
	if at < 0 {
		return ""
	}
	return feed.Hubs[at].URL
}
