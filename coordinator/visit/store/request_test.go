package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visit"
	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/sqlfile"
)

// The API and the command pass the name on as the user has written it.
func TestAnOriginIsSteeredByTheNameOfTheAction(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := politeStore(t, sqlfile.Memory, now, 1)
	_, err := s.Record(t.Context(), now, []models.Outcome{{Origin: "o0", Status: models.Failed, At: now, RetryAfter: 1000}})
	require.NoError(t, err)
	for _, c := range []struct {
		action   string
		want     error
		disabled visit.Reason
		urgent   bool
		waits    bool // for the end of the Retry-After
	}{
		{"disable", nil, visit.ByOperator, false, true},
		{"save", fault.ErrInvalid, visit.ByOperator, false, true},
		{"", fault.ErrInvalid, visit.ByOperator, false, true},
		{"enable", nil, "", false, true},
		{"save-now", nil, "", true, true},
		{"force-now", nil, "", true, false},
	} {
		require.ErrorIs(t, s.Steer(t.Context(), now, "o0", c.action), c.want, c.action)
		o, err := s.Schedule(t.Context(), now, "o0")
		require.NoError(t, err)
		require.Equal(t, c.disabled, o.Disabled, c.action)
		require.Equal(t, c.urgent, o.Urgent, c.action)
		require.Equal(t, c.waits, o.NotBefore != visit.Never, c.action)
		if c.want == nil {
			require.ErrorIs(t, s.Steer(t.Context(), now, "unknown", c.action), fault.ErrNotFound, c.action)
		}
	}
}
