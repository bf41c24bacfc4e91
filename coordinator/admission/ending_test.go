package admission_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/admission"
	"leasehold/shared/access"
)

func TestInvitesThatEndWhileProcessesNeedThemAreFound(t *testing.T) {
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
	type found struct {
		id    string
		peers int
		end   time.Time
		moved bool
	}
	ending := func(change admission.CAChange) (all []found) {
		list, err := h.EndingInvites(t.Context(), change)
		require.NoError(t, err)
		for _, e := range list {
			all = append(all, found{e.ID, e.Peers, e.End.UTC(), e.Moved})
		}
		return all
	}
	inDays := func(n int) time.Time { return h.clock.Add(time.Duration(n) * 24 * time.Hour).Truncate(time.Second) }
	for _, i := range []admission.Invite{
		{Name: "service", Service: true}, {Name: "day", Expires: inDays(1)}, {Name: "month", Expires: inDays(30)}, {Name: "disk", Expires: inDays(1), Uses: 2},
	} {
		join(invite(i))
	}
	invite(admission.Invite{Name: "unused", Expires: inDays(1)})
	join("day")
	day := inDays(1)
	none := admission.CAChange{}
	require.Equal(t, []found{{"day", 2, day, false}}, ending(none))

	end := inDays(20)
	require.Equal(t, []found{{"day", 2, end, true}, {"disk", 1, end, true}, {"month", 1, end, true}, {"service", 1, end, true}},
		ending(admission.CAChange{At: h.clock.Add(time.Second), End: end}), "these lines name only the former CA; no process needs the unused one")
	require.Equal(t, []found{{"day", 2, day, false}}, ending(admission.CAChange{At: h.clock.Add(-time.Hour), End: end}), "lines from after the change name both")

	h.clock = h.clock.Add(2 * 24 * time.Hour)
	require.Empty(t, ending(none), "the processes are not there any more")
	h.clock = h.clock.Add(23 * 24 * time.Hour)
	join("month")
	require.Equal(t, []found{{"month", 1, inDays(5), false}}, ending(none))
}
