package attention

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/protocol/task"
)

// Dead letters are read again when their number changes, and after deadAge.
const (
	maxDead = 20_000
	deadAge = time.Minute
)

// deadRead is the groups of dead letters as they were read last.
type deadRead struct {
	at    time.Time
	total int
	items []models.Attention
}

// deadLetters finds the dead letters, grouped by action and error.
func (w *Watcher) deadLetters(ctx context.Context, now time.Time) ([]models.Attention, error) {
	total, err := w.state.Repo.Space(task.Dead).Count(ctx, task.AnyDead())
	if err != nil {
		return nil, err
	}
	if d := w.dead; !d.at.IsZero() && d.total == total && now.Sub(d.at) < deadAge {
		return d.items, nil
	}
	groups := deadGroups{byKey: map[string]*deadGroup{}, letters: map[string][]deadLetter{}}
	for from, read := task.Cursor(nil), 0; total > 0; {
		page, next, err := w.tasks().List(ctx, task.Filter{State: task.StateDead}, from, task.MaxListed)
		if err != nil {
			return nil, err
		}
		for _, l := range page {
			groups.add(l)
		}
		read += len(page)
		if len(next) == 0 {
			break
		}
		groups.more = read >= maxDead
		if groups.more {
			break
		}
		from = next
	}
	w.dead = deadRead{now, total, cut(groups.items())}
	return w.dead.items, nil
}

// deadGroups is dead letters by action and error.
type deadGroups struct {
	byKey   map[string]*deadGroup
	letters map[string][]deadLetter // by action
	more    bool                    // some were not read
}

// deadGroup is the dead letters of an action with one error.
type deadGroup struct {
	action, reason string // masked
	count          int64
	first          task.Listed
	last           time.Time
	prefix         string // that the errors of all begin with, in small letters
}

// deadLetter is the error of a dead letter as task.Filter looks for a text in it, in small letters.
type deadLetter struct {
	group *deadGroup
	error string
}

// maxGroups bounds the groups, because each error may be different; the rest are one group of their action.
const maxGroups = 1000

func (all *deadGroups) add(l task.Listed) {
	reason := mask(l.Reason)
	key := l.Action + "\x00" + reason
	if all.byKey[key] == nil && len(all.byKey) >= maxGroups {
		reason = "various errors"
		key = l.Action + "\x00"
	}
	text := strings.ToLower(l.Reason + l.State)
	g := all.byKey[key]
	if g == nil {
		g = &deadGroup{action: l.Action, reason: reason, first: l, prefix: text}
		all.byKey[key] = g
	}
	g.count++
	g.prefix = commonPrefix(g.prefix, text)
	if g.last.Before(l.DiedAt) {
		g.last = l.DiedAt
	}
	if !l.DiedAt.IsZero() && (g.first.DiedAt.IsZero() || l.DiedAt.Before(g.first.DiedAt)) {
		g.first = l
	}
	all.letters[l.Action] = append(all.letters[l.Action], deadLetter{g, text})
}

// commonPrefix returns the longest text that both begin with, in whole characters.
func commonPrefix(a, b string) string {
	for n, r := range a {
		if !strings.HasPrefix(b[min(n, len(b)):], string(r)) {
			return a[:n]
		}
	}
	return a
}

// items returns the items of the groups. Filters are looked for only for those that cut keeps, because that takes time.
func (all *deadGroups) items() (items []models.Attention) {
	groups := slices.SortedFunc(maps.Values(all.byKey), func(a, b *deadGroup) int {
		return cmp.Or(cmp.Compare(b.count, a.count), strings.Compare(a.about(), b.about()))
	})
	for n, g := range groups {
		i := g.item()
		if g.count > 1 && n < maxEach {
			if text, found := all.selecting(g); found {
				i.Command = "leasehold dead requeue --action " + word(g.action)
				if text != "" {
					i.Command += " --text " + word(text)
				}
				i.Remedy = with(remedy(fmt.Sprintf("Requeue %d", g.count), "requeueSelected"), types.Bulk{Action: g.action, Text: text, Count: g.count})
				i.Remedy.Count = g.count
			}
		}
		items = append(items, i)
	}
	return items
}

// selecting returns a text that is in the errors of the whole group and of no other dead letter of its action; empty if
// they are all of the group. It finds none if not all dead letters were read, because others may have the text too.
func (all *deadGroups) selecting(g *deadGroup) (text string, found bool) {
	if all.more {
		return "", false
	}
	const shortest = 4
	parts := maskedPart.Split(strings.ToLower(g.reason), -1)
	slices.SortStableFunc(parts, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, c := range slices.Concat([]string{""}, parts, []string{g.prefix}) {
		c = strings.Trim(strings.ToValidUTF8(c[:min(len(c), maxName)], ""), " :,;.")
		if clean(c, maxName) == c && (c == "" || len(c) >= shortest) && all.selects(c, g) {
			return c, true
		}
	}
	return "", false
}

// selects reports whether a text is in the errors of exactly the group, among those of its action.
func (all *deadGroups) selects(text string, g *deadGroup) bool {
	for _, l := range all.letters[g.action] {
		if strings.Contains(l.error, text) != (l.group == g) {
			return false
		}
	}
	return true
}

func (g *deadGroup) about() string { return g.action + ": " + g.reason }

func (g *deadGroup) item() models.Attention {
	i := models.Attention{
		Cause: models.CauseDead, Severity: models.Degrades, About: g.about(), Count: g.count, Example: g.first.ID, Since: g.first.DiedAt,
		Text:    fmt.Sprintf("%s of %s: %s", count(g.count, "dead letter"), name(g.action), name(g.reason)),
		Detail:  fmt.Sprintf("First %s: %s.", g.first.ID, name(g.first.Reason)),
		Command: "leasehold dead requeue " + word(g.first.ID),
		Remedy:  remedy("Requeue "+g.first.ID, "requeueDead", "task", g.first.ID),
	}
	if g.count > 1 {
		i.Detail += fmt.Sprintf(" The latest died at %s.", clock(g.last))
		i.Command = "leasehold dead list --action " + word(g.action)
	}
	return i
}

// What mask replaces in an error.
var (
	givenUp    = regexp.MustCompile(`^given up after attempt [0-9]+: `) // the protocol's own words
	maskURL    = regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s"'<>]+`)
	maskPath   = regexp.MustCompile(`(?:[A-Za-z]:)?(?:[\\/][^\s\\/:,;"'()]+){2,}[\\/]?`)
	maskID     = regexp.MustCompile(`\b[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4,})*\b|\b[A-Za-z]*[0-9][A-Za-z0-9]{11,}\b`)
	maskedPart = regexp.MustCompile(`\b(?:url|path|id|n)\b`) // what a masked error has in their places, in small letters
	maskNumber = regexp.MustCompile(`[0-9]+(?:[.,:][0-9]+)*`)
)

// mask replaces the URLs, paths, ids and numbers of an error, so that errors of one cause are equal.
func mask(reason string) string {
	reason = givenUp.ReplaceAllLiteralString(clean(reason, maxText), "")
	reason = maskURL.ReplaceAllLiteralString(reason, "URL")
	reason = maskPath.ReplaceAllLiteralString(reason, "PATH")
	reason = maskID.ReplaceAllLiteralString(reason, "ID")
	reason = maskNumber.ReplaceAllLiteralString(reason, "N")
	if strings.TrimSpace(reason) == "" {
		return "no reason given"
	}
	return reason
}
