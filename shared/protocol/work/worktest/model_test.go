package worktest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/work"
)

// fleet is workers and managers that act in random order. The state machine checks the
// invariants after each step, and at the end that all issued work ends.
type fleet struct {
	fixture  *fixture
	born     int
	workers  map[string]*hand
	managers map[string]*clerk
	gone     []task.Item // that workers gave back or lost
	tokens   map[string]int64
	done     map[string][]string // parts that the catalog has, by subject
}

type hand struct {
	*session
	items []*held
}

// held is a task that a worker holds until due, unless it gives it back.
type held struct {
	task.Item
	due time.Time
}

type clerk struct {
	*session
	results []*work.Held
	seen    work.InProgress // before it selected
	chosen  *models.Task    // neither reserved nor done; nil: nothing
}

func TestAnythingAtAnyTime(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var failed any // rapid must recover it outside of the bubble
		synctest.Test(t, func(t *testing.T) {
			defer func() { failed = recover() }()
			runFleet(t, r)
		})
		switch {
		case failed == nil:
		case strings.HasSuffix(fmt.Sprintf("%T", failed), "invalidData"):
			panic(failed) // at a line of its own, because rapid identifies failures by their line
		default:
			panic(failed)
		}
	})
}

// runFleet is one run of the state machine.
func runFleet(t *testing.T, r *rapid.T) {
	p := policy
	p.Task.MaxAttempts = 1 // so that tasks die often
	fx := open(t, r, Direct, p)
	defer fx.close()
	fx.beat, fx.sessionTTL = time.Minute, 3*time.Minute
	f := &fleet{fixture: fx, workers: map[string]*hand{}, managers: map[string]*clerk{}, tokens: map[string]int64{}, done: map[string][]string{}}
	for range 2 {
		f.hire(r)
		f.open()
	}
	r.Repeat(map[string]func(*rapid.T){
		"": f.check, "issue": f.issue, "choose": f.choose, "choose more": f.choose, "issue the choice": f.issueChoice, "claim": f.claim, "claim more": f.claim,
		"report": f.report, "release": f.release, "hand back": f.handBack, "end and claim": f.next, "extend": f.extend, "late": f.late,
		"a worker goes": f.workerGoes, "hold": f.hold, "ingest": f.ingest, "a manager goes": f.managerGoes,
		"revive stuck": f.reviveStuck, "time passes": f.pass,
	})
	f.finish(r)
}

// one draws a value of m, or skips the step if there is none.
func one[V any](r *rapid.T, m map[string]V) V {
	if len(m) == 0 {
		r.SkipNow()
	}
	return m[rapid.SampledFrom(slices.Sorted(maps.Keys(m))).Draw(r, "who")]
}

func (f *fleet) hire(r *rapid.T) {
	f.born++
	id := fmt.Sprint("worker-", f.born)
	f.workers[id] = &hand{session: f.fixture.worker(id, rapid.SampledFrom([]int{1, 2, 0}).Draw(r, "slots"))}
}

func (f *fleet) open() {
	f.born++
	id := fmt.Sprint("manager-", f.born)
	f.managers[id] = &clerk{session: f.fixture.manager(id)}
}

func (f *fleet) issue(r *rapid.T) {
	m := one(r, f.managers)
	t := f.wanted(r, rapid.SampledFrom(sites).Draw(r, "subject"), []string{"a", "b", "c", "d"}, 0)
	if _, err := m.work.Issue(f.fixture.Context(), m.inProgress(), t, rapid.Int64Range(0, 2).Draw(r, "priority")); err != nil {
		require.ErrorIs(r, err, fault.ErrConflict)
	}
}

var sites = []string{"site-1", "site-2"}

// wanted draws a task of some of these parts.
func (f *fleet) wanted(r *rapid.T, subject string, of []string, least int) models.Task {
	t := toDig(subject, rapid.SliceOfNDistinct(rapid.SampledFrom(of), least, min(3, len(of)), rapid.ID).Draw(r, "parts")...)
	t.Timeout = rapid.SampledFrom([]models.Seconds{60, 600, 2400, 7200}).Draw(r, "timeout")
	return t
}

// choose reads the work in progress, and selects undone parts of the rest.
func (f *fleet) choose(r *rapid.T) {
	m, subject := one(r, f.managers), rapid.SampledFrom(sites).Draw(r, "subject")
	m.seen, m.chosen = m.inProgress(), nil
	open := slices.DeleteFunc([]string{"a", "b", "c", "d"}, func(part string) bool {
		return slices.Contains(f.done[subject], part) || slices.ContainsFunc(m.seen.Reserved, func(c work.Reserved) bool {
			return c.Subject == subject && (len(c.Parts) == 0 || slices.Contains(c.Parts, part))
		})
	})
	if len(open) > 0 {
		t := f.wanted(r, subject, open, 1)
		m.chosen = &t
	}
}

