package visits_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/database"
	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// noon is of a day in the past, because a start takes back times that the clock of
// the machine has not come to yet.
var noon = time.Date(2020, 11, 21, 12, 0, 0, 0, time.UTC)

// opened is a store with its database.
type opened struct {
	*visits.Store
	db *database.Database
}

func (o *opened) Close() error { return o.db.Close() }

func open(t testing.TB, change func(*policy.Rules)) *opened {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "catalog.db"), "value", change)
}

func openAt(t testing.TB, path, name string, change func(*policy.Rules)) *opened {
	t.Helper()
	rules := policy.DefaultRules()
	if change != nil {
		change(&rules)
	}
	plan, err := policy.Uniform(name, rules)
	require.NoError(t, err)
	return openDatabase(t, path, plan)
}

func named(uris ...string) []visits.Named {
	var all []visits.Named
	for _, uri := range uris {
		all = append(all, visits.Named{Origin: models.Origin{ID: models.NewID(uri), Kind: models.Feed, URI: uri}})
	}
	return all
}

func folders(n int) []visits.Named {
	var uris []string
	for i := range n {
		uris = append(uris, fmt.Sprintf("/folder/%d", i))
	}
	return named(uris...)
}

func list(t testing.TB, s *opened, at time.Time, l visits.Listing) {
	t.Helper()
	require.NoError(t, s.List(t.Context(), at, l))
}

func claim(t testing.TB, s *opened, at time.Time, n int) []models.Visit {
	t.Helper()
	visits, err := s.Claim(t.Context(), at, n)
	require.NoError(t, err)
	return visits
}

func record(t testing.TB, s *opened, at time.Time, outcomes ...models.Outcome) []policy.Effect {
	t.Helper()
	effects, err := s.Record(t.Context(), at, outcomes)
	require.NoError(t, err)
	return effects
}

func outcome(v models.Visit, at time.Time, status models.Status, digest string) models.Outcome {
	return models.Outcome{Visit: v.ID, Origin: v.Origin.ID, Status: status, At: at, Digest: digest}
}

func look(t testing.TB, s *opened, at time.Time, id string) visits.OriginSchedule {
	t.Helper()
	l, err := s.Schedule(t.Context(), at, id)
	require.NoError(t, err)
	return l
}

func TestNoOriginIsVisitedTwiceForOneSlot(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	s := openAt(t, path, "value", nil)
	list(t, s, noon, visits.Listing{Origins: folders(5)})
	first := claim(t, s, noon, 3)
	require.Len(t, first, 3)
	require.Len(t, claim(t, s, noon, 3), 2)
	require.Empty(t, claim(t, s, noon.Add(time.Hour), 3))
	require.NoError(t, s.Close())

	// A new process knows the visits under way, and asks for none twice.
	s = openAt(t, path, "value", nil)
	under, err := s.Claimed(t.Context())
	require.NoError(t, err)
	require.Len(t, under, 5)
	require.Equal(t, first[0], under[0])
	require.Empty(t, claim(t, s, noon.Add(2*time.Hour), 3))
	record(t, s, noon.Add(time.Hour), outcome(first[0], noon.Add(time.Hour), models.Eventful, "a"))
	require.Empty(t, claim(t, s, noon.Add(11*time.Hour), 3), "the cooldown")
	require.Len(t, claim(t, s, noon.Add(12*time.Hour), 3), 1)
	// A visit without an outcome is lost after a week.
	require.Len(t, claim(t, s, noon.Add(7*24*time.Hour), 10), 4)
}

