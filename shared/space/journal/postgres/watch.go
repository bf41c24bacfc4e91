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

// Sign is what a standby sees of the owner. An owner that lives changes Position or Renewed at least once a
// second.
type Sign struct {
	Epoch    journal.Epoch
	Position journal.Position
	Renewed  int64
	Released bool // it left in order, or there was none yet
	Gone     bool // the backend of its connection has ended, or the server was started since
}

// Vacant reports whether the journal can be claimed at once.
func (s Sign) Vacant() bool { return s.Released || s.Gone }

// Watching is how a standby watches an owner.
type Watching struct {
	// Look reads the sign of the owner. An error means that the database could not be read.
	Look func(ctx context.Context) (Sign, error)
	// Lost is the silence after which the owner is lost.
	Lost time.Duration
	// Every is the time between two looks.
	Every time.Duration
}

// The defaults of Watch.
const (
	OwnerLost = 5 * time.Second
	lookEvery = 200 * time.Millisecond
)

// Wait returns the last sign once the owner has left or is gone, or once its sign has not changed for Lost. It counts
// only time between two looks that succeeded, and of each such time at most twice Every, so that neither a database
// that does not answer nor a pause of this process counts against the owner. It fails if ctx ends.
func (w Watching) Wait(ctx context.Context) (Sign, error) {
	var last Sign
	var read time.Time // when the database was read last; zero: that failed
	silent := time.Duration(0)
	ticks := time.NewTicker(w.Every)
	defer ticks.Stop()
	for {
		s, err := w.look(ctx)
		now := time.Now()
		switch {
		case ctx.Err() != nil:
			return Sign{}, context.Cause(ctx)
		case err != nil:
			read = time.Time{}
		case s.Vacant():
			return s, nil
		case s != last:
			last, read, silent = s, now, 0
		default:
			if !read.IsZero() {
				silent += min(now.Sub(read), 2*w.Every)
			}
			read = now
		}
		if silent >= w.Lost {
			return last, nil
		}
		select {
		case <-ctx.Done():
			return Sign{}, context.Cause(ctx)
		case <-ticks.C:
		}
	}
}

// look reads the sign, for at most Lost.
func (w Watching) look(ctx context.Context) (Sign, error) {
	ctx, cancel := context.WithTimeout(ctx, w.Lost)
	defer cancel()
	return w.Look(ctx)
}

// Watch returns when this process should claim the journal: at once if its owner left in order or its connection has
// ended, or after the silence of lost, 0 for OwnerLost, during which the database could be read. A Claim after
// Watch fails with fault.ErrConflict if another member was faster. Watch waits while the database does not answer. It
// fails if ctx ends or the journal is closed.
func (j *Journal) Watch(ctx context.Context, lost time.Duration) error {
	if lost == 0 {
		lost = OwnerLost
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(j.life, func() { cancel(j.usable()) })()
	s, err := Watching{Look: j.Look, Lost: lost, Every: lookEvery}.Wait(ctx)
	if err != nil {
		return j.named(err)
	}
	j.seen.Store(int64(s.Epoch))
	j.config.Log.Info("the journal can be claimed", "realm", j.config.Realm, "epoch", s.Epoch, "released", s.Released, "gone", s.Gone)
	return nil
}

// Look reads the sign of the owner. It fails with fault.ErrUnavailable if the database does not answer, or is a
// standby itself.
func (j *Journal) Look(ctx context.Context) (s Sign, err error) {
	// The time when a backend of another role started is hidden from roles without pg_read_all_stats.
	var recovers bool
	err = j.pool.QueryRow(ctx, `SELECT pg_is_in_recovery(), realm.epoch, position, renewed, released,
			NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.pid = owner.pid AND (backend_start = started OR backend_start IS NULL))
		FROM realm, owner`).Scan(&recovers, &s.Epoch, &s.Position, &s.Renewed, &s.Released, &s.Gone)
	if err == nil && recovers {
		err = fmt.Errorf("the database is a standby: %w", fault.ErrUnavailable)
	}
	return s, j.named(err)
}

// Owner describes the owner of a journal to people and to clients.
type Owner struct {
	Epoch     journal.Epoch
	Name      string
	Addresses string
	Since     time.Time // by the clock of the database
	Released  bool
}

// Owner reads which process claimed the journal last. It fails with fault.ErrNotFound if none did.
func (j *Journal) Owner(ctx context.Context) (o Owner, err error) {
	err = j.pool.QueryRow(ctx, "SELECT epoch, name, addresses, since, released FROM owner WHERE epoch > 0").Scan(&o.Epoch, &o.Name, &o.Addresses, &o.Since, &o.Released)
	if errors.Is(err, pgx.ErrNoRows) {
		err = fault.ErrNotFound
	}
	return o, j.named(err)
}
