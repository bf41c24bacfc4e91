// Package attention is the one source of attention items: what a person should look at, since when, and how to fix
// it. The page, `leasehold status`, the API, the metrics and the alert channel print what a Watcher reports.
//
// A Watcher computes the items once a second from state that exists: counts, labels, claims and the status of
// sessions. No check visits each task, so that the costs depend on the number of actions and workers, not of tasks.
// Checks that read the database run every few seconds.
//
// An item has the same id while its cause lasts, so that readers recognise it. Names, errors and other texts of
// clients are made one line of bounded valid UTF-8 without control characters (clean); readers escape the rest for
// their output.
//
// The package knows neither HTTP nor pages. A remedy names an operation of the API and its parameters.
package attention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
)

const (
	interval = time.Second     // between two reports
	slowly   = 5 * time.Second // between two runs of a check that reads the database, or much
	timeout  = 5 * time.Second // of one run of all checks

	maxItems  = 200            // of a report
	maxEach   = 20             // of one cause
	dismissed = 24 * time.Hour // after which a dismissed item is shown again
)

// check finds the items of one or several causes.
type check struct {
	name  string        // for people, such as "dead letters"
	every time.Duration // at least, between two runs
	find  func(ctx context.Context, now time.Time) ([]models.Attention, error)
}

// costs bounds the share of a core that a check takes: it runs again once so many times its duration have passed.
const costs = 250

// checked is a check with what it found last.
type checked struct {
	check
	next  time.Time // when it runs again
	items []models.Attention
	err   error
}

// Watcher computes the items. Its exported methods may be called concurrently.
type Watcher struct {
	Config

	// Used by Run only.
	state             State
	checks            []*checked
	dead              deadRead
	skips             map[string]skipped  // by schedule
	unable            map[string][]string // actions that a session cannot do now, by session
	servers           map[string]server   // by action, at most maxServed
	failed            uint64              // commits of the journal
	managed           time.Time           // when a manager was there last; at first, when the coordinator started
	slept             time.Duration       // the latest pause of the process
	sleptAt, failedAt time.Time

	took atomic.Int64 // time that all reports took, in nanoseconds

	mu      sync.Mutex // guards the fields below
	report  models.AttentionReport
	since   map[string]time.Time // of the items of the report, by id
	hidden  map[string]dismissal // by id
	held    map[string][]string  // tasks, by session
	lost    []lostSession        // the latest at the end
	changed chan struct{}        // closed at the next report
}

// dismissal is until when an item is hidden, and its count then.
type dismissal struct {
	until time.Time
	count int64
}

// New returns a watcher with an empty report. Run computes the reports.
func New(c Config) *Watcher {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	w := &Watcher{Config: c, servers: map[string]server{}, since: map[string]time.Time{}, hidden: map[string]dismissal{}, changed: make(chan struct{})}
	w.report.Items = []models.Attention{}
	for _, x := range w.allChecks() {
		w.checks = append(w.checks, &checked{check: x})
	}
	return w
}

// Run computes a report at once and then each second, until ctx ends. It must run at most once.
func (w *Watcher) Run(ctx context.Context, s State) {
	w.state = s
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		began := time.Now()
		w.compute(ctx, began)
		computed := time.Now()
		w.took.Add(int64(computed.Sub(began)))
		w.noteSleep(began, computed, timeout)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.noteSleep(computed, time.Now(), interval)
		}
	}
}

// Changed returns a channel that is closed when the next report comes.
func (w *Watcher) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

// Attention returns the latest report, and the cluster of the search server as it is known now; a zero At means that
// there is no report yet. Its items must not be changed.
func (w *Watcher) Attention() models.AttentionReport {
	w.mu.Lock()
	report := w.report
	w.mu.Unlock()
	if w.Index != nil {
		report.SearchCluster = w.Index.Cluster()
	}
	return report
}

// Took returns the time that all reports took together. It includes waiting, so it is at least the processor time.
func (w *Watcher) Took() time.Duration { return time.Duration(w.took.Load()) }

// Dismiss hides an item that a person has seen, until its cause ends, its count grows, or a day is over. It fails with
// fault.ErrNotFound if no item has the id.
func (w *Watcher) Dismiss(id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := slices.IndexFunc(w.report.Items, func(i models.Attention) bool { return i.ID == id })
	if at < 0 {
		return fmt.Errorf("attention item %.100q: %w: it may have ended", id, fault.ErrNotFound)
	}
	w.hidden[id] = dismissal{time.Now().Add(dismissed), w.report.Items[at].Count}
	w.report.Items = slices.Delete(slices.Clone(w.report.Items), at, at+1)
	return nil
}

// compute runs the checks that are due and replaces the report. A check that fails keeps the items that it found last,
// and an item tells that it failed. compute must not run twice at once.
func (w *Watcher) compute(ctx context.Context, now time.Time) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var items []models.Attention
	for _, x := range w.checks {
		if !now.Before(x.next) {
			began := time.Now()
			found, err := x.find(ctx, now)
			if errors.Is(err, context.Canceled) || errors.Is(err, fault.ErrClosed) {
				return // the coordinator stops
			}
			const early = interval / 2 // because the ticker is not exact
			x.next = now.Add(max(x.every-early, costs*time.Since(began)))
			x.note(found, err, w.Log)
		}
		items = append(items, x.items...)
		if x.err != nil {
			items = append(items, failed(x.name, x.err))
		}
	}
	w.publish(items, now)
}

// note keeps the result of a run. An error is logged when it begins.
func (x *checked) note(found []models.Attention, err error, log *slog.Logger) {
	if err != nil {
		if x.err == nil {
			log.Warn("attention: a check failed", "check", x.name, "error", err)
		}
		x.err = err
		return
	}
	x.items, x.err = found, nil
}

// failed is the item of a check that could not run.
func failed(name string, err error) models.Attention {
	return models.Attention{
		Cause: models.CauseUnknown, Severity: models.Degrades, About: name, Count: 1,
		Text: "It is not known what " + name + " need", Remedy: seen(), Detail: err.Error(), Command: "leasehold log",
	}
}

// publish replaces the report: it gives items their ids and times, makes their texts safe, leaves out those that are
// dismissed, and sorts the rest.
func (w *Watcher) publish(items []models.Attention, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	since, shown := map[string]time.Time{}, []models.Attention{}
	for _, i := range items {
		i = finish(i)
		if i.Since.IsZero() {
			i.Since = now
			if at, known := w.since[i.ID]; known {
				i.Since = at
			}
		}
		i.Since = i.Since.UTC().Truncate(time.Second)
		since[i.ID] = i.Since
		if d, isHidden := w.hidden[i.ID]; isHidden && now.Before(d.until) && i.Count <= d.count {
			continue
		}
		delete(w.hidden, i.ID)
		shown = append(shown, i)
	}
	for id := range w.hidden {
		if _, lasts := since[id]; !lasts {
			delete(w.hidden, id)
		}
	}
	slices.SortStableFunc(shown, compare)
	w.since = since
	w.report = models.AttentionReport{At: now.UTC(), Items: shown[:min(len(shown), maxItems)]}
	close(w.changed)
	w.changed = make(chan struct{})
}
