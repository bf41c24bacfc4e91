package attention

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"leasehold/coordinator/actions"
	"leasehold/models"
	"leasehold/shared/protocol/task"
)

// suspects finds the tasks whose workers were lost twice.
func (w *Watcher) suspects(ctx context.Context, _ time.Time) (items []models.Attention, err error) {
	all, err := w.tasks().Suspects(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		where := l.Why.Text
		if l.CurrentClaimant != "" {
			where = "worker " + name(l.CurrentClaimant) + " has it alone"
		}
		items = append(items, models.Attention{
			Cause: models.CauseSuspect, Severity: models.Degrades, About: l.ID, Count: l.Lost, Example: l.ID,
			Text:    fmt.Sprintf("Task %s of %s was held at %d losses of its worker, and may be the reason", l.ID, name(l.Action), l.Lost),
			Detail:  where,
			Command: "leasehold task cancel " + word(l.ID),
			Remedy:  lasting(remedy("Cancel "+l.ID, "cancelTask", "task", l.ID)),
		})
	}
	return cut(items), nil
}

// Of slow attempts: how many times the 95th percentile of an action's attempts is slow, for at least how long an attempt
// must run, from how many attempts on the percentile counts, and how many running tasks of an action are read.
const (
	slowTimes   = 5
	slowAtLeast = time.Minute
	slowFrom    = 20
	maxRunning  = 10_000
)

// slowAttempts finds the actions with attempts that run far longer than their others.
func (w *Watcher) slowAttempts(ctx context.Context, now time.Time) (items []models.Attention, err error) {
	all, err := w.state.Actions.Read(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range all.Actions {
		if a.Number < slowFrom || a.Counts[task.Claimed] == 0 {
			continue
		}
		i, err := w.slowOf(ctx, now, a)
		if err != nil {
			return nil, err
		}
		if i.Count > 0 {
			items = append(items, i)
		}
	}
	return cut(items), nil
}

// slowOf returns the item of an action; its count is 0 if none of its attempts is slow.
func (w *Watcher) slowOf(ctx context.Context, now time.Time, a actions.Action) (i models.Attention, err error) {
	limit := max(slowTimes*a.P95, slowAtLeast)
	var oldest task.Listed
	for from, read := task.Cursor(nil), 0; read < maxRunning; {
		page, next, err := w.tasks().List(ctx, task.Filter{State: task.Claimed, Action: a.Action}, from, task.MaxListed)
		if err != nil {
			return i, err
		}
		for _, l := range page {
			if l.Err != nil || now.Sub(l.ClaimedAt) < limit {
				continue
			}
			i.Count++
			if oldest.ID == "" || l.ClaimedAt.Before(oldest.ClaimedAt) {
				oldest = l
			}
		}
		read += len(page)
		if len(next) == 0 {
			break
		}
		from = next
	}
	if i.Count == 0 {
		return i, nil
	}
	i.Cause, i.Severity, i.About, i.Example, i.Since = models.CauseSlow, models.Degrades, a.Action, oldest.ID, oldest.ClaimedAt.Add(limit)
	i.Text = fmt.Sprintf("%s of %s run%s for over %s, while 95 of 100 take at most %s", count(i.Count, "attempt"), name(a.Action), verb(i.Count), short(limit), short(a.P95))
	i.Detail = fmt.Sprintf("Longest: task %s on %s since %s.", oldest.ID, name(oldest.CurrentClaimant), clock(oldest.ClaimedAt))
	i.Command = "leasehold task show " + word(oldest.ID)
	i.Remedy = lasting(remedy("Cancel "+oldest.ID, "cancelTask", "task", oldest.ID))
	return i, nil
}

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
	groups := map[string]*deadGroup{}
	for from, read := task.Cursor(nil), 0; total > 0 && read < maxDead; {
		page, next, err := w.tasks().List(ctx, task.Filter{State: task.StateDead}, from, task.MaxListed)
		if err != nil {
			return nil, err
		}
		for _, l := range page {
			addDead(groups, l)
		}
		read += len(page)
		if len(next) == 0 {
			break
		}
		from = next
	}
	var items []models.Attention
	for _, g := range groups {
		items = append(items, g.item())
	}
	w.dead = deadRead{now, total, cut(items)}
	return w.dead.items, nil
}

// deadGroup is the dead letters of an action with one error.
type deadGroup struct {
	action, reason string // masked
	count          int64
	first          task.Listed
	last           time.Time
}

// maxGroups bounds the groups, because each error may be different; the rest are one group of their action.
const maxGroups = 1000

func addDead(groups map[string]*deadGroup, l task.Listed) {
	reason := mask(l.Reason)
	key := l.Action + "\x00" + reason
	if groups[key] == nil && len(groups) >= maxGroups {
		reason = "various errors"
		key = l.Action + "\x00"
	}
	g := groups[key]
	if g == nil {
		g = &deadGroup{action: l.Action, reason: reason, first: l}
		groups[key] = g
	}
	g.count++
	if g.last.Before(l.DiedAt) {
		g.last = l.DiedAt
	}
	if !l.DiedAt.IsZero() && (g.first.DiedAt.IsZero() || l.DiedAt.Before(g.first.DiedAt)) {
		g.first = l
	}
}

func (g *deadGroup) item() models.Attention {
	i := models.Attention{
		Cause: models.CauseDead, Severity: models.Degrades, About: g.action + ": " + g.reason, Count: g.count, Example: g.first.ID, Since: g.first.DiedAt,
		Text:    fmt.Sprintf("%s of %s: %s", count(g.count, "dead letter"), name(g.action), name(g.reason)),
		Detail:  fmt.Sprintf("First %s, with %s.", g.first.ID, name(g.first.Reason)),
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
