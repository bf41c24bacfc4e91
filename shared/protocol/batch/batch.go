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
	"leasehold/shared/tuple"
)

// Space is where outcomes wait.
const Space = "batch"

// ttl is how long an outcome waits for the manager that visits its repository.
const ttl = time.Hour

// Spaces returns the spaces that the protocol needs.
func Spaces() []space.Definition {
	return []space.Definition{{Name: Space, QueryOnly: true, Options: space.Options{Volatile: true}}}
}

const (
	procPut  = "batch.put"
	procTake = "batch.take"
)

// Procedures returns batch.put (repository, batch, body) and batch.take (repository, wait).
func Procedures() space.Procedures {
	return space.Procedures{procPut: space.WithArgs3(put), procTake: space.WithArgs2(take)}
}

// put (repository, batch, body) puts the outcome of a batch.
func put(tx space.Tx, repository, batch, body string) (tuple.Tuple, error) {
	_, err := tx.Put(Space, tuple.New("batch", repository, batch, body), space.PutOptions{TTL: ttl})
	return nil, err
}

// take (repository, wait) takes the first outcome of a batch of a repository, and returns its tuple;
// nothing if there is none and it shall not wait.
func take(tx space.Tx, repository string, waits bool) (tuple.Tuple, error) {
	e, ok := tx.Find(Space, Of(repository), nil)
	switch {
	case ok:
		return e.Tuple, tx.Take(e.Ref)
	case waits:
		return nil, tx.Wait(space.Awaited{Space: Space, Template: Of(repository)})
	}
	return nil, nil
}

// Client puts and takes outcomes over one session. It may be used concurrently.
type Client struct{ Repo space.Repository }

// Put puts the outcome of a batch.
func (c Client) Put(ctx context.Context, r models.Indexed) error {
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("outcome of batch %s: %w: %w", r.Batch, fault.ErrInvalid, err)
	}
	_, err = c.Repo.Call(ctx, space.OpID{}, procPut, tuple.New(r.Repository, r.Batch, string(body)))
	return err
}

// Take waits for an outcome of a batch of a repository, and takes it.
func (c Client) Take(ctx context.Context, repository string) (models.Indexed, error) {
	t, err := c.Repo.Call(ctx, space.OpID{}, procTake, tuple.New(repository, true))
	if err != nil {
		return models.Indexed{}, err
	}
	return decode(t)
}

// TakeP is Take without waiting; ok is false if there is no outcome.
func (c Client) TakeP(ctx context.Context, repository string) (r models.Indexed, ok bool, err error) {
	t, err := c.Repo.Call(ctx, space.OpID{}, procTake, tuple.New(repository, false))
	if err != nil || len(t) == 0 {
		return r, false, err
	}
	r, err = decode(t)
	return r, true, err
}
