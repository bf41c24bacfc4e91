// Package batch is the protocol by which the manager that visits a repository learns how
// the batches ended that it has issued. Any manager may ingest the result of a batch; it
// puts the outcome into the space "batch", and the manager that visits the repository
// takes it from there.
//
//	("batch", repository, batch, body)
//
// The body is models.Indexed. The space is volatile and its tuples expire, because a lost outcome only has the batch
// issued again: its files are indexed already, so that nothing is read twice.
//
// An outcome is put before the hold of its result ends. So if a batch is neither leased
// nor in a result that waits, its outcome was put, or was never reached.
package batch

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// Space is where outcomes wait.
const Space = "batch"

// ttl is how long an outcome waits for the manager that visits its repository.
const ttl = time.Hour

// Spaces returns the spaces that the protocol needs.
func Spaces() []space.Definition {
	return []space.Definition{{Name: Space, Options: space.Options{Volatile: true}}}
}

// Client puts and takes outcomes over one session. It may be used concurrently.
type Client struct{ Repo space.Repository }

// Put puts the outcome of a batch.
func (c Client) Put(ctx context.Context, r models.Indexed) error {
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("outcome of batch %s: %w: %w", r.Batch, fault.ErrInvalid, err)
	}
	return c.Repo.Space(Space).Put(ctx, encode(r, body), ttl)
}

// Take waits for an outcome of a batch of a repository, and takes it.
func (c Client) Take(ctx context.Context, repository string) (models.Indexed, error) {
	t, err := c.Repo.Space(Space).Get(ctx, Of(repository))
	if err != nil {
		return models.Indexed{}, err
	}
	return decode(t)
}

// TakeP is Take without waiting; ok is false if there is no outcome.
func (c Client) TakeP(ctx context.Context, repository string) (r models.Indexed, ok bool, err error) {
	t, ok, err := c.Repo.Space(Space).GetP(ctx, Of(repository))
	if err != nil || !ok {
		return r, false, err
	}
	r, err = decode(t)
	return r, true, err
}
