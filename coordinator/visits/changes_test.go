package visits_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visits"
	"leasehold/models"
)

func oneFeed() []visits.Named {
	return []visits.Named{{Origin: models.Origin{ID: "o0", Kind: models.Feed, URI: "https://feeds.example/o0"}}}
}

// hourlyOutcome is what a visit of a feed with 20 items sees, one an hour until noon and later.
func hourlyOutcome(at time.Time, fresh int) models.Outcome {
	o := models.Outcome{Origin: "o0", Status: models.Eventful, At: at, Digest: at.String(), Items: 20, Window: 20, New: &fresh}
	for i := range 20 {
		o.ChangedAt = append(o.ChangedAt, at.Truncate(time.Hour).Add(-time.Duration(i)*time.Hour))
	}
	return o
}

func TestAnOverflowIsCountedAndNamed(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	list(t, s, noon, visits.Listing{Origins: oneFeed()})
	visit := func(at time.Time, fresh int) visits.OriginSchedule {
		record(t, s, at, hourlyOutcome(at, fresh))
		return look(t, s, at, "o0")
	}
	first := visit(noon.Add(30*time.Minute), 20)
	require.InEpsilon(t, 24, first.Rate, 0.1, "an hourly feed")
	require.Zero(t, first.Overflows)
	require.EqualValues(t, 20, first.History[0].Changes, "all items that it saw")
	require.Zero(t, visit(noon.Add(10*time.Hour), 10).Overflows)
	over := visit(noon.Add(42*time.Hour), 20)
	require.Equal(t, 1, over.Overflows)
	require.InDelta(t, 12, over.Missed, 1)
	require.InEpsilon(t, 24, over.Rate, 0.1)
	redated := visit(noon.Add(100*time.Hour), 0)
	require.Equal(t, 1, redated.Overflows, "it has the same items, with new dates")
	m, err := s.Metrics(t.Context(), noon.Add(100*time.Hour))
	require.NoError(t, err)
	require.EqualValues(t, 1, m.Overflows)
	require.EqualValues(t, over.Missed, m.Missed)
	facts, err := s.Facts(t.Context())
	require.NoError(t, err)
	require.Equal(t, m.Facts, facts)
	capacity, err := s.Capacity(t.Context(), noon.Add(100*time.Hour), 1)
	require.NoError(t, err)
	require.Contains(t, capacity.Warnings, fmt.Sprintf("feeds had more new items than they hold, so that %d items may have been missed (visits next --explain names the feeds)", over.Missed))
	next, err := s.Next(t.Context(), noon.Add(200*time.Hour), 1)
	require.NoError(t, err)
	require.Equal(t, over.Missed, next[0].Missed)
}

func TestAFeedThatRepublishesAllItsItemsHasOneChangeAtMost(t *testing.T) {
	t.Parallel()
	for name, digest := range map[string]func(hour int) string{
		"the digest is the same": func(int) string { return "a" },
		"the digest changes":     func(hour int) string { return fmt.Sprint(hour) },
	} {
		s := open(t, nil)
		list(t, s, noon, visits.Listing{Origins: oneFeed()})
		var last visits.OriginSchedule
		for hour := range 48 {
			at := noon.Add(time.Duration(hour) * time.Hour)
			fresh := 0
			if hour == 0 {
				fresh = 30
			}
			o := models.Outcome{Origin: "o0", Status: models.Eventful, At: at, Digest: digest(hour), Items: 30, Window: 30, New: &fresh}
			for range 30 {
				o.ChangedAt = append(o.ChangedAt, at.Add(-time.Minute))
			}
			record(t, s, at, o)
			last = look(t, s, at, "o0")
			require.LessOrEqual(t, last.Rate, 26.0, name)
		}
		require.Zero(t, last.Overflows, name)
		if name == "the digest is the same" {
			require.Less(t, last.Rate, 0.5, name)
		}
	}
}

func TestAnUnmodifiedDocumentIsReadAgainAndAForcedVisitAlwaysReads(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	list(t, s, noon, visits.Listing{Origins: oneFeed()})
	now := noon
	visit := func(unmodified bool) models.Visit {
		v := claim(t, s, now, 1)
		require.Len(t, v, 1)
		o := hourlyOutcome(now, 20)
		o.Visit, o.Digest, o.ETag = v[0].ID, "a", "e"
		if unmodified {
			o = models.Outcome{Visit: v[0].ID, Origin: "o0", Status: models.Uneventful, At: now, Digest: "a", ETag: "e", Unmodified: true}
		}
		record(t, s, now, o)
		return v[0]
	}
	require.False(t, visit(false).Unconditional, "there is nothing to compare with")
	now = now.Add(13 * time.Hour)
	require.True(t, visit(true).Unconditional, "13 changes were expected")
	require.NoError(t, s.SaveNow(t.Context(), now, "o0"))
	now = now.Add(time.Minute)
	require.True(t, visit(false).Unconditional, "the one before did not read it")
	require.NoError(t, s.SaveNow(t.Context(), now, "o0"))
	now = now.Add(time.Minute)
	require.False(t, visit(true).Unconditional)
	require.NoError(t, s.ForceNow(t.Context(), now, "o0"))
	now = now.Add(time.Minute)
	require.True(t, visit(false).Unconditional, "forced")
}
