package visits_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// withListers is a store with the listers one and two.
func withListers(t *testing.T) *opened {
	t.Helper()
	s := open(t, nil)
	for _, id := range []string{"one", "two"} {
		list(t, s, noon, visits.Listing{Origins: []visits.Named{{Origin: models.Origin{ID: id, Kind: models.URLs, URI: "/" + id}}}})
	}
	return s
}

func TestAnOriginGoesWhenNoListerNamesIt(t *testing.T) {
	t.Parallel()
	s := withListers(t)
	full := func(lister string, uris ...string) {
		list(t, s, noon, visits.Listing{Lister: lister, Visit: "v", Origins: named(uris...), Full: true})
	}
	of := func(uri string) visits.OriginSchedule { return look(t, s, noon, models.NewID(uri)) }
	full("one", "/a", "/b")
	full("two", "/b", "/c")
	full("one", "/a", "/x")
	require.Empty(t, of("/b").Disabled, "two still names it")
	require.Equal(t, "two", of("/b").Listed)
	require.Empty(t, of("/c").Disabled)
	full("two", "/c")
	require.Equal(t, policy.ByLister, of("/b").Disabled)
	full("two", "/b", "/c")
	require.Empty(t, of("/b").Disabled)

	// Overlapping lists do not disable each other's, in whichever order they come.
	for range 3 {
		full("one", "/a", "/c")
		full("two", "/c", "/b")
		for _, uri := range []string{"/a", "/b", "/c"} {
			require.Empty(t, of(uri).Disabled, uri)
		}
	}
	// The origins of the removed lister stay with the other.
	remove(t, s, "two")
	require.Equal(t, "one", of("/c").Listed)
	full("one", "/a")
	require.Equal(t, policy.ByLister, of("/c").Disabled)
	require.Empty(t, of("/b").Disabled, "it has no lister any more")
}

func TestThePriorityOfAnOriginChangesNeitherItsListersNorWhetherItIsVisited(t *testing.T) {
	t.Parallel()
	s := withListers(t)
	id := models.NewID("/a")
	list(t, s, noon, visits.Listing{Lister: "one", Visit: "v", Origins: named("/a", "/b"), Full: true})
	prefer := func(priority int64) {
		o, err := s.db.Catalog.SetOriginPriority(t.Context(), id, priority)
		require.NoError(t, err)
		require.Equal(t, priority, o.Priority)
	}
	prefer(5)
	list(t, s, noon, visits.Listing{Lister: "one", Visit: "w", Origins: named("/b"), Full: true})
	require.Equal(t, policy.ByLister, look(t, s, noon, id).Disabled, "its lister dropped it")
	prefer(6)
	require.Equal(t, policy.ByLister, look(t, s, noon, id).Disabled)
	require.NoError(t, s.db.Catalog.RemoveOrigin(t.Context(), id))
	_, err := s.db.Catalog.SetOriginPriority(t.Context(), id, 7)
	require.ErrorIs(t, err, fault.ErrNotFound)
	_, err = s.Schedule(t.Context(), noon, id)
	require.ErrorIs(t, err, fault.ErrNotFound)
}

func TestAnOriginThatTheUserAddedIsNotDroppedByAList(t *testing.T) {
	t.Parallel()
	s := withListers(t)
	mine, later := named("/mine"), named("/later")
	list(t, s, noon, visits.Listing{Origins: mine})
	list(t, s, noon, visits.Listing{Lister: "one", Origins: append(named("/other", "/later"), mine...), Full: true})
	list(t, s, noon, visits.Listing{Origins: later})
	list(t, s, noon, visits.Listing{Lister: "one", Origins: named("/x"), Full: true})
	for _, o := range append(mine, later...) {
		require.Empty(t, look(t, s, noon, o.ID).Disabled, o.URI)
		require.Empty(t, look(t, s, noon, o.ID).Listed, o.URI)
	}
	require.Equal(t, policy.ByLister, look(t, s, noon, models.NewID("/other")).Disabled)
}

func TestAListThatNamesNothingDropsNothingUntilItDoesSoTwice(t *testing.T) {
	t.Parallel()
	s := withListers(t)
	disabled := func() policy.Reason { return look(t, s, noon, models.NewID("/a")).Disabled }
	empty := func(visit string) { list(t, s, noon, visits.Listing{Lister: "one", Visit: visit, Full: true}) }
	list(t, s, noon, visits.Listing{Lister: "one", Visit: "1", Origins: named("/a"), Full: true})
	empty("2")
	empty("2")
	require.Empty(t, disabled(), "the same visit counts once")
	list(t, s, noon, visits.Listing{Lister: "one", Visit: "3", Origins: named("/a"), Full: true})
	empty("4")
	require.Empty(t, disabled(), "not in a row")
	empty("5")
	require.Equal(t, policy.ByLister, disabled())
}

