package visits_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/fault"
)

func TestAHubIsSubscribedToUntilTheFeedNoLongerNamesIt(t *testing.T) {
	t.Parallel()
	s, ids := openWithHours(t, 1, "any")
	at := noon
	visit := func(h *models.Hub) (due []visits.Subscription) {
		at = at.Add(time.Hour)
		record(t, s, at, models.Outcome{Origin: ids[0], Status: models.Eventful, At: at, Digest: fmt.Sprint(at), Hub: h})
		due, err := s.DueSubscriptions(t.Context(), at, 10)
		require.NoError(t, err)
		return due
	}
	first := models.Hub{URL: "https://hub.example/", Topic: "https://a.example/feed"}
	other := models.Hub{URL: "https://other.example/", Topic: "https://a.example/feed"}
	require.Empty(t, visit(&models.Hub{}))
	require.Empty(t, visit(&models.Hub{URL: "file:///etc/passwd", Topic: "x"}))
	due := visit(&first)
	require.Len(t, due, 1)
	require.Len(t, due[0].Callback, 32)
	require.Len(t, due[0].Secret, 64)
	require.Equal(t, first, due[0].Hub)
	require.Equal(t, due, visit(nil), "the feed has not changed")
	require.Equal(t, due, visit(&first))
	require.Equal(t, first, look(t, s, at, ids[0]).Hub.Hub)

	_, err := s.EditSubscription(t.Context(), due[0].Callback, func(x *visits.Subscription) bool {
		x.Until, x.Due = at.Add(24*time.Hour).Unix(), at.Add(20*time.Hour).Unix()
		return true
	})
	require.NoError(t, err)
	changed := visit(&other)
	require.Len(t, changed, 2)
	for _, x := range changed {
		require.Equal(t, x.Hub == first, x.Leaving)
	}
	require.Len(t, visit(&models.Hub{}), 1, "the other one was never asked")
	require.Nil(t, look(t, s, at, ids[0]).Hub)
}

func TestTheHubOfARemovedOriginIsLeft(t *testing.T) {
	t.Parallel()
	s, _ := openWithHours(t, 0, "any")
	o := models.Origin{ID: models.NewID("feed", "https://a.example/feed"), Kind: models.Feed, URI: "https://a.example/feed"}
	_, err := s.db.Catalog.AddOrigin(t.Context(), o)
	require.NoError(t, err)
	h := models.Hub{URL: "https://hub.example/", Topic: o.URI}
	now := time.Now()
	record(t, s, now, models.Outcome{Origin: o.ID, Status: models.Eventful, At: now, Digest: "a", Hub: &h})
	due, err := s.DueSubscriptions(t.Context(), now, 1)
	require.NoError(t, err)
	require.Len(t, due, 1)
	_, err = s.EditSubscription(t.Context(), due[0].Callback, func(x *visits.Subscription) bool { x.Asked++; return true })
	require.NoError(t, err)
	require.NoError(t, s.db.Catalog.RemoveOrigin(t.Context(), o.ID))
	x, err := s.Subscription(t.Context(), due[0].Callback)
	require.NoError(t, err)
	require.True(t, x.Leaving)
	_, err = s.EditSubscription(t.Context(), x.Callback, func(*visits.Subscription) bool { return false })
	require.NoError(t, err)
	_, err = s.Subscription(t.Context(), x.Callback)
	require.ErrorIs(t, err, fault.ErrNotFound)
}
