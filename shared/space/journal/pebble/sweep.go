package pebble

import (
	"context"
	"time"

	"leasehold/shared/space/journal"
)

// How often tables are rewritten while the disk is low: at most once a second,
// and at most a fifth of the time.
const (
	sweepEvery = time.Second
	sweepShare = 5
)

// A sweeper frees the space of facts that are gone, while the disk is low: the store by itself would wait until more
// is written, and writes are refused then.
type sweeper struct {
	j      *Journal
	cancel context.CancelFunc
	done   chan struct{}
}

// startSweeper starts the sweeper of an open journal in a goroutine; stop ends it.
func (j *Journal) startSweeper() *sweeper {
	ctx, cancel := context.WithCancel(context.Background())
	s := &sweeper{j: j, cancel: cancel, done: make(chan struct{})}
	go s.run(ctx)
	return s
}

// stop ends the sweeper, and returns once nothing is swept.
func (s *sweeper) stop() {
	s.cancel()
	<-s.done
}

// run sweeps while the disk is low, which lowered tells, until ctx ends. After each sweep it looks
// whether the disk has space again, and makes the reserve if it fits, without which records that
// grow the journal stay refused. It pauses as sweepEvery and sweepShare demand.
func (s *sweeper) run(ctx context.Context) {
	defer close(s.done)
	space := s.j.space
	for {
		select {
		case <-ctx.Done():
			return
		case <-space.lowered:
		}
		for swept := noPosition; space.low.Load(); {
			began := time.Now()
			swept = s.sweep(ctx, swept)
			space.countTables()
			space.makeReserve()
			space.updateLow()
			select {
			case <-ctx.Done():
				return
			case <-time.After(max(sweepEvery, (sweepShare-1)*time.Since(began))):
			}
		}
	}
}

// noPosition is a position that no journal reaches.
const noPosition = ^journal.Position(0)

// sweep rewrites all tables, unless the journal still stands at swept, where it stood when they
// were rewritten last. It returns where it stood at the latest rewriting. If the disk is too
// full, a later sweep tries again.
func (s *sweeper) sweep(ctx context.Context, swept journal.Position) journal.Position {
	at, err := s.j.stand()
	if err != nil || at == swept || !s.j.space.isFreeWithReserve(s.j.space.memTable) {
		return swept
	}
	const inParallel = false
	if err := s.j.db.Compact(ctx, []byte{0}, []byte{0xff}, inParallel); err != nil { // from the lowest key to the highest
		s.j.Log.Debug("journal: not enough space yet to rewrite the tables", "error", err)
		return swept
	}
	return at
}
