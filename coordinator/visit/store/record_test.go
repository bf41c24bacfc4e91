package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visit"
	"leasehold/models"
	"leasehold/shared/sqlfile"
)

func TestChangesAreCountedSinceTheLastSuccessOrForHalfAYear(t *testing.T) {
	t.Parallel()
	const hours = 3600
	at := time.Unix(400*86400, 0)
	ago := func(seconds ...int64) (times []time.Time) {
		for _, s := range seconds {
			times = append(times, at.Add(-time.Duration(s)*time.Second))
		}
		return times
	}
	never := visit.State{LastSuccess: visit.Never}
	known := visit.State{LastSuccess: at.Unix() - 48*hours, LastDigest: "old"}
	for name, c := range map[string]struct {
		state         visit.State
		digest        string
		changes       int
		times         []time.Time
		want, wantFor float64 // days
	}{
		"first, without dates":          {never, "new", 0, nil, 0, 0},
		"first, with a count only":      {never, "new", 5, nil, 0, 0},
		"first, with dates":             {never, "new", 0, ago(0, 180*24*hours-1, 180*24*hours, -1), 2, 180},
		"first, with dates and a count": {never, "new", 7, ago(1), 7, 180},
		"same, without dates":           {known, "old", 0, nil, 0, 0},
		"same, with old dates":          {known, "old", 0, ago(48*hours, 49*hours), 0, 2},
		"other, without dates":          {known, "new", 0, nil, 0, 0},
		"other, with old dates":         {known, "new", 0, ago(48*hours, 49*hours), 1, 2},
		"other, with new dates":         {known, "new", 0, ago(48*hours-1, 1, 0, -1), 3, 2},
		"other, with a count only":      {known, "new", 4, nil, 4, 2},
		"other, with a lower count":     {known, "new", 1, ago(1, 2), 2, 2},
		"other, with a higher count":    {known, "new", 3, ago(1, 2), 3, 2},
	} {
		o := models.Outcome{At: at, Changes: c.changes, ChangedAt: c.times}
		changes, span := countChanges(c.state, o, c.digest)
		require.InDelta(t, c.want, changes, 1e-9, name)
		require.InDelta(t, c.wantFor, span, 1e-9, name)
	}
	require.Equal(t, []int64{at.Unix() - 9, at.Unix() - 5, at.Unix()}, changeTimes(models.Outcome{At: at, ChangedAt: ago(5, -1, 0, 9)}))
}

func TestAnOutcomeBecomesAnEventWithBoundedTimes(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := politeStore(t, sqlfile.Memory, now, 1)
	event := func(r row, o models.Outcome) visit.Event {
		o.At = now
		return s.eventOf(r, o)
	}
	for status, want := range map[models.Status]visit.Status{
		models.Eventful: visit.Full, models.Uneventful: visit.Full, models.Failed: visit.Failed, models.NotFound: visit.NotFound, "another": "another",
	} {
		require.Equal(t, want, event(row{}, models.Outcome{Status: status}).Status, status)
	}
	require.Equal(t, visit.Gone, event(row{}, models.Outcome{Status: models.NotFound, Fault: models.GoneFault}).Status)

	known := row{State: visit.State{LastDigest: "old"}}
	require.Equal(t, "given", event(known, models.Outcome{Status: models.Uneventful, Digest: "given"}).Digest)
	require.Equal(t, "old", event(known, models.Outcome{Status: models.Uneventful}).Digest, "nothing has changed")
	assumed := event(known, models.Outcome{Status: models.Eventful}).Digest
	require.NotContains(t, []string{"", "old"}, assumed)
	require.NotEqual(t, assumed, s.eventOf(known, models.Outcome{Status: models.Eventful, At: now.Add(1)}).Digest, "no other outcome has it")
	require.NotEmpty(t, event(row{}, models.Outcome{Status: models.Uneventful}).Digest)

	day := now.Unix() + 86400
	for range 50 {
		for asked, least := range map[models.Seconds]int64{1000: now.Unix() + 1000, 86400: day, 1e9: day} {
			e := event(row{}, models.Outcome{Status: models.Failed, RetryAfter: asked})
			require.GreaterOrEqual(t, e.NotBefore, least)
			require.LessOrEqual(t, e.NotBefore, least+(least-now.Unix())/10)
		}
	}
	require.Zero(t, event(row{}, models.Outcome{Status: models.Failed}).NotBefore)

	for fresh, want := range map[models.Seconds]int64{0: 0, 1: now.Unix() + 1, 86400: day, 1e9: day} {
		require.Equal(t, want, event(row{}, models.Outcome{Status: models.Eventful, FreshFor: fresh}).FreshUntil, fresh)
	}
	require.Zero(t, event(row{}, models.Outcome{Status: models.Failed, FreshFor: 60}).FreshUntil, "it has not sent the content")
	ttl := row{State: visit.State{LastVisit: now.Unix() - 900, FreshUntil: now.Unix() - 300}}
	require.Equal(t, now.Unix()+600, event(ttl, models.Outcome{Status: models.Uneventful}).FreshUntil, "as long as before")
	require.Equal(t, now.Unix()+700, event(ttl, models.Outcome{Status: models.Uneventful, FreshFor: 700}).FreshUntil)
	require.Zero(t, event(ttl, models.Outcome{Status: models.Eventful}).FreshUntil, "it was sent without a ttl")
}

