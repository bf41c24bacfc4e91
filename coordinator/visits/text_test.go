package visits

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/fault"
)

// randomText is a text that no compression shortens much.
func randomText(n int) string {
	random, b := rand.New(rand.NewPCG(3, 4)), strings.Builder{}
	for range n {
		b.WriteByte('a' + byte(random.IntN(26)))
	}
	return b.String()
}

// One outcome that cannot be stored would stop all that come after it.
func TestOutcomesWithTextsThatADatabaseRefusesAreRecorded(t *testing.T) {
	t.Parallel()
	s, now := openFile(t, sqlfile.Memory), time.Now().Truncate(time.Second)
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: hosted(2, 2)}))
	visits, err := s.Claim(t.Context(), now, 1)
	require.NoError(t, err)
	require.Len(t, visits, 1)
	bad, id := "a\x00b\xff", visits[0].Origin.ID
	effects, err := s.Record(t.Context(), now, []models.Outcome{
		{Visit: bad, Origin: bad, Status: models.Eventful, At: now},
		{Visit: visits[0].ID, Origin: id, Status: models.Eventful, At: now, Error: bad, Digest: bad, ETag: bad, Modified: "\xff",
			Answered: "https://\xff.example/", Hub: &models.Hub{URL: "https://a.example/\xff", Topic: "https://a.example/"}, Move: &models.Move{Problem: bad}},
		{Visit: strings.Repeat("é\x00", 5000), Origin: id, Status: models.Status(bad), At: now.Add(time.Second)},
	})
	require.NoError(t, err)
	require.Equal(t, UnknownOrigin, effects[0].Ignored)
	require.Empty(t, effects[1].Ignored)
	o, err := s.Schedule(t.Context(), now, id)
	require.NoError(t, err)
	require.Equal(t, "a\uFFFDb\uFFFD", o.LastDigest)
	require.Equal(t, "a\uFFFDb\uFFFD", o.History[len(o.History)-1].Error)
	require.Nil(t, o.Hub)
	r, ok, err := s.current(id)
	require.NoError(t, err)
	require.True(t, ok)
	require.Empty(t, r.etag+r.modified, "a validator that was changed would never be true")
}

func TestTextsOfOriginsThatADatabaseRefusesAreRefusedOrReplaced(t *testing.T) {
	t.Parallel()
	s, now := openFile(t, sqlfile.Memory), time.Now().Truncate(time.Second)
	bad := "a\x00b\xff"
	lister := Named{Origin: models.Origin{ID: "lister", Kind: models.URLs, URI: "/list"}}
	fork := Named{Origin: models.Origin{ID: "fork", Kind: models.Git, URI: "https://a.example/"}, ForkOf: bad, Metadata: map[string]string{bad: bad}}
	// No name of a host is so long, and an index has no place for it.
	long := Named{Origin: models.Origin{ID: "long", Kind: models.Feed, URI: "https://" + randomText(4000) + "/"}}
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: []Named{lister, fork, long}}))
	require.NoError(t, s.List(t.Context(), now, Listing{Lister: "lister", Visit: bad, Full: true}))
	require.ErrorIs(t, s.List(t.Context(), now, Listing{Origins: []Named{{Origin: models.Origin{ID: "nul", Kind: models.Media, URI: "/a\x00"}}}}), fault.ErrInvalid)

	require.ErrorIs(t, s.Tell(t.Context(), now, bad), fault.ErrNotFound)
	require.NoError(t, s.SaveAllNow(t.Context(), now, []models.Origin{{ID: bad}, {ID: "long"}}))
	require.NoError(t, s.AdoptInFlight(t.Context(), now, map[string]string{bad: "v", "fork": bad + randomText(5000)}))
	o, err := s.Schedule(t.Context(), now, "fork")
	require.NoError(t, err)
	require.Equal(t, "a\uFFFDb\uFFFD", o.ForkOf)
	effects, err := s.Record(t.Context(), now, []models.Outcome{{Origin: "fork", Visit: bad + randomText(5000), Status: models.Uneventful, At: now}})
	require.NoError(t, err)
	require.Empty(t, effects[0].Ignored)
	o, err = s.Schedule(t.Context(), now, "fork")
	require.NoError(t, err)
	require.Empty(t, o.Visit, "an outcome has its visit's id as it was stored")
	visits, err := s.Claim(t.Context(), now, 3)
	require.NoError(t, err)
	require.Equal(t, "long", visits[0].Origin.ID)
}

func TestATextIsCutToItsBytesAlsoWithinACharacter(t *testing.T) {
	t.Parallel()
	for _, s := range []string{strings.Repeat("é", 200), strings.Repeat("€", 200), strings.Repeat("😀", 100), strings.Repeat("\xff", 400), strings.Repeat("\x00", 400)} {
		for bytes := 10; bytes < 20; bytes++ {
			cut := bounded(s, bytes)
			require.LessOrEqual(t, len(cut), bytes)
			require.Equal(t, cut, bounded(cut, bytes))
			require.NotContains(t, cut, "\x00")
		}
	}
}
