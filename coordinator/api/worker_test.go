package api_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
)

func TestAGoProgramWorksOnTasksOverHTTP(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	c, err := client.New(h.server.URL)
	require.NoError(t, err)
	defer c.Close()
	w, err := c.OpenWorker(t.Context(), types.NewSession{Name: "w", Serves: []types.Served{{Action: "count", Slots: 1}}})
	require.NoError(t, err)
	made, err := c.CreateTask(t.Context(), types.NewTask{Action: "count", Data: []byte(`{"n":1}`)})
	require.NoError(t, err)
	claim := func() types.ClaimedTask {
		claimed, err := w.Claim(t.Context(), 1, time.Second)
		require.NoError(t, err)
		require.Len(t, claimed, 1)
		return claimed[0]
	}
	got := claim()
	require.Equal(t, made.ID, got.ID)
	require.NoError(t, w.Extend(t.Context(), got, &models.Progress{Fraction: 0.5, Text: "half"}))
	now, err := w.Heartbeat(t.Context())
	require.NoError(t, err)
	require.Equal(t, got.Token, now.Claims[0].Token)
	require.NoError(t, w.HandBack(t.Context(), got, 0))
	require.ErrorIs(t, w.Extend(t.Context(), got, nil), fault.ErrStaleToken)
	created, err := w.Resolve(t.Context(), claim(), []byte(`{"n":2}`), types.NewTask{Action: "count"})
	require.NoError(t, err)
	require.Len(t, created, 1)
	last := claim()
	require.Equal(t, created[0].ID, last.ID)
	next, err := w.Next(t.Context(), []types.Finish{{Task: last.ID, HandBack: &types.HandBack{Token: last.Token}}}, 1, time.Second)
	require.NoError(t, err)
	require.Equal(t, []types.Finished{{Task: last.ID}}, next.Finished)
	last = next.Items[0]
	require.NoError(t, w.Release(t.Context(), last, types.Release{Error: "never", GiveUp: true}))
	dead, err := c.DeadLetter(t.Context(), last.ID)
	require.NoError(t, err)
	require.Equal(t, "never", dead.History[0].Error)
	require.NoError(t, c.EndSession(t.Context(), w.ID))
}
