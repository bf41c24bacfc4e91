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

// Client calls the procedures of the protocol over one session. It may be used
// concurrently.
type Client struct{ Repo space.Repository }

// Put has an origin visited. Repeating it changes nothing until the outcome is recorded. It fails with
// fault.ErrInvalid for an invalid id or a visit that JSON cannot express, and with fault.ErrOverloaded if the space
// is full.
func (c Client) Put(ctx context.Context, v models.Visit) error {
	t, err := encode(v)
	if err != nil {
		return err
	}
	_, err = c.Repo.Call(ctx, space.OpID{}, procPut, tuple.New(t))
	return err
}

// Take waits for a visit and holds it until its timeout. It ends a visit with a malformed body as failed, and waits
// for the next.
func (c Client) Take(ctx context.Context) (models.Visit, error) {
	for {
		t, err := c.Repo.Call(ctx, space.OpID{}, procTake, nil)
		if err != nil {
			return models.Visit{}, err
		}
		v, err := decode(t)
		if err == nil {
			return v, nil
		}
		k := DecodeKey(t)
		failed := models.Outcome{Visit: k.Visit, Origin: k.Origin, Status: models.Failed, Error: err.Error(), At: time.Now().UTC()}
		if err := c.End(ctx, failed); err != nil {
			return models.Visit{}, err
		}
	}
}

// End ends a visit that the caller holds, with its outcome. Errors: fault.ErrStaleToken if the caller no longer holds
// it, fault.ErrInvalid for an outcome that JSON cannot express, fault.ErrTooLarge for one too large for a result, and
// fault.ErrOverloaded if the space is full.
func (c Client) End(ctx context.Context, o models.Outcome) error {
	body, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("outcome of visit %s: %w: %w", o.Visit, fault.ErrInvalid, err)
	}
	_, err = c.Repo.Call(ctx, space.OpID{}, procEnd, tuple.New(o.Visit, string(body)))
	return err
}

// Capacity returns how many more visits the managers have free slots for.
func (c Client) Capacity(ctx context.Context) (int, error) {
	t, err := c.Repo.Call(ctx, space.OpID{}, procCapacity, nil)
	if err != nil {
		return 0, err
	}
	return decodeCapacity(t), nil
}
