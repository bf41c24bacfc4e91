package pebble

import (
	"context"
	"time"

	"leasehold/shared/space/journal"
)

// How often tables are written anew while the disk is low: at most once a second,
// and at most a fifth of the time.
const (
	sweepEvery = time.Second
	sweepShare = 5
)

// A sweeper gives back what facts that are gone still take in the tables, while
// the disk is low: the store by itself would wait until more is written, which is
// what is refused then.
type sweeper struct {
	j      *Journal
	cancel context.CancelFunc
	done   chan struct{}
}

func (j *Journal) startSweeper() *sweeper {
	ctx, cancel := context.WithCancel(context.Background())
	s := &sweeper{j: j, cancel: cancel, done: make(chan struct{})}
	go s.run(ctx)
	return s
}

// stop returns once nothing is swept.
func (s *sweeper) stop() {
	s.cancel()
	<-s.done
}

func (s *sweeper) run(ctx context.Context) {
	defer close(s.done)
	room := s.j.room
	for {
		select {
		case <-ctx.Done():
			return
		case <-room.lowered:
		}
		for swept := noPosition; room.low.Load(); {
			began := time.Now()
			swept = s.sweep(ctx, swept)
			room.count()
			room.restore()
			room.look()
			select {
			case <-ctx.Done():
				return
			case <-time.After(max(sweepEvery, (sweepShare-1)*time.Since(began))):
			}
		}
	}
}

// noPosition is none that a journal comes to.
const noPosition = ^journal.Position(0)

// sweep writes all tables anew, unless nothing has changed since they were, and
// returns where the journal stood then. What finds no room is tried again later.
func (s *sweeper) sweep(ctx context.Context, swept journal.Position) journal.Position {
	at, err := s.j.stand()
	if err != nil || at == swept || !s.j.room.has(s.j.room.memTable) {
		return swept
	}
	if err := s.j.db.Compact(ctx, []byte{0}, []byte{0xff}, false); err != nil {
		s.j.Log.Debug("journal: no room yet to write the tables anew", "error", err)
		return swept
	}
	return at
}