func TestListersAreVisitedOnceADayUnlessAUserWantsAnotherInterval(t *testing.T) {
	t.Parallel()
	for policy, every := range map[string]*models.Seconds{"value": nil, "seed": nil, "roundrobin": func() *models.Seconds { x := models.Seconds(3600); return &x }()} {
		s := openAt(t, t.TempDir()+"/catalog.db", policy, nil)
		list(t, s, noon, visits.Listing{Origins: []visits.Named{{Origin: models.Origin{ID: "one", Kind: models.OPML, URI: "/one", Every: every}}}})
		at, visits := noon, 0
		for range 4 * 24 {
			for _, v := range claim(t, s, at, 1) {
				record(t, s, at, outcome(v, at, models.Uneventful, "same"))
				visits++
			}
			at = at.Add(time.Hour)
		}
		want := 4
		if every != nil {
			want = 4 * 24
		}
		require.Equal(t, want, visits, policy)
	}
}

// Defect 8 of earlier indexers: each loop added a timer, and all visited the last repository.
func TestThreeRepositoriesAreVisitedExactlyThirtyTimesInThirtyDays(t *testing.T) {
	s := openAt(t, t.TempDir()+"/catalog.db", "value", nil) // not parallel, because it counts goroutines
	daily := models.Seconds(24 * 3600)
	var repos []visits.Named
	for i := range 3 {
		uri := fmt.Sprintf("https://%d.example/x.git", i)
		repos = append(repos, visits.Named{Origin: models.Origin{ID: fmt.Sprint("repo", i), Kind: models.Git, URI: uri, Every: &daily}})
	}
	list(t, s, noon, visits.Listing{Origins: repos})
	visits, goroutines := map[string]int{}, 0
	for hour := range 30 * 24 {
		at := noon.Add(time.Duration(hour) * time.Hour)
		for _, v := range claim(t, s, at, 16) {
			visits[v.Origin.ID]++
			record(t, s, at, outcome(v, at, models.Uneventful, "same"))
		}
		if hour == 24 {
			goroutines = runtime.NumGoroutine()
		}
	}
	require.Equal(t, map[string]int{"repo0": 30, "repo1": 30, "repo2": 30}, visits)
	require.LessOrEqual(t, runtime.NumGoroutine(), goroutines)
}

func TestForksAndMetadataOfAListAreKept(t *testing.T) {
	t.Parallel()
	s := withListers(t)
	o := named("https://a.example/fork.git")
	o[0].Fork, o[0].ForkOf, o[0].Metadata = true, "https://a.example/up.git", map[string]string{"license": "ISC"}
	list(t, s, noon, visits.Listing{Lister: "one", Origins: o})
	o[0].ForkOf, o[0].Metadata = "", nil
	list(t, s, noon, visits.Listing{Lister: "two", Origins: o})
	shown := look(t, s, noon, o[0].ID)
	require.True(t, shown.Fork)
	require.Equal(t, "https://a.example/up.git", shown.ForkOf)
	require.Equal(t, map[string]string{"license": "ISC"}, shown.Metadata)
	o[0].Metadata = map[string]string{"long": fmt.Sprintf("%05000d", 1)}
	list(t, s, noon, visits.Listing{Lister: "one", Origins: o})
	require.Equal(t, shown.Metadata, look(t, s, noon, o[0].ID).Metadata, "a description that is too long is not kept")
}

// A lister has branches for what it names. Those of the user are stronger.
func TestARepositoryOfAListerFollowsTheBranchesOfItsFirstLister(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	o := named("https://a.example/r.git")[0]
	o.Kind = models.Git
	for _, id := range []string{"one", "two"} {
		_, err := s.db.Catalog.AddOrigin(t.Context(), models.Origin{ID: id, Kind: models.URLs, URI: "/" + id})
		require.NoError(t, err)
	}
	user := func(branches ...string) {
		o.Branches, o.Listed = branches, false
		_, err := s.db.Catalog.AddOrigin(t.Context(), o.Origin)
		require.NoError(t, err)
	}
	lister := func(id string) func(...string) {
		return func(branches ...string) {
			o.Branches, o.Listed = branches, true
			list(t, s, noon, visits.Listing{Lister: id, Origins: []visits.Named{o}})
		}
	}
	one, two := lister("one"), lister("two")
	for i, c := range []struct {
		names    func(...string)
		branches []string
		want     []string
	}{
		{one, []string{"main"}, []string{"main"}},
		{two, []string{"other"}, []string{"main"}},
		{one, []string{"main", "dev"}, []string{"main", "dev"}},
		{one, nil, nil},
		{user, []string{"mine"}, []string{"mine"}},
		{one, []string{"main"}, []string{"mine"}},
	} {
		c.names(c.branches...)
		kept, err := s.db.Catalog.Origin(t.Context(), o.ID)
		require.NoError(t, err)
		require.ElementsMatch(t, c.want, kept.Branches, "%d", i)
	}
}
