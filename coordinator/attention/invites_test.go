package attention_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator"
	"leasehold/coordinator/admission"
	"leasehold/models"
	"leasehold/shared/access"
)

// invites are those that end.
type invites struct {
	ending atomic.Pointer[[]admission.Ending]
}

func (i *invites) EndingInvites(context.Context) ([]admission.Ending, error) {
	return *i.ending.Load(), nil
}

func (i *invites) set(ending ...admission.Ending) { i.ending.Store(&ending) }

func TestAnInviteThatEndsWhileProcessesNeedItIsShown(t *testing.T) {
	t.Parallel()
	store := &invites{}
	store.set()
	inBubble(t, func(c *coordinator.Config) { c.Attention.Invites = store }, func(f *fixture) {
		require.Empty(f, f.items(models.CauseInviteEnds))
		end := time.Now().Add(24 * time.Hour)
		worker := admission.Invite{ID: "k3x", Role: access.Worker}
		store.set(admission.Ending{Invite: worker, Peers: 2, End: end})
		f.wait(5 * time.Second)
		i := f.only(models.CauseInviteEnds)
		require.Equal(f, models.ToKnow, i.Severity)
		require.Equal(f, "2 processes joined by the invite k3x, which ends at 2000-01-02 00:00:01 UTC", i.Text)
		require.Equal(f, "leasehold invite --service worker", i.Command)
		require.Equal(f, int64(2), i.Count)

		store.set(admission.Ending{Invite: worker, Peers: 1, End: end, Moved: true})
		f.wait(5 * time.Second)
		i = f.only(models.CauseInviteEnds)
		require.Equal(f, "The join line of the invite k3x names only the former CA, which is accepted until 2000-01-02 00:00:01 UTC", i.Text)
		require.Equal(f, "Give its processes another line.", i.Detail)
		require.Equal(f, "leasehold invite worker", i.Command)

		store.set(admission.Ending{Invite: admission.Invite{ID: "k3x", Role: access.Worker, Service: true}, End: end, Moved: true})
		f.wait(5 * time.Second)
		i = f.only(models.CauseInviteEnds)
		require.Equal(f, int64(1), i.Count)
		require.Equal(f, "leasehold invite --service worker", i.Command)

		store.set()
		f.wait(5 * time.Second)
		require.Empty(f, f.items(models.CauseInviteEnds))
	})
}
