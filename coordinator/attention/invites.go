package attention

import (
	"context"
	"fmt"
	"time"

	"leasehold/coordinator/admission"
	"leasehold/models"
)

// invites finds the invites that end soon, although processes without a disk can come back only by them.
func (w *Watcher) invites(ctx context.Context, _ time.Time) (items []models.Attention, err error) {
	if w.Invites == nil {
		return nil, nil
	}
	ending, err := w.Invites.EndingInvites(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range ending {
		items = append(items, inviteItem(e))
	}
	return cut(items), nil
}

// inviteItem is the item of an invite that ends. It counts the invite itself if no process that joined by it is there.
func inviteItem(e admission.Ending) models.Attention {
	i := models.Attention{
		Cause: models.CauseInviteEnds, Severity: models.ToKnow, About: e.ID, Count: int64(max(e.Peers, 1)),
		Text:    fmt.Sprintf("%s joined by the invite %s, which ends at %s", processes(e.Peers), name(e.ID), clock(e.End)),
		Detail:  "Without a disk they cannot come back after that: give them the join line of a service.",
		Command: "leasehold invite --service " + e.Role.String(), Remedy: seen(),
	}
	if e.Moved {
		i.Text = fmt.Sprintf("The join line of the invite %s names only the former CA, which is accepted until %s", name(e.ID), clock(e.End))
		i.Detail = "Give its processes another line."
		if !e.Service {
			i.Command = "leasehold invite " + e.Role.String()
		}
	}
	return i
}

func processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}