func TestAnOutcomeCountsUpToTheTimeThatItsClockMayBeAhead(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	ahead := visit.DefaultRules().Ahead
	require.Positive(t, ahead)
	for late, want := range map[time.Duration]string{0: "", ahead: "", ahead + time.Second: visit.InFuture} {
		s := politeStore(t, sqlfile.Memory, now.Add(-time.Hour), 1)
		effects, err := s.Record(t.Context(), now, []models.Outcome{{Origin: "o0", Status: models.Eventful, At: now.Add(late), Digest: "a"}})
		require.NoError(t, err)
		require.Equal(t, want, effects[0].Ignored, late)
	}
}

// A date is a whole second, and the clock of a manager may be set back a little.
func TestTheEndOfAVisitRightAfterAnotherCountsThoughItsDateIsNoLater(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	for earlier, want := range map[int64]string{0: "", 1: "", minSpacing: "", minSpacing + 1: visit.NotNewer} {
		s := politeStore(t, sqlfile.Memory, now, 1)
		require.Equal(t, 1, visitAll(t, s, now, models.Outcome{Status: models.Eventful, Digest: "a"}))
		require.NoError(t, s.ForceNow(t.Context(), now, "o0"))
		visits, err := s.Claim(t.Context(), now, 1)
		require.NoError(t, err)
		require.Len(t, visits, 1)
		o := models.Outcome{Visit: visits[0].ID, Origin: "o0", Status: models.Eventful, At: now.Add(-time.Duration(earlier) * time.Second), Digest: "b"}
		effects, err := s.Record(t.Context(), now, []models.Outcome{o})
		require.NoError(t, err)
		require.Equal(t, want, effects[0].Ignored, earlier)
		again, err := s.Record(t.Context(), now, []models.Outcome{o})
		require.NoError(t, err)
		require.Equal(t, visit.NotNewer, again[0].Ignored, "the same outcome counts once")
	}
}

func TestACrawlDelayIsKeptUpToADayAndForgottenWithNone(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := politeStore(t, sqlfile.Memory, now, 1)
	for i, c := range []struct {
		asked models.Seconds
		kept  int64 // milliseconds
	}{{-5, 0}, {0.25, 250}, {86400, 86_400_000}, {86401, 86_400_000}, {1e300, 86_400_000}, {0, 0}} {
		at := now.Add(time.Duration(i) * time.Hour)
		_, err := s.Record(t.Context(), at, []models.Outcome{{Origin: "o0", Status: models.Failed, At: at, CrawlDelay: &c.asked, Error: fmt.Sprint(i)}})
		require.NoError(t, err)
		var kept int64
		for _, h := range s.cache.hosts {
			kept = h.gap
		}
		require.Equal(t, c.kept, kept, c.asked)
	}
	require.Empty(t, s.cache.hosts)
}

func TestTheErrorsInTheHistoryAreShortAndHaveNoSecret(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := politeStore(t, sqlfile.Memory, now, 1)
	text := "https://bob:s3cret@example.org " + strings.Repeat("ä", 1000)
	_, err := s.Record(t.Context(), now, []models.Outcome{{Origin: "o0", Status: models.Failed, At: now, Error: text}})
	require.NoError(t, err)
	shown, err := s.Schedule(t.Context(), now, "o0")
	require.NoError(t, err)
	require.Len(t, shown.History, 1)
	require.Len(t, []rune(shown.History[0].Error), 500)
	require.Contains(t, shown.History[0].Error, "example.org ä")
	require.NotContains(t, shown.History[0].Error, "s3cret")
}
