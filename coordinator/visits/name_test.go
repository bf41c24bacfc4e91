package visits

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

func TestADateOfAListerIsNotMissingAndNotInTheFuture(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	for at, want := range map[time.Time]int64{{}: policy.Never, now: now.Unix(), now.Add(-time.Second): now.Unix() - 1, now.Add(time.Second): policy.Never} {
		require.Equal(t, want, second(at, now.Unix()), at)
	}
}

// listed is a store with the listers one and two, and the origin o, which they name in the order of
// the calls of name.
func listed(t *testing.T, now time.Time) (s *Store, name func(lister string, change func(*Named)), look func() OriginSchedule) {
	s = politeStore(t, sqlfile.Memory, now, 0)
	for _, id := range []string{"one", "two"} {
		require.NoError(t, s.List(t.Context(), now, Listing{Origins: []Named{{Origin: models.Origin{ID: id, Kind: models.URLs, URI: "/" + id}}}}))
	}
	name = func(lister string, change func(*Named)) {
		o := Named{Origin: models.Origin{ID: "o", Kind: models.Git, URI: "https://a.example/o.git"}}
		change(&o)
		require.NoError(t, s.List(t.Context(), now, Listing{Lister: lister, Origins: []Named{o}}))
	}
	return s, name, func() OriginSchedule {
		shown, err := s.Schedule(t.Context(), now, "o")
		require.NoError(t, err)
		return shown
	}
}

func TestTheDatesOfTheFirstListerCountAndOfOthersIfThereAreNone(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	_, name, look := listed(t, now)
	dated := func(created, updated int64) func(*Named) {
		return func(o *Named) {
			if created > 0 {
				o.Created = time.Unix(created, 0)
			}
			if updated > 0 {
				o.Updated = time.Unix(updated, 0)
			}
		}
	}
	for i, c := range []struct {
		lister                                     string
		created, updated, wantCreated, wantUpdated int64
	}{
		{"one", 0, 0, policy.Never, policy.Never}, {"two", 0, 500, policy.Never, 500}, {"two", 300, 600, 300, 500}, {"one", 200, 700, 300, 700}, {"one", 200, 650, 300, 700},
		{"", 100, 900, 300, 700},
	} {
		name(c.lister, dated(c.created, c.updated))
		shown := look()
		require.Equal(t, []int64{c.wantCreated, c.wantUpdated}, []int64{shown.Created, shown.LastUpdate}, "%d", i)
		require.Equal(t, "one", shown.Listed)
	}
}

func TestWhatAUserOrAListerFixesOfAnOrigin(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s, name, look := listed(t, now)
	every := func(seconds models.Seconds) func(*Named) { return func(o *Named) { o.Every = &seconds } }
	for i, c := range []struct {
		lister string
		change func(*Named)
		every  int64
		fork   bool
	}{
		{"one", every(7200), 0, false}, {"", every(7200), 7200, false}, {"", every(1), 7200, false}, {"", func(*Named) {}, 7200, false}, {"two", every(3600), 7200, false},
		{"", every(0), 0, false}, {"one", func(o *Named) { o.Fork = true }, 0, true}, {"two", func(*Named) {}, 0, true},
	} {
		name(c.lister, c.change)
		require.Equal(t, c.every, look().Every, "%d", i)
		require.Equal(t, c.fork, look().Fork, "%d", i)
	}
	for kind, want := range map[models.OriginKind]struct {
		every    int64
		disabled policy.Reason
	}{models.URLs: {86400, ""}, models.Pushed: {0, policy.ByOperator}, models.Feed: {0, ""}} {
		id := fmt.Sprint("kind-", kind)
		require.NoError(t, s.List(t.Context(), now, Listing{Origins: []Named{{Origin: models.Origin{ID: id, Kind: kind, URI: "/" + id}}}}))
		shown, err := s.Schedule(t.Context(), now, id)
		require.NoError(t, err)
		require.Equal(t, want.every, shown.Every, kind)
		require.Equal(t, want.disabled, shown.Disabled, kind)
		require.Equal(t, string(kind), shown.Type)
	}
	err := s.List(t.Context(), now, Listing{Origins: []Named{{Origin: models.Origin{ID: "no id", Kind: models.Feed, URI: "/x"}}}})
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "/x: id")
}

func TestAUserEnablesAnOriginThatIsGoneAndAListerDoesNot(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s, name, look := listed(t, now)
	name("one", func(*Named) {})
	_, err := s.Record(t.Context(), now, []models.Outcome{{Origin: "o", Status: models.NotFound, Fault: models.GoneFault, At: now}})
	require.NoError(t, err)
	name("one", func(*Named) {})
	require.Equal(t, policy.ByGone, look().Disabled)
	name("", func(*Named) {})
	require.Empty(t, look().Disabled)
}

