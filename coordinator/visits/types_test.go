package visits_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/protocol/visit/policy"
)

func openPlan(t *testing.T, path, policies, rules string) *opened {
	t.Helper()
	plan, err := policy.ParsePlan(policies, rules)
	require.NoError(t, err)
	return openDatabase(t, path, plan)
}

func repositories(n int) []visits.Named {
	all := folders(n)
	for i := range all {
		all[i].Kind, all[i].URI = models.Git, all[i].URI+".git"
		all[i].ID = models.NewID("git", all[i].URI)
	}
	return all
}

func kinds(visits []models.Visit) map[models.OriginKind]int {
	n := map[models.OriginKind]int{}
	for _, v := range visits {
		n[v.Origin.Kind]++
	}
	return n
}

func TestTypesHaveTheirOwnPolicyWeightAndQueue(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	s := openPlan(t, path, "value,git=roundrobin", "git.weight=3,git.queue=12")
	list(t, s, noon, visits.Listing{Origins: append(folders(100), repositories(100)...)})
	require.Equal(t, map[models.OriginKind]int{models.Feed: 2, models.Git: 8}, kinds(claim(t, s, noon, 10)))
	require.Equal(t, 4, kinds(claim(t, s, noon, 40))[models.Git], "12 at a time")
	require.Zero(t, kinds(claim(t, s, noon, 40))[models.Git])
	require.NoError(t, s.Close())

	// Another plan places all origins again.
	s = openPlan(t, path, "value", "")
	require.Positive(t, kinds(claim(t, s, noon, 40))[models.Git])
}

func TestAKindRestsForItsOwnCooldown(t *testing.T) {
	t.Parallel()
	s := openPlan(t, filepath.Join(t.TempDir(), "catalog.db"), "value", "longest-cooldown=0s")
	list(t, s, noon, visits.Listing{Origins: append(folders(1), repositories(1)...)})
	for _, v := range claim(t, s, noon, 2) {
		record(t, s, noon, outcome(v, noon, models.Eventful, "a"))
	}
	require.Empty(t, claim(t, s, noon.Add(14*time.Minute), 2))
	require.Equal(t, map[models.OriginKind]int{models.Feed: 1}, kinds(claim(t, s, noon.Add(15*time.Minute), 2)))
	require.Equal(t, map[models.OriginKind]int{models.Git: 1}, kinds(claim(t, s, noon.Add(time.Hour), 2)))
}

func TestAFreshAnswerIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	s := openPlan(t, filepath.Join(t.TempDir(), "catalog.db"), "value", "longest-cooldown=0s")
	list(t, s, noon, visits.Listing{Origins: folders(1)})
	o := outcome(claim(t, s, noon, 1)[0], noon, models.Eventful, "a")
	o.FreshFor = 7200
	record(t, s, noon, o)
	require.Empty(t, claim(t, s, noon.Add(119*time.Minute), 1))
	require.Equal(t, policy.StillFresh, look(t, s, noon.Add(time.Hour), o.Origin).Why)
	at := noon.Add(2 * time.Hour)
	o = outcome(claim(t, s, at, 1)[0], at, models.Uneventful, "a")
	record(t, s, at, o) // not sent again, so without its ttl
	require.Equal(t, at.Add(2*time.Hour).Unix(), look(t, s, at, o.Origin).Until)
	at = at.Add(2 * time.Hour)
	o = outcome(claim(t, s, at, 1)[0], at, models.Eventful, "b")
	o.FreshFor = 1e9
	record(t, s, at, o)
	require.Equal(t, at.Add(24*time.Hour).Unix(), look(t, s, at, o.Origin).Until, "at most a day")
}

func TestAnIntervalIsFixedAndTakenBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	for _, policy := range policy.Names {
		s := openPlan(t, path, policy, "")
		day, none := models.Seconds(86400), models.Seconds(0)
		o := models.Origin{ID: models.NewID("clips", "/clips"), Kind: models.Clips, URI: "/clips", Every: &day}
		_, err := s.db.Catalog.AddOrigin(t.Context(), o)
		require.NoError(t, err)
		require.NoError(t, s.SaveNow(t.Context(), noon, o.ID))
		v := claim(t, s, noon, 1)
		require.Len(t, v, 1, policy)
		record(t, s, noon.Add(time.Minute), outcome(v[0], noon.Add(time.Minute), models.Eventful, "a"))
		require.NoError(t, s.Close())

		s = openPlan(t, path, policy, "")
		l := look(t, s, noon.Add(23*time.Hour), o.ID)
		require.Equal(t, "fixed interval", l.Why, policy)
		require.Equal(t, noon.Add(24*time.Hour).Unix(), l.Until)
		next, err := s.Next(t.Context(), noon.Add(25*time.Hour), 1)
		require.NoError(t, err)
		require.Len(t, next, 1, policy)
		require.Equal(t, "fixed", next[0].Pool)
		o.Every = nil
		_, err = s.db.Catalog.AddOrigin(t.Context(), o)
		require.NoError(t, err)
		require.EqualValues(t, 86400, look(t, s, noon, o.ID).Every, "it is kept")
		o.Every = &none
		_, err = s.db.Catalog.AddOrigin(t.Context(), o)
		require.NoError(t, err)
		require.Zero(t, look(t, s, noon, o.ID).Every)
		require.NoError(t, s.db.Catalog.RemoveOrigin(t.Context(), o.ID))
		require.NoError(t, s.Close())
	}
}

func TestReportsOfChangesAreDatesWhoseTruthIsLearned(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	s := openPlan(t, path, "value", "")
	list(t, s, noon, visits.Listing{Origins: folders(1)})
	id := folders(1)[0].ID
	at := noon
	visitOnce := func(status models.Status, digest string) {
		require.NoError(t, s.SaveNow(t.Context(), at, id))
		record(t, s, at, outcome(claim(t, s, at, 1)[0], at, status, digest))
		at = at.Add(24 * time.Hour)
	}
	visitOnce(models.Eventful, "a")
	require.NoError(t, s.Tell(t.Context(), at, id))
	next, err := s.Next(t.Context(), at, 1)
	require.NoError(t, err)
	require.Equal(t, policy.Told, next[0].Pool)
	before := 0.0
	for n := range 20 { // none of the reports is true
		visitOnce(models.Uneventful, "a")
		require.NoError(t, s.Tell(t.Context(), at, id))
		next, err = s.Next(t.Context(), at, 1)
		require.NoError(t, err)
		require.Equal(t, n < 2, next[0].Pool == policy.Told, "after %d false reports", n+1)
		if n == 2 {
			before = next[0].Value
		}
	}
	require.NoError(t, s.Close())
	s = openPlan(t, path, "value", "")
	next, err = s.Next(t.Context(), at, 1)
	require.NoError(t, err)
	require.Equal(t, "signal", next[0].Pool)
	require.Less(t, next[0].Value, before/3)
}

func TestAFixedIntervalSurvivesAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	s := openPlan(t, filepath.Join(t.TempDir(), "catalog.db"), "value", "")
	month := models.Seconds(30 * 86400)
	o := models.Origin{ID: models.NewID("clips", "/clips"), Kind: models.Clips, URI: "/clips", Every: &month}
	_, err := s.db.Catalog.AddOrigin(t.Context(), o)
	require.NoError(t, err)
	ahead := noon.AddDate(3, 0, 0)
	v := claim(t, s, ahead, 1)
	record(t, s, ahead, outcome(v[0], ahead, models.Eventful, "a"))
	require.Empty(t, claim(t, s, noon, 1)) // the clock is set back
	require.Equal(t, noon.AddDate(0, 0, 30).Unix(), look(t, s, noon, o.ID).Until)
}
