package admission_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/admission"
	"leasehold/shared/access"
)

func TestAWayBackThatEndsIsWarnedOf(t *testing.T) {
	t.Parallel()
	h, n := newFixture(t), byte(0)
	invite := func(i admission.Invite) string {
		i.ID, i.Role = i.Name, access.Worker
		return h.invite(i).ID
	}
	join := func(id string) {
		n++
		_, err := h.join(id, n)
		require.NoError(t, err)
	}
	warnings := func(change admission.CAChange) string {
		lines, err := h.Warnings(t.Context(), change)
		require.NoError(t, err)
		return strings.Join(lines, "\n")
	}
	inDays := func(n int) time.Time { return h.clock.Add(time.Duration(n) * 24 * time.Hour).Truncate(time.Second) }
	for _, i := range []admission.Invite{
		{Name: "service", Service: true}, {Name: "day", Expires: inDays(1)}, {Name: "month", Expires: inDays(30)}, {Name: "disk", Expires: inDays(1), Uses: 2},
	} {
		join(invite(i))
	}
	invite(admission.Invite{Name: "unused", Expires: inDays(1)})
	join("day")
	none := admission.CAChange{}
	require.Equal(t, "2 processes joined by the invite day, which ends at "+inDays(1).UTC().Format(time.RFC3339)+
		": without a disk they cannot come back after that (leasehold invite --service worker)", warnings(none))

	change := admission.CAChange{At: h.clock.Add(time.Second), End: inDays(20)}
	require.Contains(t, warnings(change), "the join line of the invite service names only the former CA, which is accepted until "+inDays(20).UTC().Format(time.RFC3339)+
		": give its 1 process another line (leasehold invite --service worker)")
	require.NotContains(t, warnings(change), "unused")
	require.NotContains(t, warnings(admission.CAChange{At: h.clock.Add(-time.Hour), End: inDays(20)}), "former", "a line from after the change names both")

	h.clock = h.clock.Add(2 * 24 * time.Hour)
	require.Empty(t, warnings(none), "they are not there any more")
	h.clock = h.clock.Add(23 * 24 * time.Hour)
	join("month")
	require.Contains(t, warnings(none), "1 process joined by the invite month")
}
