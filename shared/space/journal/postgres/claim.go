package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
)

// owned is the knowledge of an owner. Only the holder of the turn may use it.
type owned struct {
	standing journal.Standing
	newest   journal.Historic // Count and Bytes of the newest record of the history
	written  time.Time        // when this process last changed the table realm
}

// claimWait is how long a claim waits for transactions that have locked the row of the owner before.
const claimWait = "4s"

const (
	claimOwner = `UPDATE owner SET epoch = epoch + 1, name = $1, addresses = $2, pid = pg_backend_pid(), since = now(), released = false,
		started = (SELECT backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid())
		WHERE $3::bigint < 0 OR epoch = $3 RETURNING epoch`
	claimRealm = `UPDATE realm SET epoch = $1, renewed = renewed + 1 RETURNING position, clock, ref, format`
	// The newest record has the count that the next one goes on from.
	newestHistory = `SELECT count, bytes FROM history ORDER BY seq DESC LIMIT 1`
)

// errTaken means that another member claimed the journal after Watch returned.
var errTaken = fmt.Errorf("another member claimed the journal first: %w", fault.ErrConflict)

// Claim implements journal.Owned. It waits until transactions of the owner before which locked the row of the owner
// have ended, for a few seconds, and then for the synchronous standby. From then on a goroutine folds the log, and
// raises the counter of the realm while nothing is committed, until Close. After Watch, Claim fails with
// fault.ErrConflict if another member has claimed the journal since. It fails with fault.ErrInvalid if the format of
// the realm was raised to one that this program does not read.
func (j *Journal) Claim(ctx context.Context) (journal.Epoch, error) {
	done, err := j.take(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	epoch, err := j.claim(ctx)
	if err != nil {
		return 0, j.named(err)
	}
	j.keep()
	return epoch, nil
}

// take waits for the turn to use the connection of the owner, and returns what ends it.
func (j *Journal) take(ctx context.Context) (done func(), err error) {
	select {
	case j.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, j.named(context.Cause(ctx))
	}
	if err := j.usable(); err != nil {
		<-j.turn
		return nil, err
	}
	return func() { <-j.turn }, nil
}

// claim raises the epoch on the connection that commits from then on, which it makes for the first claim. The caller
// has the turn.
func (j *Journal) claim(ctx context.Context) (journal.Epoch, error) {
	w, err := j.connectWriter(ctx)
	if err != nil {
		return 0, err
	}
	w.warned = nil
	o, epoch, err := j.raiseEpoch(ctx, w)
	if err == nil && w.warned != nil {
		err = fmt.Errorf("the claim may be lost again: the database warned: %s: %w", w.warned.Message, fault.ErrUnavailable)
	}
	if err == nil {
		err = j.adopt(w)
	}
	if err != nil {
		if w != j.writer {
			w.close()
		}
		return 0, err
	}
	j.owned = o
	j.epoch.Store(uint64(epoch))
	return epoch, nil
}

// adopt makes w the connection that commits, unless the journal has ended.
func (j *Journal) adopt(w *writer) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := j.usable()
	if err == nil {
		j.writer = w
	}
	return err
}

// connectWriter returns the connection of an earlier claim, or a new one. The caller has the turn.
func (j *Journal) connectWriter(ctx context.Context) (*writer, error) {
	if j.writer != nil {
		return j.writer, nil
	}
	return newWriter(ctx, j.connect)
}

// raiseEpoch is the transaction of a claim.
func (j *Journal) raiseEpoch(ctx context.Context, w *writer) (o owned, epoch journal.Epoch, err error) {
	err = pgx.BeginFunc(ctx, w.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '"+claimWait+"'"); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, claimOwner, j.config.Owner, j.config.Addresses, j.seen.Load()).Scan(&epoch)
		if errors.Is(err, pgx.ErrNoRows) {
			return errTaken
		}
		if err != nil {
			return err
		}
		var format int
		if err := tx.QueryRow(ctx, claimRealm, epoch).Scan(&o.standing.Position, &o.standing.Clock, &o.standing.Ref, &format); err != nil {
			return err
		}
		if err := CheckFormat(format); err != nil { // it was raised after Open
			return err
		}
		if err := j.backlog.read(ctx, tx); err != nil {
			return err
		}
		err = tx.QueryRow(ctx, newestHistory).Scan(&o.newest.Count, &o.newest.Bytes)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	o.written = time.Now()
	return o, epoch, err
}

// release marks the journal as left in order, if this process owns it.
func (j *Journal) release(ctx context.Context) error {
	done, err := j.take(ctx)
	if err != nil {
		if isDeposed(err) || errors.Is(err, fault.ErrClosed) {
			return nil
		}
		return err
	}
	defer done()
	if j.epoch.Load() == 0 {
		return nil
	}
	_, err = j.writer.exec(ctx, "UPDATE owner SET released = true WHERE epoch = $1", j.epoch.Load())
	return err
}
