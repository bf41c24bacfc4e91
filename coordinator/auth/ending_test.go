package auth_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/admission"
)

func TestAJoinLineFromBeforeAChangeOfTheCAEndsWithTheFormerCA(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	line := h.invite(admission.Invite{Service: true})
	h.clock = h.clock.Add(time.Hour)
	ending, err := h.EndingInvites(t.Context())
	require.NoError(t, err)
	require.Empty(t, ending)
	end := h.clock.Add(30 * day)
	require.NoError(t, h.Rotate(t.Context(), end))
	ending, err = h.EndingInvites(t.Context())
	require.NoError(t, err)
	require.Len(t, ending, 1)
	require.Equal(t, line.ID, ending[0].ID)
	require.True(t, ending[0].Moved)
	require.WithinDuration(t, end, ending[0].End, time.Second)
}
