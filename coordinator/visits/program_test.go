package visits

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

func TestAProgramClaimsItsOwnTypeInOrderAndPolitely(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := politeStore(t, sqlfile.Memory, now, 2)
	s.rules.HostSlots = 1
	_, err := s.ClaimFor(t.Context(), now, "svn", 1)
	require.ErrorIs(t, err, fault.ErrNotFound)
	require.NoError(t, s.Register(t.Context(), "svn"))
	require.NoError(t, s.Register(t.Context(), "cvs"))
	var all []Named
	for i, host := range []string{"a", "a", "b", "c", "d"} {
		all = append(all, Named{Origin: models.Origin{ID: fmt.Sprint("s", i), Kind: "svn", URI: fmt.Sprintf("svn://%s.example/%d", host, i)}})
	}
	all = append(all, Named{Origin: models.Origin{ID: "v", Kind: "cvs", URI: "cvs://e.example/"}})
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: all}))
	require.NoError(t, s.SaveNow(t.Context(), now, "s3"))
	claim := func(at time.Time, n int) (ids []string) {
		visits, err := s.ClaimFor(t.Context(), at, "svn", n)
		require.NoError(t, err)
		for _, v := range visits {
			ids = append(ids, v.Origin.ID)
		}
		return ids
	}
	require.Equal(t, []string{"s3", "s0"}, claim(now, 2), "what was asked for comes first")
	require.Equal(t, []string{"s2", "s4"}, claim(now, 9), "not a second one of a host")
	require.Empty(t, claim(now, 9))
	require.ElementsMatch(t, []string{"s0", "s2", "s3", "s4"}, claim(now.Add(time.Hour), 9), "what is not reported is lost after an hour")
}

func TestTypesOfProgramsAreBounded(t *testing.T) {
	t.Parallel()
	s := openFile(t, sqlfile.Memory)
	for _, bad := range []models.OriginKind{"", "Svn", "1svn"} {
		require.ErrorIs(t, s.Register(t.Context(), bad), fault.ErrInvalid, bad)
	}
	require.ErrorIs(t, s.Register(t.Context(), "git"), fault.ErrConflict)
	for n := range 100 {
		require.NoError(t, s.Register(t.Context(), models.OriginKind(fmt.Sprintf("t%02d", n))))
	}
	require.ErrorIs(t, s.Register(t.Context(), "surplus"), fault.ErrTooLarge)
	require.NoError(t, s.Register(t.Context(), "t07"), "it is known")
	insert(t, s, "") // which has the cache read again
	kinds, err := s.Programs(t.Context())
	require.NoError(t, err)
	require.Len(t, kinds, 100)
	require.IsIncreasing(t, kinds)
}

func TestAVisitOfAProgramIsLostAfterAnHour(t *testing.T) {
	t.Parallel()
	s := planned(t, "value", "svn.lost-after=30m")
	require.Equal(t, time.Hour, s.rulesOf("cvs").LostAfter)
	require.Equal(t, 30*time.Minute, s.rulesOf("svn").LostAfter)
	require.Equal(t, policy.DefaultRules().LostAfter, s.rulesOf(models.Git).LostAfter)
}
