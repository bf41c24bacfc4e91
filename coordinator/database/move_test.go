package database

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/visit/policy"
)

func TestAnOriginThatMovesIsVisitedAtItsNewHostAndComesBackIfItIsAddedAgain(t *testing.T) {
	t.Parallel()
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"), "value", policy.DefaultRules())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	o := models.Origin{ID: "show", Kind: models.Feed, URI: "https://user:secret@old.example/feed.xml"}
	_, err = d.Catalog.AddOrigin(t.Context(), o)
	require.NoError(t, err)
	const to = "https://new.example/feed.xml"
	now := time.Now()
	for _, at := range []time.Time{now.Add(-25 * time.Hour), now.Add(-time.Minute)} {
		_, err := d.Visits.Record(t.Context(), now, []models.Outcome{{Origin: o.ID, Status: models.Eventful, At: at, Digest: "d", ETag: "e", Move: &models.Move{To: to, Answers: true}}})
		require.NoError(t, err)
	}
	moved, err := d.Catalog.Origin(t.Context(), o.ID)
	require.NoError(t, err)
	require.Equal(t, to, moved.URI, "another host does not get the password")
	shown, err := d.Visits.Schedule(t.Context(), now, o.ID)
	require.NoError(t, err)
	require.Equal(t, to, shown.Origin.URI)
	require.Equal(t, "d", shown.LastDigest)
	require.Len(t, shown.History, 2)

	_, err = d.Catalog.AddOrigin(t.Context(), o)
	require.NoError(t, err)
	back, err := d.Catalog.Origin(t.Context(), o.ID)
	require.NoError(t, err)
	require.Equal(t, o.URI, back.URI)
	shown, err = d.Visits.Schedule(t.Context(), now, o.ID)
	require.NoError(t, err)
	require.Equal(t, models.Redact(o.URI), shown.Origin.URI)
	claimed, err := d.Visits.Claim(t.Context(), now.Add(48*time.Hour), 5)
	require.NoError(t, err)
	require.Len(t, claimed, 1)
	require.Empty(t, claimed[0].Known.ETag, "the validators were of another document")
}