func TestADescriptionOfAnOriginIsKeptUpToItsBound(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	_, name, look := listed(t, now)
	const overhead = len(`{"k":""}`)
	for _, c := range []struct {
		fork string
		n    int
		kept bool
	}{{"u", 4096 - overhead - 1, true}, {"u", 4096 - overhead, false}, {"", 4096 - overhead, true}, {"", 4096 - overhead + 1, false}, {"v", 0, true}} {
		text := strings.Repeat("x", c.n)
		name("one", func(o *Named) {
			o.ForkOf = c.fork
			if c.n > 0 {
				o.Metadata = map[string]string{"k": text}
			}
		})
		require.Equal(t, c.kept, look().Metadata["k"] == text && look().ForkOf == c.fork, "%+v", c)
	}
	require.Equal(t, "v", look().ForkOf)
	name("two", func(*Named) {})
	require.Equal(t, "v", look().ForkOf, "a listing without a description keeps it")
}

func TestTheListerThatNamedAnOriginLastTakesTheFirstPlace(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s, name, look := listed(t, now)
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: []Named{{Origin: models.Origin{ID: "three", Kind: models.URLs, URI: "/three"}}}}))
	naming := func(lister string, after time.Duration) {
		o := Named{Origin: models.Origin{ID: "o", Kind: models.Git, URI: "https://a.example/o.git"}}
		require.NoError(t, s.List(t.Context(), now.Add(after), Listing{Lister: lister, Origins: []Named{o}}))
	}
	name("one", func(*Named) {})
	naming("two", 2*time.Hour)
	naming("three", time.Hour)
	naming("", 3*time.Hour)
	other := []Named{{Origin: models.Origin{ID: "p", Kind: models.Git, URI: "https://a.example/p.git"}}}
	for _, c := range []struct{ drops, first string }{{"one", "two"}, {"two", "three"}, {"three", ""}} {
		require.Equal(t, c.drops, look().Listed)
		require.NoError(t, s.List(t.Context(), now.Add(4*time.Hour), Listing{Lister: c.drops, Full: true, Origins: other}))
		require.Equal(t, c.first, look().Listed)
		require.Empty(t, look().Disabled, "the user is the last one")
	}
	require.NoError(t, s.write(t.Context(), "look", func() error {
		left, err := s.db.Number("SELECT count(*) FROM naming WHERE origin = (SELECT key FROM schedule WHERE id = 'o')")
		require.Zero(t, left)
		return err
	}))
}

func TestALaterListerThatDropsAnOriginLeavesItToTheFirst(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s, name, look := listed(t, now)
	name("one", func(*Named) {})
	name("two", func(*Named) {})
	other := []Named{{Origin: models.Origin{ID: "p", Kind: models.Git, URI: "https://a.example/p.git"}}}
	require.NoError(t, s.List(t.Context(), now, Listing{Lister: "two", Full: true, Origins: other}))
	require.Equal(t, "one", look().Listed)
	require.NoError(t, s.List(t.Context(), now, Listing{Lister: "one", Full: true, Origins: other}))
	require.Equal(t, policy.ByLister, look().Disabled, "two has dropped it before")
	require.Equal(t, "one", look().Listed)
}

func TestAListingCountsTheDatesSinceTheOneBefore(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s, _, _ := listed(t, now)
	list := func(at time.Time, from, next int, ages ...time.Duration) dates {
		var origins []Named
		for i, age := range ages {
			origins = append(origins, Named{Origin: models.Origin{ID: fmt.Sprintf("o%d-%d", from, i), Kind: models.Git, URI: fmt.Sprintf("https://a.example/%d/%d", from, i)}, Updated: at.Add(-age)})
		}
		require.NoError(t, s.List(t.Context(), at, Listing{Lister: "one", Origins: origins, From: from, Next: next}))
		return s.cache.dates[1]
	}
	require.Equal(t, dates{listed: now.Unix(), active: 2, begun: now.Unix()}, list(now, 0, 0, time.Hour, 0, -time.Hour))
	later := now.Add(time.Hour)
	require.Equal(t, dates{listed: now.Unix(), active: 2, begun: later.Unix(), next: 3}, list(later, 0, 3, time.Hour, time.Hour+time.Second, 0))
	shown, err := s.Schedule(t.Context(), later, "one")
	require.NoError(t, err)
	require.True(t, shown.Urgent, "the list goes on")
	last := later.Add(time.Hour)
	require.Equal(t, dates{listed: now.Unix(), active: 2, begun: later.Unix(), next: 3}, list(last, 4, 0, 0), "it has changed since")
	require.Equal(t, dates{listed: last.Unix(), active: 4, begun: later.Unix()}, list(last, 3, 0, 0, time.Hour), "a part adds to the one before")
	require.Equal(t, dates{listed: last.Unix(), begun: last.Unix()}, list(last, 0, 0, time.Hour), "another list begins again")
}
