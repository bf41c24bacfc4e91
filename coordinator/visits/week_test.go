package visits_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/database"
	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/protocol/visit/policy"
)

// rhythm is how an origin changes: every so often, seven minutes after noon. A feed has its last 20 items; a repository
// tells all commits since the last visit. One that never changes is not found.
type rhythm struct {
	kind  models.OriginKind
	every time.Duration
}

var rhythms = map[string]rhythm{
	"https://a.example/hourly": {models.Feed, time.Hour},
	"https://b.example/weekly": {models.Feed, 7 * 24 * time.Hour},
	"https://c.example/dead":   {models.Feed, 0},
	"https://d.example/daily":  {models.Git, 24 * time.Hour},
}

// last returns the time of the last change before at.
func (r rhythm) last(at time.Time) time.Time {
	first := noon.AddDate(-1, 0, 0).Add(7 * time.Minute)
	return first.Add(at.Sub(first) / r.every * r.every)
}

// outcome is that of a visit, as managers report it.
func (r rhythm) outcome(v models.Visit, at time.Time) models.Outcome {
	o := outcome(v, at, models.NotFound, "")
	o.Took = 1
	if r.every == 0 {
		return o
	}
	newest, known := r.last(at), v.Known.At
	o.Status, o.Digest = models.Uneventful, newest.String()
	if o.Digest != v.Known.Digest {
		o.Status = models.Eventful
	}
	if r.kind == models.Git {
		if o.Since = known; known.IsZero() {
			o.Since = at.AddDate(0, 0, -180)
		}
		for c := newest; c.After(o.Since); c = c.Add(-r.every) {
			o.ChangedAt = append([]time.Time{c}, o.ChangedAt...)
		}
		o.Changes = len(o.ChangedAt)
		return o
	}
	added := 0
	for i := range 20 {
		c := newest.Add(-r.every * time.Duration(19-i))
		o.ChangedAt = append(o.ChangedAt, c)
		if c.After(known) {
			added++
		}
	}
	o.Window, o.New = 20, &added
	return o
}

// week visits the origins of rhythms as soon as each rest is over, for some days, and returns how often each was
// visited in the last three.
func week(t *testing.T, s *opened, days int) (last map[string]int, end time.Time) {
	t.Helper()
	var all []visits.Named
	for uri, r := range rhythms {
		all = append(all, visits.Named{Origin: models.Origin{ID: models.NewID(uri), Kind: r.kind, URI: uri}})
	}
	list(t, s, noon, visits.Listing{Origins: all})
	last, end = map[string]int{}, noon.AddDate(0, 0, days)
	for at := noon; at.Before(end); {
		var outcomes []models.Outcome
		for _, v := range claim(t, s, at, len(all)) {
			outcomes = append(outcomes, rhythms[v.Origin.URI].outcome(v, at))
			if at.After(end.AddDate(0, 0, -3)) {
				last[v.Origin.URI]++
			}
		}
		record(t, s, at, outcomes...)
		next, err := s.Wake(t.Context(), at)
		require.NoError(t, err)
		require.True(t, next.After(at))
		at = next
	}
	return last, end
}

func TestAWeekOfVisitsIsShownAsItWas(t *testing.T) {
	t.Parallel()
	s := openPlan(t, database.Memory, "value", "")
	last, end := week(t, s, 8)
	next, err := s.Next(t.Context(), end, 9)
	require.NoError(t, err)
	shown := map[string]visits.OriginSchedule{}
	for uri, r := range rhythms {
		o := look(t, s, end, models.NewID(uri))
		shown[uri] = o
		if r.every > 0 {
			require.InEpsilon(t, 24/r.every.Hours(), o.Rate, 0.3, uri)
			require.Zero(t, o.Failures, uri)
			require.Zero(t, o.Missed, uri)
		}
		if r.every >= 24*time.Hour {
			require.Equal(t, r.last(end).Add(r.every).Unix(), o.Habit.Next, uri)
		}
	}
	dead := shown["https://c.example/dead"]
	require.Equal(t, policy.NotFoundCooldown, dead.Why)
	require.Equal(t, len(dead.History), dead.Failures)

	var ready []string
	for _, n := range next {
		ready = append(ready, n.Origin.URI)
		require.Equal(t, shown[n.Origin.URI].Rate, n.Rate)
		require.Equal(t, shown[n.Origin.URI].Value, n.Value)
	}
	for uri, o := range shown {
		require.Equal(t, o.Until <= end.Unix(), slices.Contains(ready, uri), uri)
	}

	c, err := s.Capacity(t.Context(), end, 4)
	require.NoError(t, err)
	require.Empty(t, c.Warnings)
	made := map[models.OriginKind]float64{}
	for uri, n := range last {
		made[rhythms[uri].kind] += float64(n) / 3
	}
	require.Len(t, c.Kinds, 2)
	for _, k := range c.Kinds {
		require.InEpsilon(t, made[k.Kind], k.Visits, 0.05, k.Kind)
	}
}
