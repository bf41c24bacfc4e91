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
	_, err := c.call(ctx, procRemoveAlert, a.encode())
	return err
}

// PostponeAlert moves an alert behind the others of its channel.
func (c Client) PostponeAlert(ctx context.Context, a Alert) error {
	_, err := c.call(ctx, procPostponeAlert, a.encode())
	return err
}

// RemoveAlerts removes all alerts of a channel, and returns how many there were.
func (c Client) RemoveAlerts(ctx context.Context, channel string) (int, error) {
	reply, err := c.call(ctx, procRemoveAlerts, tuple.New(channel))
	if err != nil {
		return 0, fmt.Errorf("alerts of %s: %w", channel, err)
	}
	return int(numberOf(reply)), nil
}

// removeAlert (an alert) removes it, if it is there.
func removeAlert(tx space.Tx, alert tuple.Tuple) (tuple.Tuple, error) {
	e, ok := tx.Find(Alerts, alert.Exactly(), nil)
	if !ok {
		return nil, nil
	}
	return nil, tx.Take(e.Ref)
}

// postponeAlert (an alert) puts it again, so that it is the last one of its channel. It does nothing if the alert
// is gone.
func postponeAlert(tx space.Tx, alert tuple.Tuple) (tuple.Tuple, error) {
	e, ok := tx.Find(Alerts, alert.Exactly(), nil)
	if !ok {
		return nil, nil
	}
	if err := tx.Take(e.Ref); err != nil {
		return nil, err
	}
	_, err := tx.Put(Alerts, alert, space.PutOptions{})
	return nil, err
}

// removeAlerts (channel) removes all alerts of a channel and returns how many there were.
func removeAlerts(tx space.Tx, channel string) (tuple.Tuple, error) {
	all := tx.Scan(Alerts, AlertsOf(channel))
	for _, e := range all {
		if err := tx.Take(e.Ref); err != nil {
			return nil, err
		}
	}
	return tuple.New(int64(len(all))), nil
}

func (a Alert) encode() tuple.Tuple { return tuple.New("alert", a.Channel, a.Task, a.DiedAt) }

var anyAlert = tuple.Match("alert", tuple.AnyString, tuple.AnyString, tuple.AnyInt64)

// AlertsOf matches the alerts of a channel.
func AlertsOf(channel string) tuple.Template {
	return tuple.Match("alert", channel, tuple.AnyString, tuple.AnyInt64)
}
