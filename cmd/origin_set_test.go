package cmd

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/api/types"
)

func TestTheHubOfAnOriginIsShownWithItsState(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	h := types.Hub{Hub: models.Hub{URL: "https://hub.example/"}}
	require.Equal(t, "https://hub.example/ not subscribed; a coordinator with public-url subscribes", hubState(h, now))
	h.Asked, h.Error = 3, "the hub accepted the request and did not confirm it"
	require.Equal(t, "https://hub.example/ does not confirm the subscription, 3 requests so far: the hub accepted the request and did not confirm it", hubState(h, now))
	h = types.Hub{Hub: h.Hub, Until: now.Add(time.Hour)}
	require.Equal(t, "https://hub.example/ reports changes until 2026-11-28T13:00:00Z, renewed before", hubState(h, now))
}

func TestSkipTimesAndHoursAreShown(t *testing.T) {
	t.Parallel()
	require.Equal(t, "00:00, 13:00, Sunday (UTC)", skipped(models.Skip{Hours: []int{0, 13}, Days: []string{"Sunday"}}))
	require.Empty(t, hoursNote(""))
	require.Equal(t, "; visited 22:00-06:00@UTC only", hoursNote("22:00-06:00@UTC"))
}

func TestBadHoursAreAUsageError(t *testing.T) {
	t.Parallel()
	_, err := parseHours("22")
	require.ErrorContains(t, err, `--hours "22": want FROM-TO`)
	hours, err := parseHours("any")
	require.NoError(t, err)
	require.Equal(t, models.AnyHours, *hours)
}