func TestAnOutcomeIsRecordedOnceAndLateOnesToo(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	list(t, s, noon, visits.Listing{Origins: folders(1)})
	v := claim(t, s, noon, 1)[0]
	at := noon.Add(time.Minute)
	o := outcome(v, at, models.Eventful, "a")
	effects := record(t, s, at, o, o)
	require.True(t, effects[0].Changed)
	require.Equal(t, policy.NotNewer, effects[1].Ignored)
	later := claim(t, s, noon.Add(13*time.Hour), 1)[0]
	require.NotEqual(t, v.ID, later.ID)
	require.Equal(t, "a", later.Known.Digest)
	require.Equal(t, at, later.Known.At)
	// The visit is lost, another has begun, and then its outcome comes.
	record(t, s, noon.Add(14*time.Hour), models.Outcome{Visit: later.ID, Origin: v.Origin.ID, Status: models.Lost, At: noon.Add(14 * time.Hour)})
	again := claim(t, s, noon.Add(14*time.Hour), 1)
	require.Len(t, again, 1, "a lost visit has no outcome")
	effects = record(t, s, noon.Add(15*time.Hour), outcome(later, noon.Add(13*time.Hour+time.Minute), models.Eventful, "b"))
	require.Empty(t, effects[0].Ignored)
	l := look(t, s, noon.Add(15*time.Hour), v.Origin.ID)
	require.Equal(t, again[0].ID, l.Visit, "the other one goes on")
	require.Len(t, l.History, 2)
	require.Equal(t, "b", l.LastDigest)
}

func TestTheLastTenOutcomesOfAnOriginAreKept(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	list(t, s, noon, visits.Listing{Origins: folders(1)})
	at, id := noon, ""
	for n := range 12 {
		v := claim(t, s, at, 1)[0]
		id = v.Origin.ID
		record(t, s, at, outcome(v, at, models.Eventful, fmt.Sprint(n)))
		at = at.Add(60 * 24 * time.Hour)
	}
	history := look(t, s, at, id).History
	require.Len(t, history, 10)
	require.Equal(t, noon.Add(11*60*24*time.Hour), history[0].At)
	require.Equal(t, noon.Add(2*60*24*time.Hour), history[9].At)
}

func TestOutcomesThatMakeNoSenseChangeNothing(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	list(t, s, noon, visits.Listing{Origins: folders(1)})
	id := folders(1)[0].ID
	before := look(t, s, noon, id)
	effects := record(t, s, noon,
		models.Outcome{Origin: "nobody", Status: models.Eventful, At: noon},
		models.Outcome{Origin: id, Status: models.Eventful, At: noon.Add(24 * time.Hour)},
		models.Outcome{Origin: id, Status: "ongoing", At: noon},
	)
	require.Equal(t, visits.UnknownOrigin, effects[0].Ignored)
	require.Equal(t, policy.InFuture, effects[1].Ignored)
	require.Equal(t, policy.NotFinal, effects[2].Ignored)
	require.Equal(t, before, look(t, s, noon, id))
	m, err := s.Metrics(t.Context(), noon)
	require.NoError(t, err)
	require.EqualValues(t, 3, m.Ignored)
}

func TestAnOriginThatIsLostAgainAndAgainRests(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	list(t, s, noon, visits.Listing{Origins: folders(1)})
	for i := range 4 {
		v := claim(t, s, noon.Add(time.Duration(i)*time.Minute), 1)
		require.Len(t, v, 1, "%d", i)
		record(t, s, noon.Add(time.Duration(i)*time.Minute), outcome(v[0], noon, models.Lost, ""))
	}
	require.Empty(t, claim(t, s, noon.Add(time.Hour), 1))
}

