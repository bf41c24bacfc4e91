package visit

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Client is the protocol as a session speaks it. It may be used concurrently.
type Client struct{ Repo space.Repository }

// Put has an origin visited. Repeating it until the outcome is recorded changes
// nothing.
func (c Client) Put(ctx context.Context, v models.Visit) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("visit %s: %w: %w", v.ID, fault.ErrInvalid, err)
	}
	t := tuple.New("visit", string(v.Origin.Kind), v.Origin.ID, v.ID, string(body))
	_, err = c.Repo.Call(ctx, space.OpID{}, procPut, tuple.New(t))
	return err
}

// Take waits for a visit and takes hold of it until its timeout. One whose body
// cannot be understood it ends as failed, and waits for the next.
func (c Client) Take(ctx context.Context) (models.Visit, error) {
	for {
		t, err := c.Repo.Call(ctx, space.OpID{}, procTake, nil)
		if err != nil {
			return models.Visit{}, err
		}
		var v models.Visit
		err = json.Unmarshal([]byte(t.Str(4)), &v)
		if err == nil {
			v.ID, v.Origin.ID = t.Str(3), t.Str(2)
			return v, nil
		}
		failed := models.Outcome{Visit: t.Str(3), Origin: t.Str(2), Status: models.Failed, Error: "visit's body: " + err.Error(), At: time.Now().UTC()}
		if err := c.End(ctx, failed); err != nil {
			return models.Visit{}, err
		}
	}
}

// End says how a visit that the caller holds ended. fault.ErrStaleToken says that
// it was given up before, or has ended.
func (c Client) End(ctx context.Context, o models.Outcome) error {
	body, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("outcome of visit %s: %w: %w", o.Visit, fault.ErrInvalid, err)
	}
	_, err = c.Repo.Call(ctx, space.OpID{}, procEnd, tuple.New(o.Visit, string(body)))
	return err
}

// Room returns for how many visits more there is room.
func (c Client) Room(ctx context.Context) (int, error) {
	t, err := c.Repo.Call(ctx, space.OpID{}, procRoom, nil)
	if err != nil {
		return 0, err
	}
	return int(t.Int64(0)), nil
}
