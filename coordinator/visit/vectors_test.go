package visit_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visit"
)

// A vector is one example of the specification (testdata/vectors.json).
type vector struct {
	ID, Kind, Name       string
	Before, Event, After json.RawMessage
	QueuePosition        int64
	SWHToday             *record
}

// record is a visit.State as written in the vectors; null is visit.Never.
type record struct {
	Idx                                                                  int
	Fails                                                                int
	Enabled                                                              *bool
	Target, LastVisit, LastSuccess, LastUpdate, LastScheduled, FirstSeen *int64
	LastDigest                                                           *string
	LastStatus, URL                                                      string
}

func when(t *int64) int64 {
	if t == nil {
		return visit.Never
	}
	return *t
}

func (r record) state() visit.State {
	s := visit.NewState(1, when(r.FirstSeen), visit.DefaultRules())
	s.Target, s.LastVisit, s.LastSuccess = when(r.Target), when(r.LastVisit), when(r.LastSuccess)
	s.LastUpdate, s.LastScheduled = when(r.LastUpdate), when(r.LastScheduled)
	s.Index, s.Failures = r.Idx, r.Fails
	if r.Enabled != nil && !*r.Enabled {
		s.Disabled = visit.ByFailures
	}
	if r.LastDigest != nil {
		s.LastDigest = *r.LastDigest
	}
	switch r.LastStatus {
	case "failed", "not_found":
		s.LastStatus = visit.Status(r.LastStatus)
	case "successful":
		s.LastStatus = visit.Full
	}
	return s
}

func (r record) check(t *testing.T, s visit.State, what string) {
	t.Helper()
	want := r.state()
	require.Equal(t, want.Target, s.Target, what)
	require.Equal(t, want.Index, s.Index, what)
	require.Equal(t, want.Failures, s.Failures, what)
	require.Equal(t, want.Enabled(), s.Enabled(), what)
	require.Equal(t, want.LastVisit, s.LastVisit, what)
	require.Equal(t, want.LastSuccess, s.LastSuccess, what)
	require.Equal(t, want.LastDigest, s.LastDigest, what)
}

type event struct {
	Outcome                       string
	Date                          int64
	Digest                        *string
	Fudge                         float64
	Digests                       string
	Outcomes                      []string
	QueuePosition, Slots, At, Now int64
	LastUpdate                    *int64
}

func (e event) event() visit.Event {
	x := visit.Event{Status: visit.Status(e.Outcome), At: e.Date, Fudge: e.Fudge}
	if e.Digest != nil {
		x.Digest = *e.Digest
	}
	return x
}

// newPolicy returns a policy under the rules of the specification, by which the number of
// failures alone disables an origin.
func newPolicy(t *testing.T, name string) visit.Policy {
	t.Helper()
	rules := visit.DefaultRules()
	rules.DisableSpan = 0
	p, err := visit.New(name, rules)
	require.NoError(t, err)
	return p
}

func decode(t *testing.T, raw json.RawMessage, to any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(raw, to))
}

func TestEveryVectorOfTheSpecificationHolds(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/vectors.json")
	require.NoError(t, err)
	var all struct {
		MaxIndex, DisableAfter int
		Vectors                []vector
	}
	require.NoError(t, json.Unmarshal(content, &all))
	require.Len(t, all.Vectors, 72)
	rules := visit.DefaultRules()
	require.Len(t, rules.Intervals, all.MaxIndex+1)
	require.Equal(t, all.DisableAfter, rules.DisableAfter)
	checks := map[string]func(*testing.T, vector){
		"interval": checkInterval, "visit": checkVisit, "chain": checkChain, "listing": checkListing, "group": checkGroup,
		"split": checkSplit, "eligible": checkEligible, "order": checkOrder, "value": checkValue,
	}
	for _, v := range all.Vectors {
		require.Contains(t, checks, v.Kind)
		t.Run(v.ID+" "+v.Name, func(t *testing.T) { checks[v.Kind](t, v) })
	}
}

func checkInterval(t *testing.T, v vector) {
	var before struct{ Idx int }
	var after struct{ Days, Seconds, Min, Max int64 }
	decode(t, v.Before, &before)
	decode(t, v.After, &after)
	r := visit.DefaultRules()
	require.EqualValues(t, after.Days, r.Intervals[before.Idx])
	require.Equal(t, after.Seconds, r.Interval(before.Idx, 0))
	require.Equal(t, after.Min, r.Interval(before.Idx, -0.1))
	require.Equal(t, after.Max, r.Interval(before.Idx, 0.1))
}

func checkVisit(t *testing.T, v vector) {
	var before, after record
	var e event
	decode(t, v.Before, &before)
	decode(t, v.Event, &e)
	decode(t, v.After, &after)
	for _, name := range []string{"seed", "value"} {
		got, _ := newPolicy(t, name).Record(before.state(), e.event(), v.QueuePosition)
		after.check(t, got, name)
	}
	if v.SWHToday != nil {
		s := before.state()
		if s.Failures > 0 {
			s.LastStatus = visit.Failed
		}
		got, _ := newPolicy(t, "swh2026").Record(s, e.event(), v.QueuePosition)
		v.SWHToday.check(t, got, "swh2026")
	}
}

