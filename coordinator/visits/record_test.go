package visits

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/protocol/visit/policy"
)

func TestChangesAreCountedSinceTheLastSuccessOrSinceAllAreKnown(t *testing.T) {
	t.Parallel()
	const hours = 3600
	at := time.Unix(400*86400, 0)
	ago := func(seconds ...int64) (times []time.Time) {
		for _, s := range seconds {
			times = append(times, at.Add(-time.Duration(s)*time.Second))
		}
		return times
	}
	never := policy.State{LastSuccess: policy.Never, Created: policy.Never}
	created := policy.State{LastSuccess: policy.Never, Created: at.Unix() - 20*24*hours}
	known := policy.State{LastSuccess: at.Unix() - 48*hours, LastDigest: "old"}
	for name, c := range map[string]struct {
		state         policy.State
		digest        string
		changes       int
		since         float64 // days that the outcome covers; 0: it does not tell
		times         []time.Time
		want, wantFor float64 // days
	}{
		"first, without dates":           {never, "new", 0, 0, nil, 0, 0},
		"first, with a count only":       {never, "new", 5, 0, nil, 0, 0},
		"first, with the latest dates":   {never, "new", 0, 0, ago(0, 9*24*hours), 0, 0},
		"first, with all dates":          {never, "new", 0, 180, ago(0, 180*24*hours-1, 180*24*hours, -1), 2, 180},
		"first, created later":           {created, "new", 0, 180, ago(0, 19*24*hours), 2, 20},
		"first, older than its creation": {created, "new", 0, 180, ago(0, 40*24*hours-1), 2, 40},
		"first, created before":          {created, "new", 0, 10, ago(0, 9*24*hours), 2, 10},
		"same, without dates":            {known, "old", 0, 0, nil, 0, 0},
		"same, with old dates":           {known, "old", 0, 0, ago(48*hours, 49*hours), 0, 2},
		"same, with new dates":           {known, "old", 0, 0, ago(2, 1), 0, 2},
		"other, without dates":           {known, "new", 0, 0, nil, 0, 0},
		"other, with old dates":          {known, "new", 0, 0, ago(48*hours, 49*hours), 1, 2},
		"other, with new dates":          {known, "new", 0, 0, ago(48*hours-1, 1, 0, -1), 3, 2},
		"other, with a count only":       {known, "new", 4, 0, nil, 4, 2},
		"other, with a lower count":      {known, "new", 1, 0, ago(1, 2), 2, 2},
		"other, with a higher count":     {known, "new", 3, 0, ago(1, 2), 3, 2},
	} {
		o := models.Outcome{At: at, Changes: c.changes, ChangedAt: c.times}
		if c.since > 0 {
			o.Since = at.Add(-time.Duration(c.since * 24 * float64(time.Hour)))
		}
		changes, span := countChanges(c.state, o, c.digest)
		require.InDelta(t, c.want, changes, 1e-4, name)
		require.InDelta(t, c.wantFor, span, 1e-4, name)
	}
	require.Equal(t, []int64{at.Unix() - 9, at.Unix() - 5, at.Unix()}, changeTimes(models.Outcome{At: at, ChangedAt: ago(5, -1, 0, 9)}))
}

func TestAnOutcomeBecomesAnEventWithBoundedTimes(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := politeStore(t, sqlfile.Memory, now, 1)
	event := func(r row, o models.Outcome) policy.Event {
		o.At = now
		return s.eventOf(r, o)
	}
	for status, want := range map[models.Status]policy.Status{
		models.Eventful: policy.Full, models.Uneventful: policy.Full, models.Failed: policy.Failed, models.NotFound: policy.NotFound, "another": "another",
	} {
		require.Equal(t, want, event(row{}, models.Outcome{Status: status}).Status, status)
	}
	require.Equal(t, policy.Gone, event(row{}, models.Outcome{Status: models.NotFound, Fault: models.GoneFault}).Status)

	known := row{State: policy.State{LastDigest: "old"}}
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
	ttl := row{State: policy.State{LastVisit: now.Unix() - 900, FreshUntil: now.Unix() - 300}}
	require.Equal(t, now.Unix()+600, event(ttl, models.Outcome{Status: models.Uneventful}).FreshUntil, "as long as before")
	require.Equal(t, now.Unix()+700, event(ttl, models.Outcome{Status: models.Uneventful, FreshFor: 700}).FreshUntil)
	require.Zero(t, event(ttl, models.Outcome{Status: models.Eventful}).FreshUntil, "it was sent without a ttl")
}

