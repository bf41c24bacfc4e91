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

func TestAChangeOfPolicySetsTheTargetsThatAnotherPolicyLeft(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	s := openPlan(t, path, "value", "cooldown=0s,fudge=0")
	list(t, s, noon, visits.Listing{Origins: append(folders(2), repositories(1)...)})
	at := noon
	for range 20 { // under value the targets grow by an interval with each visit
		at = at.Add(time.Minute)
		for _, v := range claim(t, s, at, 3) {
			record(t, s, at, outcome(v, at, models.Uneventful, "a"))
		}
	}
	list(t, s, at, visits.Listing{Origins: named("/new")})
	feed, repository, added := models.NewID("/folder/0"), models.NewID("git", "/folder/0.git"), models.NewID("/new")
	require.NotContains(t, metrics(t, s, at).Drift, models.Feed, "value has no targets")
	require.NoError(t, s.Close())

	s = openPlan(t, path, "seed,git=value", "cooldown=0s,fudge=0")
	longest := int64(4096 * 24 * 3600)
	require.Equal(t, at.Unix()+longest, look(t, s, at, feed).Target, "the interval after its last visit")
	require.Equal(t, policy.Never, look(t, s, at, added).Target)
	first := claim(t, s, at, 1)
	require.Equal(t, added, first[0].Origin.ID, "the one without a target")
	target := look(t, s, at, feed).Target
	require.NoError(t, s.Close())

	s = openPlan(t, path, "seed,git=value,svn=legacy", "cooldown=0s,fudge=0")
	require.Equal(t, target, look(t, s, at, feed).Target, "its policy stays")
	require.NoError(t, s.Close())

	s = openPlan(t, path, "seed", "cooldown=0s,fudge=0")
	require.Equal(t, at.Unix()+longest, look(t, s, at, repository).Target)
}

func TestClaimsOfOneSlotVisitDatedOriginsUnderEachPolicy(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"seed", "swh2026", "swh2026-git"} {
		s := openAt(t, filepath.Join(t.TempDir(), "catalog.db"), name, func(r *policy.Rules) { r.NowShare = 0 })
		list(t, s, noon, visits.Listing{Origins: []visits.Named{{Origin: models.Origin{ID: "lister", Kind: models.URLs, URI: "/list"}}}})
		require.NoError(t, s.Disable(t.Context(), noon, "lister"))
		all := folders(150)
		for i := range 50 {
			all[i].Updated = noon.Add(-time.Hour)
		}
		list(t, s, noon, visits.Listing{Lister: "lister", Origins: all})
		for range 40 {
			claim(t, s, noon, 1)
		}
		require.NotZero(t, metrics(t, s, noon).Picked["B1"], name)
	}
}