func TestSeveralFailuresDisableUntilTheOriginIsListedAgain(t *testing.T) {
	t.Parallel()
	s := open(t, func(r *policy.Rules) { r.FailedCooldown, r.NotFoundCooldown, r.Cooldown, r.DisableSpan = 0, 0, 0, 0 })
	list(t, s, noon, visits.Listing{Origins: folders(1)})
	at, id := noon, folders(1)[0].ID
	for _, status := range []models.Status{models.Failed, models.NotFound, models.Failed} {
		at = at.Add(time.Hour)
		v := claim(t, s, at, 1)
		require.Len(t, v, 1)
		record(t, s, at, outcome(v[0], at, status, ""))
	}
	at = at.Add(time.Hour)
	require.Empty(t, claim(t, s, at, 1))
	l := look(t, s, at, id)
	require.Equal(t, policy.ByFailures, l.Disabled)
	require.Equal(t, policy.Disabled, l.Why)
	list(t, s, at, visits.Listing{Origins: folders(1)})
	v := claim(t, s, at, 1)
	require.Len(t, v, 1, "one probe for each listing")
	record(t, s, at, outcome(v[0], at.Add(time.Second), models.Failed, ""))
	require.Empty(t, claim(t, s, at.Add(time.Hour), 1))
	require.NoError(t, s.Enable(t.Context(), at, id))
	require.Len(t, claim(t, s, at.Add(time.Hour), 1), 1)
}

func TestTheOperatorDisables(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	list(t, s, noon, visits.Listing{Origins: folders(1)})
	id := folders(1)[0].ID
	require.NoError(t, s.Disable(t.Context(), noon, id))
	list(t, s, noon, visits.Listing{Origins: folders(1)})
	require.Empty(t, claim(t, s, noon, 1), "a listing does not take the operator's word back")
	require.NoError(t, s.Enable(t.Context(), noon, id))
	require.Len(t, claim(t, s, noon, 1), 1)
	require.ErrorIs(t, s.Enable(t.Context(), noon, "nobody"), fault.ErrNotFound)
}

func TestSaveNowJumpsTheQueueInItsShare(t *testing.T) {
	t.Parallel()
	s := open(t, func(r *policy.Rules) { r.NowShare = 0.5 })
	list(t, s, noon, visits.Listing{Origins: folders(20)})
	for _, v := range claim(t, s, noon, 20) {
		record(t, s, noon, outcome(v, noon, models.Eventful, "a"))
	}
	list(t, s, noon.Add(time.Hour), visits.Listing{Origins: folders(40)[20:]})
	for _, o := range folders(20) {
		require.NoError(t, s.SaveNow(t.Context(), noon.Add(time.Hour), o.ID))
	}
	visits := claim(t, s, noon.Add(time.Hour), 10)
	asked := 0
	for _, v := range visits {
		if v.Known.Digest == "a" {
			asked++
		}
	}
	require.Len(t, visits, 10)
	require.Equal(t, 5, asked, "half is theirs, in spite of the cooldown")
	require.Len(t, claim(t, s, noon.Add(time.Hour), 100), 30, "the slots that no other visit takes are theirs too")
	l := look(t, s, noon.Add(time.Hour), folders(1)[0].ID)
	require.False(t, l.Urgent, "a request is served once")
}

func TestAHostIsAskedPolitely(t *testing.T) {
	t.Parallel()
	var uris []string
	for i := range 10 {
		uris = append(uris, fmt.Sprintf("https://a.example/%d", i))
	}
	uris = append(uris, "https://b.example/")
	s := open(t, func(r *policy.Rules) { r.HostGap, r.HostSlots, r.HostShare = 0, 3, 0.5 })
	list(t, s, noon, visits.Listing{Origins: named(uris...)})
	first := claim(t, s, noon, 4)
	require.Len(t, first, 3, "two of one host are half of the batch")
	second := claim(t, s, noon, 4)
	require.Len(t, second, 1, "three at a time")
	at := noon.Add(time.Minute)
	for _, v := range first {
		o := outcome(v, at, models.Failed, "")
		o.RetryAfter = 600
		record(t, s, at, o)
	}
	require.Empty(t, claim(t, s, at.Add(time.Minute), 4), "Retry-After holds for the host")
	require.NotEmpty(t, claim(t, s, at.Add(11*time.Minute), 4))

	s = open(t, func(r *policy.Rules) { r.HostGap, r.HostSlots, r.HostShare = 10*time.Second, 100, 1 })
	list(t, s, noon, visits.Listing{Origins: named(uris...)})
	require.Len(t, claim(t, s, noon, 11), 2, "one of each host")
	require.Empty(t, claim(t, s, noon.Add(9*time.Second), 11))
	require.Len(t, claim(t, s, noon.Add(10*time.Second), 11), 1)
	m, err := s.Metrics(t.Context(), noon)
	require.NoError(t, err)
	require.Positive(t, m.Deferred)
}

