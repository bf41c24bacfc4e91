package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/shared/space/journal"
)

// renewEvery is how often an owner shows that it lives. Watch must wait for several times as long.
const renewEvery = time.Second

// keep starts what an owner does in the background, unless an earlier claim did. The caller has the turn.
func (j *Journal) keep() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.kept {
		return
	}
	j.kept = true
	j.background.Go(func() { j.every(renewEvery, "renew the epoch", j.renew) })
	j.background.Go(func() { j.every(renewEvery, "read the owner", j.checkOwner) })
	j.background.Go(func() { j.every(j.config.FoldEvery/10, "fold the log", j.foldIfDue()) })
}

// every calls do at an interval until the journal ends. It logs errors and goes on, because they may pass.
func (j *Journal) every(interval time.Duration, what string, do func(context.Context) error) {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for {
		select {
		case <-j.life.Done():
			return
		case <-ticks.C:
		}
		if err := do(j.life); err != nil && j.usable() == nil {
			j.config.Log.Warn("the journal could not "+what, "realm", j.config.Realm, "error", j.named(err))
		}
	}
}

// renew raises the counter of the realm if nothing was committed for a while.
func (j *Journal) renew(ctx context.Context) error {
	return j.asOwner(ctx, func(w *writer) error {
		if time.Since(j.owned.written) < renewEvery*9/10 {
			return nil
		}
		return j.confirm(ctx, w)
	})
}

// checkOwner reads the owner on another connection. If another process owns the journal, it ends it, also under a
// commit that waits for a network which lost the connection.
func (j *Journal) checkOwner(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, OwnerLost)
	defer cancel()
	var epoch uint64
	err := j.pool.QueryRow(ctx, "SELECT epoch FROM owner").Scan(&epoch)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		j.pool.Reset() // a network that lost this connection lost the others
	}
	if mine := j.epoch.Load(); err == nil && epoch > mine {
		_ = j.end(j.named(fmt.Errorf("%w: it has epoch %d; this one has epoch %d", journal.ErrDeposed, epoch, mine)))
	}
	return err
}

// foldIfDue returns what folds the log if the last fold was some time ago, or the log is long.
func (j *Journal) foldIfDue() func(context.Context) error {
	last := time.Now()
	return func(ctx context.Context) error {
		if time.Since(last) < j.config.FoldEvery && !j.backlog.full() {
			return nil
		}
		last = time.Now()
		return j.fold(ctx)
	}
}
