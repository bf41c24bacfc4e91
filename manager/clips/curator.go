package clips

import (
	"cmp"
	"context"
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
	misread  int // titles that were repaired
}

// addItems adds the items of a feed. The error is the cause of ctx.
func (c *curator) addItems(ctx context.Context, items []*gofeed.Item) error {
	var all []listed
	names, taken := namer{}, map[string]bool{}
	for n, item := range items {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if x, ok := c.list(n, item); ok {
			all = append(all, x)
			names.note(x)
		}
	}
	for _, x := range all {
		c.addEpisode(x, names.name(x, taken))
	}
	return nil
}

// list resolves the enclosure of item n; one without is a problem.
func (c *curator) list(n int, item *gofeed.Item) (x listed, ok bool) {
	x = listed{Item: item, number: n}
	var err error
	if x.enclosure, err = chooseEnclosure(item.Enclosures); err != nil {
		c.problems.add(x.label(), "%v", err)
		return x, false
	}
	if x.uri, x.version, err = c.resolve(x.enclosure.URL); err != nil {
		c.problems.add(x.label(), "enclosure %s: %v", sanitize(x.enclosure.URL), fault.Reason(err))
		return x, false
	}
	return x, true
}

// addEpisode adds an item as an episode with a name, or a problem if it has none of its own or one that is too long.
// Without a version of its file, the URL, the length and the dates stand for one.
func (c *curator) addEpisode(x listed, name string) {
	switch {
	case len(cmp.Or(name, x.names()[0])) > nameLimit:
		c.problems.add(x.label(), "its guid, or the URL in its place, has more than %d bytes", nameLimit)
		return
	case name == "" && x.GUID != "":
		c.problems.add(x.label(), "an earlier item has the same guid and enclosure, %s", sanitize(x.GUID))
		return
	case name == "":
		c.problems.add(x.label(), "an earlier item has the same enclosure, %s", sanitize(x.enclosure.URL))
		return
	}
	e := models.Episode{Aired: aired(x.Item)}
	e.Name = name
	e.Title = cmp.Or(c.title(x.Title), sanitize(path.Base(x.uri)))
	e.Priority = c.choosePriority(x.label(), x.Item)
	e.Media = models.MediaRef{URI: x.uri, Type: mediaType(x.enclosure), Version: x.version}
	if x.version == "" {
		e.Media.Version = models.NewID(x.uri, x.enclosure.Length, x.Published, x.Updated)
	}
	c.episodes = append(c.episodes, e)
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