func TestWhatChangedCountsThoughItsDatesAreOld(t *testing.T) {
	t.Parallel()
	for name, date := range map[string]func(last, at time.Time) time.Time{
		"an item dated back":                func(_, at time.Time) time.Time { return at.Add(-time.Hour) },
		"a commit pushed late":              func(last, _ time.Time) time.Time { return last.Add(-24 * time.Hour) },
		"in the second of the last success": func(last, _ time.Time) time.Time { return last },
	} {
		s := open(t, func(r *policy.Rules) { r.Cooldown = 0 })
		list(t, s, noon, visits.Listing{Origins: folders(1)})
		at, last := noon, noon
		rate := 0.0
		for i := range 7 {
			v := claim(t, s, at, 1)[0]
			o := outcome(v, at, models.Eventful, fmt.Sprint(i))
			o.ChangedAt = []time.Time{date(last, at), noon.Add(-1000 * 24 * time.Hour)}
			record(t, s, at, o)
			l := look(t, s, at, v.Origin.ID)
			if i > 0 {
				require.Equal(t, 1.0, l.History[0].Changes, name)
				require.Greater(t, l.Rate, rate, name)
			}
			rate, last, at = l.Rate, at, at.Add(30*time.Minute)
		}
		// Nothing changed: nothing is counted.
		v := claim(t, s, at, 1)[0]
		o := outcome(v, at, models.Uneventful, "6")
		o.ChangedAt = []time.Time{noon.Add(-1000 * 24 * time.Hour)}
		record(t, s, at, o)
		l := look(t, s, at, v.Origin.ID)
		require.Zero(t, l.History[0].Changes, name)
		require.Less(t, l.Rate, rate, name)
	}
}

func TestOnlyAFullListingDisablesWhatItDoesNotName(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	list(t, s, noon, visits.Listing{Origins: named("/lister", "/by/hand")})
	lister := models.NewID("/lister")
	list(t, s, noon, visits.Listing{Lister: lister, Origins: named("/a", "/b")})
	disabled := func(uri string) policy.Reason { return look(t, s, noon, models.NewID(uri)).Disabled }
	list(t, s, noon, visits.Listing{Lister: lister, Origins: named("/a")})
	require.Empty(t, disabled("/b"), "an incremental listing does not disable")
	list(t, s, noon, visits.Listing{Lister: lister})
	require.Empty(t, disabled("/a"), "an empty one neither")
	list(t, s, noon, visits.Listing{Lister: lister, Origins: named("/a"), Full: true})
	require.Equal(t, policy.ByLister, disabled("/b"))
	require.Empty(t, disabled("/a"))
	require.Empty(t, disabled("/by/hand"))
	list(t, s, noon, visits.Listing{Lister: lister, Origins: named("/a", "/b")})
	require.Empty(t, disabled("/b"))
	require.Equal(t, lister, look(t, s, noon, models.NewID("/b")).Listed)
	require.ErrorIs(t, s.List(t.Context(), noon, visits.Listing{Lister: "nobody"}), fault.ErrNotFound)
}

