package clips

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"

	"leasehold/manager/repair"
	"leasehold/models"
	"leasehold/shared/fault"
)

// A curator turns items into episodes and problems.
type curator struct {
	origin   models.Origin
	resolve  func(enclosure string) (uri, version string, err error)
	episodes []models.Episode
	problems problems
	seen     map[string]bool // names
	misread  int             // titles that were repaired
}

// addItem adds item n as an episode, or a problem if it cannot be curated. Without a version of its file, the URL,
// the length and the dates stand for one.
func (c *curator) addItem(n int, item *gofeed.Item) {
	enclosure, err := chooseEnclosure(item.Enclosures)
	label := cmp.Or(sanitize(item.Title), sanitize(item.GUID), sanitize(enclosure.URL), fmt.Sprintf("item %d", n+1))
	if err != nil {
		c.problems.add(label, "%v", err)
		return
	}
	uri, version, resolveErr := c.resolve(enclosure.URL)
	name, err := c.nameItem(oneLine(item.GUID), oneLine(enclosure.URL), uri)
	switch {
	case err != nil:
		c.problems.add(label, "%v", err)
		return
	case resolveErr != nil:
		c.problems.add(label, "enclosure %s: %v", sanitize(enclosure.URL), fault.Reason(resolveErr))
		return
	}
	c.seen[name], c.seen[pairName(item.GUID, uri)] = true, true
	e := models.Episode{Aired: aired(item)}
	e.Name = name
	e.Title = cmp.Or(c.title(item.Title), sanitize(path.Base(uri)))
	e.Priority = c.choosePriority(label, item)
	e.Media = models.MediaRef{URI: uri, Type: mediaType(enclosure), Version: version}
	if version == "" {
		e.Media.Version = models.NewID(uri, enclosure.Length, item.Published, item.Updated)
	}
	c.episodes = append(c.episodes, e)
}

// nameItem returns the name of an item: its guid, or without one its URL as the feed writes it. Of several items with
// one guid the first keeps it; the others are named by it and their absolute URL without its query, which may change
// at each visit. The error, for people, tells why the item has no name of its own.
func (c *curator) nameItem(guid, url, uri string) (string, error) {
	name := cmp.Or(guid, url)
	if guid != "" && c.seen[name] && uri != "" {
		name = pairName(guid, uri)
	}
	switch {
	case len(name) > nameLimit:
		return "", fmt.Errorf("its guid, or the URL in its place, has more than %d bytes", nameLimit)
	case guid != "" && c.seen[name]:
		return "", fmt.Errorf("an earlier item has the same guid and enclosure, %s", sanitize(guid))
	case c.seen[name]:
		return "", fmt.Errorf("an earlier item has the same enclosure, %s", sanitize(url))
	}
	return name, nil
}

// pairName is the name of an item whose guid others have too.
func pairName(guid, uri string) string {
	uri, _, _ = strings.Cut(uri, "?")
	return oneLine(guid) + " " + oneLine(uri)
}

// title returns a title as one line. It repairs one that is certain to be misread UTF-8, and counts it.
func (c *curator) title(s string) string {
	if repaired, ok := repair.Misread(s); ok {
		s = repaired
		c.misread++
	}
	return sanitize(s)
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