// issueChoice issues an earlier selection. If that succeeds, none of its parts is done
// or has a result that waits.
func (f *fleet) issueChoice(r *rapid.T) {
	decided := maps.Clone(f.managers)
	maps.DeleteFunc(decided, func(_ string, m *clerk) bool { return m.chosen == nil })
	m := one(r, decided)
	waits := f.fixture.state().results
	issued, err := m.work.Issue(f.fixture.Context(), m.seen, *m.chosen, 0)
	switch {
	case err != nil:
		require.ErrorIs(r, err, fault.ErrConflict)
	case !issued:
		return // it may be issued later
	default:
		for _, part := range m.chosen.Parts {
			require.NotContains(r, f.done[m.chosen.Subject], part)
			require.False(r, slices.ContainsFunc(waits, func(o task.ResultTuple) bool {
				return o.Subject == m.chosen.Subject && slices.Contains(lease.SplitParts(o.Part), part)
			}))
		}
	}
	m.chosen = nil
}

func (f *fleet) claim(r *rapid.T) {
	w := one(r, f.workers)
	i, ok := w.tryClaim()
	if !ok {
		return
	}
	w.takes(r, i)
}

func (w *hand) takes(r *rapid.T, i task.Item) {
	require.NotContains(r, i.Excluded(), w.repo.Session(), "it gave it back")
	w.items = append(w.items, &held{Item: i})
	w.items[len(w.items)-1].renew()
}

func (i *held) renew() { i.due = time.Now().Add(i.Timeout.Duration()) }

// item draws one of the items that a worker holds, and removes it if take is true.
func (f *fleet) item(r *rapid.T, take bool) (*hand, *held) {
	busy := maps.Clone(f.workers)
	maps.DeleteFunc(busy, func(_ string, w *hand) bool { return len(w.items) == 0 })
	w := one(r, busy)
	n := rapid.IntRange(0, len(w.items)-1).Draw(r, "item")
	i := w.items[n]
	if take {
		w.items = slices.Delete(w.items, n, n+1)
		f.gone = append(f.gone, i.Item)
	}
	return w, i
}

// heard checks that a call about an item fails with ErrStaleToken exactly if it is late.
func (f *fleet) heard(r *rapid.T, err error, i *held) {
	if time.Now().Before(i.due) {
		require.NoError(r, err)
		i.renew()
		return
	}
	require.ErrorIs(r, err, fault.ErrStaleToken)
}

func (f *fleet) report(r *rapid.T) {
	final := rapid.Bool().Draw(r, "final")
	w, i := f.item(r, final)
	f.heard(r, w.session.report(i.Item, rapid.SampledFrom([]string{"a", "b"}).Draw(r, "part"), final), i)
}

func (f *fleet) release(r *rapid.T) {
	w, i := f.item(r, true)
	f.heard(r, w.task.Release(f.fixture.Context(), i.Item, "cannot"), i)
}

func (f *fleet) handBack(r *rapid.T) {
	w, i := f.item(r, true)
	f.heard(r, w.task.HandBack(f.fixture.Context(), i.Item), i)
}

// next ends an attempt and claims the next task in the same call.
func (f *fleet) next(r *rapid.T) {
	w, i := f.item(r, true)
	outcome := rapid.SampledFrom([]task.Outcome{
		task.ToResolve(i.Item, "a", nil), task.ToRelease(i.Item, task.Failure{Reason: "cannot"}), task.ToHandBack(i.Item, 0),
	}).Draw(r, "outcome")
	ends, claimed, err := w.task.Next(f.fixture.Context(), []task.Outcome{outcome}, 1, dig)
	require.NoError(r, err)
	f.heard(r, ends[0].Err, i)
	for _, c := range claimed {
		w.takes(r, c.Item)
	}
}

func (f *fleet) extend(r *rapid.T) {
	w, i := f.item(r, false)
	f.heard(r, w.task.Extend(f.fixture.Context(), i.Item), i)
}

// late reports a task that was given back or lost; it must change nothing.
func (f *fleet) late(r *rapid.T) {
	if len(f.gone) == 0 {
		r.SkipNow()
	}
	i := rapid.SampledFrom(f.gone).Draw(r, "item")
	before := f.fixture.state()
	err := one(r, f.workers).session.report(i, "a", rapid.Bool().Draw(r, "final"))
	require.ErrorIs(r, err, fault.ErrStaleToken)
	after := f.fixture.state()
	require.Equal(r, before.leases, after.leases)
	require.Equal(r, before.tasks, after.tasks)
}