func TestAListingInPartsDisablesWhatNoneOfThemNames(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	lister := []visits.Named{{Origin: models.Origin{ID: "lister", Kind: models.URLs, URI: "/list"}}}
	list(t, s, noon, visits.Listing{Origins: lister})
	list(t, s, noon, visits.Listing{Lister: "lister", Origins: named("/old", "/a", "/b", "/c"), Full: true})
	claim(t, s, noon, 10)
	at := noon.Add(24 * time.Hour)
	list(t, s, at, visits.Listing{Lister: "lister", Origins: named("/a"), Next: 1})
	require.True(t, look(t, s, at, "lister").Urgent, "it is asked to go on")
	disabled := func() (all []string) {
		for _, uri := range []string{"/old", "/a", "/b", "/c"} {
			if look(t, s, at, models.NewID(uri)).Disabled == policy.ByLister {
				all = append(all, uri)
			}
		}
		return all
	}
	list(t, s, at.Add(time.Minute), visits.Listing{Lister: "lister", Origins: named("/b"), From: 1, Next: 2})
	require.Empty(t, disabled())
	list(t, s, at.Add(time.Minute), visits.Listing{Lister: "lister", Origins: named("/x"), From: 7, Full: true})
	require.Empty(t, disabled(), "it does not go on where the other ended")
	list(t, s, at.Add(2*time.Minute), visits.Listing{Lister: "lister", Origins: named("/c"), From: 2, Full: true})
	require.Equal(t, []string{"/old"}, disabled())
}

func TestAVisitSaysWhereAListingGoesOn(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	list(t, s, noon, visits.Listing{Origins: []visits.Named{{Origin: models.Origin{ID: "lister", Kind: models.URLs, URI: "/list"}}}})
	first := claim(t, s, noon, 1)[0]
	require.Zero(t, first.Known.Next)
	list(t, s, noon, visits.Listing{Lister: "lister", Origins: named("/a"), Next: 1})
	record(t, s, noon, outcome(first, noon, models.Eventful, "list"))
	claimed := claim(t, s, noon, 2)
	require.Len(t, claimed, 2, "at once, beside what it named")
	slices.SortFunc(claimed, func(a, b models.Visit) int { return b.Known.Next - a.Known.Next })
	require.Equal(t, "lister", claimed[0].Origin.ID)
	require.Equal(t, 1, claimed[0].Known.Next)
	require.NotEqual(t, first.ID, claimed[0].ID, "even within a second")
	list(t, s, noon, visits.Listing{Lister: "lister", Origins: named("/b"), From: 1, Full: true})
	record(t, s, noon, outcome(claimed[0], noon, models.Uneventful, "list"))
	require.NotEqual(t, "lister", claim(t, s, noon, 1)[0].Origin.ID)
}

func TestNoVisitHasTheIDOfAnEarlierOneOfItsSecond(t *testing.T) {
	t.Parallel()
	s := openAt(t, database.Memory, "value", func(r *policy.Rules) { r.Cooldown = 0 })
	list(t, s, noon, visits.Listing{Origins: folders(1)})
	seen := map[string]bool{}
	for range 2000 {
		require.NoError(t, s.SaveNow(t.Context(), noon, folders(1)[0].ID))
		v := claim(t, s, noon, 1)
		require.Len(t, v, 1)
		require.False(t, seen[v[0].ID], "%s", v[0].ID)
		require.True(t, models.ValidID(v[0].ID))
		seen[v[0].ID] = true
		record(t, s, noon, outcome(v[0], noon, models.Eventful, "a"))
	}
}

func TestDatesOfAListerAreUsedAndJudged(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	list(t, s, noon, visits.Listing{Origins: named("/lister")})
	lister := models.NewID("/lister")
	claim(t, s, noon, 1)
	origins := named("/a")
	origins[0].Updated, origins[0].Created = noon.Add(-time.Hour), noon.Add(-100*24*time.Hour)
	list(t, s, noon, visits.Listing{Lister: lister, Origins: origins})
	a := look(t, s, noon, origins[0].ID)
	require.Equal(t, "first", a.Pool)
	require.Equal(t, origins[0].Created.Unix(), a.Place.Ref, "a creation date counts for the first visit")
	v := claim(t, s, noon, 1)[0]
	record(t, s, noon, outcome(v, noon, models.Eventful, "1"))
	later := noon.Add(24 * time.Hour)
	origins[0].Updated = later.Add(-time.Hour)
	list(t, s, later, visits.Listing{Lister: lister, Origins: origins})
	require.Equal(t, "signal", look(t, s, later, origins[0].ID).Pool)
	origins[0].Updated = later.Add(time.Hour)
	list(t, s, later, visits.Listing{Lister: lister, Origins: origins})
	require.Equal(t, later.Add(-time.Hour).Unix(), look(t, s, later, origins[0].ID).LastUpdate, "a date in the future is not believed")
}

