package task

import (
	"context"
	"time"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// maxWatch bounds how long a task is watched for clients that have gone.
const maxWatch = time.Hour

// watch is the tuple of a session that waits for the end of a task; endedTuple is the tuple
// that tells it.
func watch(id any) tuple.Tuple                      { return tuple.New("watched", id) }
func endedTuple(id string, state State) tuple.Tuple { return tuple.New("ended", id, string(state)) }

// tellWatchers puts a tuple for the clients that wait for the end of a task, if there are any.
func tellWatchers(tx space.Tx, id string, state State) error {
	e, watched := tx.Find(Ends, watch(id).Exactly(), nil)
	if !watched {
		return nil
	}
	if err := tx.Take(e.Ref); err != nil {
		return err
	}
	_, err := tx.Put(Ends, endedTuple(id, state), space.PutOptions{TTL: endTold})
	return err
}

// endTold is how long the tuple stays that tells the end of a task.
const endTold = time.Minute

// watchTask (id) has the protocol put a tuple when a task ends, and returns whether the task is alive, as a malformed
// one is until it is a dead letter. Watching again restarts maxWatch.
func watchTask(tx space.Tx, id string) (tuple.Tuple, error) {
	if !isKnown(tx, id) {
		return tuple.New(false), nil
	}
	w := watch(id)
	if e, known := tx.Find(Ends, w.Exactly(), nil); known {
		return tuple.New(true), tx.Extend(e.Ref, maxWatch)
	}
	_, err := tx.Put(Ends, w, space.PutOptions{TTL: maxWatch})
	return tuple.New(true), err
}

// isKnown tells whether a task is alive, well formed or not, as isAlive does for the client.
func isKnown(tx space.Tx, id string) bool {
	e, _, _ := find(tx, id)
	return e.Ref != 0
}

// awaitEnd (id) waits until a task has ended. For a task that has ended or was never created, it returns at once. The
// answer is empty.
func awaitEnd(tx space.Tx, id string) (tuple.Tuple, error) {
	if !isKnown(tx, id) {
		return nil, nil
	}
	return nil, tx.Wait(space.Awaited{Space: Ends, Template: tuple.Match("ended", id, tuple.AnyString)})
}

// rewatch is how often a wait begins again, because the space that tells the end is not
// durable.
const rewatch = time.Minute

// Wait waits until a task is resolved, dead or cancelled, and returns it with its result. It returns at once a task
// that ended before, as long as its end is kept. It fails with fault.ErrNotFound if there never was such a task or
// its end is no longer kept, and otherwise as AwaitEnd and Show do.
func (c Client) Wait(ctx context.Context, id string) (Shown, error) {
	for {
		if err := c.AwaitEnd(ctx, id); err != nil {
			return Shown{}, err
		}
		shown, err := c.Show(ctx, id)
		if err != nil || shown.HasEnded() {
			return shown, err
		}
		// Its dead letter was requeued meanwhile.
	}
}

// AwaitEnd waits until a task is resolved, dead or cancelled. A task that has ended, or that never was, ends the wait
// at once. It fails with fault.ErrOverloaded if maxWatched tasks are watched.
func (c Client) AwaitEnd(ctx context.Context, id string) error {
	for {
		reply, err := c.Repo.Call(ctx, space.OpID{}, procWatch, tuple.New(id))
		if err != nil || !isAlive(reply) {
			return err
		}
		wait, cancel := context.WithTimeout(ctx, rewatch)
		_, err = c.Repo.Call(wait, space.OpID{}, procWait, tuple.New(id))
		again := wait.Err() != nil && ctx.Err() == nil
		cancel()
		if !again {
			return err
		}
	}
}