func checkChain(t *testing.T, v vector) {
	var before record
	var e event
	var after struct{ Steps [][]any }
	decode(t, v.Before, &before)
	decode(t, v.Event, &e)
	decode(t, v.After, &after)
	p := newPolicy(t, "seed")
	s, date := before.state(), int64(600000)
	for i, step := range after.Steps {
		x := visit.Event{Status: visit.Full, At: date + int64(i), Digest: "s0"}
		if e.Digests != "" {
			x.Digest = e.Digests[i : i+1]
		} else if x.Status = visit.Status(e.Outcomes[i]); x.Status != visit.Full {
			x.Digest = ""
		}
		s, _ = p.Record(s, x, e.QueuePosition)
		got := []any{step[0], float64(s.Index), float64(s.Target)}
		if len(step) > 3 {
			got = append(got, float64(s.Failures), s.Enabled())
		}
		require.Equal(t, step, got, "step %d", i)
	}
}

func checkListing(t *testing.T, v vector) {
	var before struct {
		record
		Group string
	}
	after := before
	var e event
	decode(t, v.Before, &before)
	decode(t, v.Event, &e)
	decode(t, v.After, &after)
	s := before.state()
	require.Equal(t, before.Group, visit.Group(s).String())
	s = visit.Listed(s, e.At, when(e.LastUpdate))
	after.check(t, s, v.Name)
	require.Equal(t, when(after.LastUpdate), s.LastUpdate)
	require.Equal(t, after.Group, visit.Group(s).String())
	require.Equal(t, e.At, s.LastSeen)
}

func checkGroup(t *testing.T, v vector) {
	var before record
	var after struct{ Group string }
	decode(t, v.Before, &before)
	decode(t, v.After, &after)
	require.Equal(t, after.Group, visit.Group(before.state()).String())
}

func checkSplit(t *testing.T, v vector) {
	var before struct {
		A, B      int
		Available map[string]int
	}
	var e event
	var after map[string]int
	decode(t, v.Before, &before)
	decode(t, v.Event, &e)
	decode(t, v.After, &after)
	q := &naiveQueues{}
	key := int64(0)
	for _, pool := range []visit.Pool{visit.PoolA, visit.PoolB1, visit.PoolB2, visit.PoolB3} {
		for range min(before.Available[pool.String()], int(e.Slots)) {
			key++
			q.add(key, visit.Place{Pool: pool, Ref: key})
		}
	}
	got := map[string]int{"A": 0, "B1": 0, "B2": 0, "B3": 0}
	picked := visit.Pick(newPolicy(t, "seed"), q, 0, int(e.Slots), visit.Counts{A: before.A, B: before.B}, nil)
	for _, c := range picked {
		got[c.Place.Pool.String()]++
	}
	require.Equal(t, after, got)
}

func checkEligible(t *testing.T, v vector) {
	var before record
	var e event
	var after struct {
		Eligible bool
		Why      string
	}
	decode(t, v.Before, &before)
	decode(t, v.Event, &e)
	decode(t, v.After, &after)
	// The cooldowns of the vectors come from Software Heritage; other policies have shorter ones.
	why := visit.DefaultRules().ForPolicy("swh2026").Why(before.state(), e.Now)
	require.Equal(t, after.Why, why)
	require.Equal(t, after.Eligible, why == visit.Eligible)
}

func checkOrder(t *testing.T, v vector) {
	var before struct{ Origins []record }
	var after map[string][]string
	decode(t, v.Before, &before)
	decode(t, v.After, &after)
	p := newPolicy(t, "seed")
	q := &naiveQueues{}
	for i, r := range before.Origins {
		s := r.state()
		s.Key = int64(i)
		q.add(s.Key, p.Place(s))
	}
	got := map[string][]string{}
	for _, c := range visit.Pick(p, q, 0, 100, visit.Counts{A: 3, B: 6}, nil) {
		pool := c.Place.Pool.String()
		got[pool] = append(got[pool], before.Origins[c.Key].URL)
	}
	require.Equal(t, after, got)
}

func checkValue(t *testing.T, v vector) {
	var before struct{ Rate, Tau float64 }
	var after struct{ Freshness, Harmonic, Value float64 }
	decode(t, v.Before, &before)
	decode(t, v.After, &after)
	fresh, lag := visit.Terms(before.Rate*before.Tau, before.Tau, before.Rate)
	require.InEpsilon(t, after.Freshness, fresh, 1e-9)
	require.InEpsilon(t, after.Harmonic, lag, 1e-9)
	require.InEpsilon(t, after.Value, fresh+lag, 1e-9)
}

// naiveQueues keeps all candidates in one sorted slice.
type naiveQueues struct {
	all   []visit.Candidate
	known []visit.Queue
}

func (l *naiveQueues) add(key int64, p visit.Place) {
	if q := p.Queue(); !slices.Contains(l.known, q) {
		l.known = append(l.known, q)
	}
	l.all = append(l.all, visit.Candidate{Key: key, Host: fmt.Sprint("host", key%3), Place: p})
	slices.SortFunc(l.all, func(a, b visit.Candidate) int {
		switch {
		case a.Place.Ref != b.Place.Ref && a.Place.Ref < b.Place.Ref, a.Place.Ref == b.Place.Ref && a.Key < b.Key:
			return -1
		}
		return 1
	})
}

func (l *naiveQueues) Of(p visit.Pool) []visit.Queue {
	var queues []visit.Queue
	for _, q := range l.known {
		if q.Pool == p {
			queues = append(queues, q)
		}
	}
	return queues
}

func (l *naiveQueues) Next(q visit.Queue, back bool) (c visit.Candidate, ok bool) {
	at := -1
	for i, x := range l.all {
		if x.Place.Queue() == q && (at < 0 || back) {
			at = i
		}
	}
	if at < 0 {
		return c, false
	}
	c = l.all[at]
	l.all = slices.Delete(l.all, at, at+1)
	return c, true
}

func (l *naiveQueues) Quality(int32) visit.Quality { return visit.Quality{Recall: 0.9, False: 0.01} }