func TestFirstVisitsOfAListerWithPriorityComeFirst(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	s := openAt(t, path, "value", nil)
	early, late := models.Origin{ID: "early", Kind: models.URLs, URI: "/early"}, models.Origin{ID: "late", Kind: models.URLs, URI: "/late", Priority: 1}
	list(t, s, noon, visits.Listing{Origins: []visits.Named{{Origin: early}, {Origin: late}}})
	claim(t, s, noon, 2)
	list(t, s, noon, visits.Listing{Lister: "early", Origins: named("/a", "/b")})
	list(t, s, noon.Add(time.Hour), visits.Listing{Lister: "late", Origins: named("/c", "/d")})
	first := func(n int) (uris []string) {
		next, err := s.Next(t.Context(), noon.Add(time.Hour), n)
		require.NoError(t, err)
		for _, x := range next {
			uris = append(uris, x.Origin.URI)
		}
		return uris
	}
	require.Equal(t, []string{"/c", "/d", "/a"}, first(3))
	require.NoError(t, s.Close())
	// A new process knows the priority.
	s = openAt(t, path, "value", nil)
	require.Equal(t, []string{"/c", "/d"}, first(2))
	late.Priority = 0
	list(t, s, noon.Add(time.Hour), visits.Listing{Origins: []visits.Named{{Origin: late}}})
	require.Equal(t, []string{"/a", "/b"}, first(2))
}

func TestMixServesBothEndsOfKnownChanges(t *testing.T) {
	t.Parallel()
	for mix, want := range map[float64][]int{0: {9, 8, 7, 6}, 0.5: {9, 8, 0, 1}} {
		s := openAt(t, database.Memory, "seed", func(r *policy.Rules) { r.Cooldown, r.MixShare = 0, mix })
		list(t, s, noon, visits.Listing{Origins: []visits.Named{{Origin: models.Origin{ID: "lister", Kind: models.URLs, URI: "/list"}}}})
		require.NoError(t, s.Disable(t.Context(), noon, "lister"))
		origins := folders(10)
		list(t, s, noon, visits.Listing{Lister: "lister", Origins: origins})
		for _, v := range claim(t, s, noon, 10) {
			record(t, s, noon, outcome(v, noon, models.Eventful, "a"))
		}
		for i := range origins { // the higher the number, the more it has been behind
			origins[i].Updated = noon.Add(time.Duration(i+1) * time.Minute)
		}
		at := noon.Add(time.Hour)
		list(t, s, at, visits.Listing{Lister: "lister", Origins: origins})
		var got []string
		next, err := s.Next(t.Context(), at, 12)
		require.NoError(t, err)
		for _, x := range next[:4] {
			got = append(got, x.Origin.URI)
		}
		var uris []string
		for _, i := range want {
			uris = append(uris, fmt.Sprintf("/folder/%d", i))
		}
		require.ElementsMatch(t, uris, got, "mix %v", mix)
		require.Len(t, next, 10, "each once")
	}
}

func TestAnotherPolicyPlacesAllAnew(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	for _, name := range policy.Names {
		s := openAt(t, path, name, nil)
		list(t, s, noon, visits.Listing{Origins: folders(3)})
		next, err := s.Next(t.Context(), noon, 10)
		require.NoError(t, err)
		require.Len(t, next, 3, name)
		require.NoError(t, s.Close())
	}
}