func TestAnOutcomeCountsUpToTheTimeThatItsClockMayBeAhead(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	ahead := policy.DefaultRules().Ahead
	require.Positive(t, ahead)
	for late, want := range map[time.Duration]string{0: "", ahead: "", ahead + time.Second: policy.InFuture} {
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
	for earlier, want := range map[int64]string{0: "", 1: "", minSpacing: "", minSpacing + 1: policy.NotNewer} {
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
		require.Equal(t, policy.NotNewer, again[0].Ignored, "the same outcome counts once")
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

func TestEachOutcomeIsCountedByItsEffect(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := politeStore(t, sqlfile.Memory, now, 0)
	seen := row{}
	seen.FirstSeen = now.Unix() - 500
	for name, c := range map[string]struct {
		status models.Status
		effect policy.Effect
		want   Facts
	}{
		"lost":                 {models.Lost, policy.Effect{Ignored: Lost}, Facts{Lost: 1}},
		"lost too often":       {models.Lost, policy.Effect{Ignored: GivenUp}, Facts{Lost: 1}},
		"ignored":              {models.Eventful, policy.Effect{Ignored: policy.NotNewer, Success: true, Changed: true}, Facts{Ignored: 1}},
		"changed":              {models.Eventful, policy.Effect{Success: true, Changed: true}, Facts{Eventful: 1}},
		"unchanged":            {models.Eventful, policy.Effect{Success: true}, Facts{Uneventful: 1}},
		"not found":            {models.NotFound, policy.Effect{Changed: true}, Facts{NotFound: 1}},
		"failed":               {models.Failed, policy.Effect{}, Facts{Failed: 1}},
		"failed, at the first": {models.Failed, policy.Effect{First: true}, Facts{Failed: 1}},
	} {
		require.NoError(t, s.write(t.Context(), "test", func() error {
			s.cache.facts, *s.cache.tally = Facts{}, *newTally()
			s.countOutcome(seen, models.Outcome{Status: c.status, At: now, Took: 3, Size: 70}, c.effect)
			s.countOutcome(seen, models.Outcome{Status: models.Lost, At: now, Took: 3, Size: 70}, policy.Effect{Ignored: Lost})
			c.want.Lost++
			require.Equal(t, c.want, s.cache.facts, name)
			took, size, first := s.cache.tally.took, s.cache.tally.size, s.cache.tally.first
			counted := int64(1)
			if c.effect.Ignored != "" {
				counted = 0
			}
			require.Equal(t, []int64{counted, counted, 3 * counted, 70 * counted}, []int64{int64(took.Count), int64(size.Count), int64(took.Sum), int64(size.Sum)}, name)
			require.Equal(t, c.effect.First, first.Count == 1 && first.Sum == 500, name)
			require.Equal(t, c.effect.First, first.Count > 0, name)
			return nil
		}))
	}
	require.NoError(t, s.write(t.Context(), "test", func() error {
		*s.cache.tally = *newTally()
		s.countOutcome(seen, models.Outcome{At: now.Add(-time.Hour), Took: -5, Size: -5}, policy.Effect{First: true})
		for _, x := range []Distribution{s.cache.tally.took, s.cache.tally.size, s.cache.tally.first} {
			require.EqualValues(t, 1, x.Count)
			require.Zero(t, x.Sum, "numbers below zero count as 0")
		}
		return nil
	}))
}

func TestALostVisitIsTakenBackThreeTimesInARow(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := politeStore(t, sqlfile.Memory, now, 1)
	lose := func() (policy.Effect, OriginSchedule) {
		require.NoError(t, s.SaveNow(t.Context(), now, "o0"))
		visits, err := s.Claim(t.Context(), now, 1)
		require.NoError(t, err)
		require.Len(t, visits, 1)
		effects, err := s.Record(t.Context(), now, []models.Outcome{{Visit: visits[0].ID, Origin: "o0", Status: models.Lost, At: now}})
		require.NoError(t, err)
		shown, err := s.Schedule(t.Context(), now, "o0")
		require.NoError(t, err)
		require.Empty(t, shown.Visit)
		return effects[0], shown
	}
	for range 2 {
		for range 3 {
			effect, shown := lose()
			require.Equal(t, Lost, effect.Ignored)
			require.Equal(t, policy.Never, shown.LastScheduled)
		}
		for range 2 {
			effect, shown := lose()
			require.Equal(t, GivenUp, effect.Ignored)
			require.Equal(t, now.Unix(), shown.LastScheduled, "it rests as one that was visited")
		}
		now = now.Add(time.Minute)
		effects, err := s.Record(t.Context(), now, []models.Outcome{{Origin: "o0", Status: models.Failed, At: now}})
		require.NoError(t, err)
		require.Empty(t, effects[0].Ignored, "an outcome ends the losses in a row")
	}
}

func TestAnOutcomeWithoutAVisitCountsAsScheduledAtItsDate(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := politeStore(t, sqlfile.Memory, now, 1)
	record := func(o models.Outcome) OriginSchedule {
		o.Origin = "o0"
		_, err := s.Record(t.Context(), now, []models.Outcome{o})
		require.NoError(t, err)
		shown, err := s.Schedule(t.Context(), now, "o0")
		require.NoError(t, err)
		return shown
	}
	require.Equal(t, now.Unix(), record(models.Outcome{Status: models.Eventful, At: now, Digest: "a", ETag: "e", Modified: "m"}).LastScheduled)
	now = now.Add(time.Hour)
	visits, err := s.Claim(t.Context(), now, 1)
	require.NoError(t, err)
	require.Equal(t, []string{"e", "m"}, []string{visits[0].Known.ETag, visits[0].Known.Modified})
	late := now.Add(-time.Minute)
	shown := record(models.Outcome{Visit: "another", Status: models.Failed, At: late})
	require.Equal(t, now.Unix(), shown.LastScheduled)
	require.Equal(t, visits[0].ID, shown.Visit, "the visit under way goes on")
	shown = record(models.Outcome{Visit: visits[0].ID, Status: models.Eventful, At: now, Digest: "b"})
	require.Empty(t, shown.Visit)
	now = now.Add(time.Hour)
	visits, err = s.Claim(t.Context(), now, 1)
	require.NoError(t, err)
	require.Equal(t, models.Known{Digest: "b", At: now.Add(-time.Hour).UTC()}, visits[0].Known, "the validators of the last success only")
}

func TestARetryAfterOfASuccessTakesBackNoSuccess(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	for status, want := range map[models.Status]struct {
		failures, refusals int
		success            int64
	}{models.Eventful: {0, 0, now.Unix()}, models.Failed: {0, 1, policy.Never}} {
		s := politeStore(t, sqlfile.Memory, now.Add(-time.Hour), 1)
		_, err := s.Record(t.Context(), now, []models.Outcome{{Origin: "o0", Status: status, At: now, Digest: "a", RetryAfter: 60}})
		require.NoError(t, err)
		shown, err := s.Schedule(t.Context(), now, "o0")
		require.NoError(t, err)
		require.Equal(t, want.failures, shown.Failures, status)
		require.Equal(t, want.refusals, shown.Refusals, status)
		require.Equal(t, want.success, shown.LastSuccess, status)
		require.Equal(t, policy.RetryAfter, shown.Why, status)
	}
}

func TestTheTargetsOfANewKindCountFromNow(t *testing.T) {
	t.Parallel()
	s := planned(t, "value", "")
	s.cache.position = map[models.OriginKind]int64{"git": 0, "feed": 5}
	require.EqualValues(t, 0, s.queuePosition("git", 77))
	require.EqualValues(t, 5, s.queuePosition("feed", 77))
	require.EqualValues(t, 77, s.queuePosition("media", 77))
}

func TestOutcomesScoreOnlyAListerThatHasListed(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := politeStore(t, sqlfile.Memory, now, 0)
	was := row{kind: models.Feed}
	was.State = policy.NewState(1, 0, s.rules)
	was.LastSuccess, was.LastUpdate, was.Dates = now.Unix()-86400, now.Unix()-3600, 1
	e := policy.Event{Status: policy.Full, At: now.Unix(), Digest: "a"}
	require.NoError(t, s.write(t.Context(), "test", func() error {
		for _, lister := range []int32{0, 7} {
			was.Lister = lister
			s.scoreLister(was, e, policy.Effect{Success: true})
			require.Empty(t, s.cache.dates, lister)
		}
		s.cache.dates[7] = dates{listed: now.Unix()}
		s.scoreLister(was, e, policy.Effect{Success: true})
		require.Equal(t, policy.Dates{False: 1, Days: 1}, s.cache.dates[7].Dates)
		require.Equal(t, now.Unix(), s.cache.dates[7].listed)
		was.Told = true
		s.scoreLister(was, e, policy.Effect{Success: true})
		require.Equal(t, policy.Dates{False: 1, Days: 1}, s.cache.dates[policy.TellersID].Dates, "reports need no listing")
		require.Equal(t, policy.Dates{False: 2, Days: 2}, s.cache.allDates)
		require.Equal(t, policy.Latest, s.quality(policy.TellersID).Listed)
		require.Equal(t, now.Unix(), s.quality(7).Listed)
		return nil
	}))
}

// TestARecordedOutcomeIsAChange, because the origin may be visited again, and those who wait for a visit look once more.
func TestARecordedOutcomeIsAChange(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Second)
	s := politeStore(t, filepath.Join(t.TempDir(), "catalog.db"), now, 1)
	<-s.Changed()
	visits, err := s.Claim(t.Context(), now, 1)
	require.NoError(t, err)
	require.Len(t, visits, 1)
	select {
	case <-s.Changed(): // of the claim
	default:
	}
	_, err = s.Record(t.Context(), now, []models.Outcome{{Visit: visits[0].ID, Origin: visits[0].Origin.ID, Status: models.Uneventful, At: now}})
	require.NoError(t, err)
	select {
	case <-s.Changed():
	default:
		require.Fail(t, "no change")
	}
}

// A visit that a user asked for shows that the origin is there again. What the operator, the lister or the
// server itself has ended stays so.
func TestASuccessEnablesAnOriginThatFailuresDisabledAndKeepsItsValidators(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := politeStore(t, sqlfile.Memory, now, 1)
	for n, c := range []struct {
		was, want policy.Reason
		status    models.Status
		etag      string
	}{
		{policy.ByFailures, policy.ByFailures, models.Failed, ""},
		{policy.ByFailures, "", models.Eventful, "e1"},
		{policy.ByOperator, policy.ByOperator, models.Eventful, "e2"},
		{policy.ByLister, policy.ByLister, models.Uneventful, "e3"},
		{policy.ByGone, policy.ByGone, models.Failed, "e3"},
		{"", "", models.Eventful, "e5"},
	} {
		at := now.Add(time.Duration(n) * time.Hour)
		require.NoError(t, s.write(t.Context(), "set", func() error {
			return s.edit("o0", at.Unix(), func(r *row) { r.Disabled = c.was })
		}))
		_, err := s.Record(t.Context(), at, []models.Outcome{{Origin: "o0", Status: c.status, At: at, ETag: fmt.Sprint("e", n), Modified: fmt.Sprint("m", n)}})
		require.NoError(t, err)
		require.NoError(t, s.write(t.Context(), "look", func() error {
			r, err := read(s.db, "o0")
			require.Equal(t, c.want, r.Disabled, "%d", n)
			require.Equal(t, c.etag, r.etag, "%d", n)
			require.Equal(t, strings.Replace(c.etag, "e", "m", 1), r.modified, "%d", n)
			return err
		}))
	}
}
