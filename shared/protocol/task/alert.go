package task

import (
	"context"
	"errors"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// An Alert stands for a dead letter that has not been reported to an administrator yet.
type Alert struct {
	Channel string // one of Policy.Alerts
	Task    string // id of the dead letter
	DiedAt  int64  // in milliseconds since 1970
}

// Alerts is the space of alerts. It is the queue from which they are sent, and its bound: past
// it, the oldest are dropped.
const Alerts = "alert"

const maxAlerts = 10_000

// alert puts an alert into each channel. A space without capacity for it loses the alert, because the log has the
// dead letter too.
func (p Policy) alert(tx space.Tx, id string) error {
	for _, channel := range p.Alerts {
		_, err := tx.Put(Alerts, Alert{channel, id, tx.Now().UnixMilli()}.encode(), space.PutOptions{})
		if err != nil && !errors.Is(err, fault.ErrOverloaded) {
			return err
		}
	}
	return nil
}

// NextAlert waits for an alert of a channel, and returns the oldest. It stays until it is removed.
func (c Client) NextAlert(ctx context.Context, channel string) (Alert, error) {
	t, err := c.Repo.Space(Alerts).Query(ctx, AlertsOf(channel))
	if err != nil {
		return Alert{}, err
	}
	return decodeAlert(t), nil
}

// RemoveAlert removes an alert, because it was sent or cannot be. If the alert is gone already, it returns nil.
func (c Client) RemoveAlert(ctx context.Context, a Alert) error {
	_, _, err := c.Repo.Space(Alerts).GetP(ctx, a.encode().Exactly())
	return err
}

// PostponeAlert moves an alert behind the others of its channel. It puts the new tuple first, so that a crash in
// between leaves two and loses none. After an error there may be two.
func (c Client) PostponeAlert(ctx context.Context, a Alert) error {
	if err := c.Repo.Space(Alerts).Put(ctx, a.encode(), 0); err != nil {
		return err
	}
	return c.RemoveAlert(ctx, a)
}

// RemoveAlerts removes all alerts of a channel, and returns how many there were. If they are too large for one
// answer, it fails with fault.ErrTooLarge and removes none.
func (c Client) RemoveAlerts(ctx context.Context, channel string) (int, error) {
	all, err := c.Repo.Space(Alerts).GetAll(ctx, AlertsOf(channel))
	if err != nil {
		return 0, fmt.Errorf("alerts of %s: %w", channel, err)
	}
	return len(all), nil
}

func (a Alert) encode() tuple.Tuple { return tuple.New("alert", a.Channel, a.Task, a.DiedAt) }

// AlertsOf matches the alerts of a channel.
func AlertsOf(channel string) tuple.Template {
	return tuple.Match("alert", channel, tuple.AnyString, tuple.AnyInt64)
}