func TestTheScheduleHasTheOriginsOfTheCatalogThatAreVisited(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	var origins []models.Origin
	for _, o := range folders(4) {
		o.Kind = models.URLs
		origins = append(origins, o.Origin)
		isNew, err := s.db.Catalog.AddOrigin(t.Context(), o.Origin)
		require.NoError(t, err)
		require.True(t, isNew)
	}
	_, err := s.db.Catalog.AddOrigin(t.Context(), models.Origin{ID: "api", Kind: models.API, URI: "api:"})
	require.NoError(t, err)
	<-s.Changed()
	now := time.Now().Add(time.Second)
	list(t, s, now, visits.Listing{Lister: origins[0].ID, Origins: named("/listed")})
	require.NoError(t, s.db.Catalog.RemoveOrigin(t.Context(), origins[0].ID))
	_, err = s.Schedule(t.Context(), now, origins[0].ID)
	require.ErrorIs(t, err, fault.ErrNotFound)
	require.Empty(t, look(t, s, now, models.NewID("/listed")).Listed)
	require.Len(t, claim(t, s, now, 10), 4)
	require.NoError(t, s.db.Catalog.RemoveOrigin(t.Context(), origins[1].ID))
	require.NoError(t, s.db.Catalog.RemoveOrigin(t.Context(), "api"))
	under, err := s.Claimed(t.Context())
	require.NoError(t, err)
	require.Len(t, under, 3)
}

func TestDueAndWakeSayWhenThereIsSomethingToDo(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	due := func(at time.Time) bool {
		is, err := s.Due(t.Context(), at)
		require.NoError(t, err)
		return is
	}
	require.False(t, due(noon))
	list(t, s, noon, visits.Listing{Origins: folders(1)})
	require.True(t, due(noon))
	v := claim(t, s, noon, 1)[0]
	require.True(t, due(noon), "it is visited")
	record(t, s, noon, outcome(v, noon, models.Eventful, "a"))
	require.False(t, due(noon))
	wake, err := s.Wake(t.Context(), noon)
	require.NoError(t, err)
	require.WithinDuration(t, noon.Add(12*time.Hour), wake, 0)
	require.True(t, due(wake))
}

func TestAFileThatIsNotOursIsRefusedAndLeftAsItIs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("not a database ", 100)), 0o600))
	_, err := database.Open(t.Context(), path, "value", policy.DefaultRules())
	require.ErrorIs(t, err, fault.ErrCorrupt)
	good := filepath.Join(t.TempDir(), "catalog.db")
	db, err := database.Open(t.Context(), good, "value", policy.DefaultRules())
	require.NoError(t, err)
	defer db.Close()
	_, err = database.Open(t.Context(), good, "value", policy.DefaultRules())
	require.ErrorIs(t, err, fault.ErrConflict)
	_, err = database.Open(t.Context(), good, "best", policy.DefaultRules())
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestAfterCloseAndAtTheEndOfItsContextACallEnds(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	_, err := s.Claim(t.Context(), noon, 1)
	require.ErrorIs(t, err, fault.ErrClosed)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Claimed(ctx)
	require.Error(t, err)
}

func Example() {
	ctx := context.Background()
	db, _ := database.Open(ctx, database.Memory, "value", policy.DefaultRules())
	defer db.Close()
	_, _ = db.Catalog.AddOrigin(ctx, models.Origin{ID: "o1", Kind: models.Media, URI: "/srv/talks"})
	now := time.Now().Add(time.Second)
	visits, _ := db.Visits.Claim(ctx, now, 10)
	fmt.Println("visit", visits[0].Origin.URI)
	effects, _ := db.Visits.Record(ctx, now, []models.Outcome{{Visit: visits[0].ID, Origin: "o1", Status: models.Eventful, At: now}})
	fmt.Println("changed:", effects[0].Changed)
	// Output:
	// visit /srv/talks
	// changed: true
}
