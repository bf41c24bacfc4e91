package pebble

import (
	"sync/atomic"

	lsm "github.com/cockroachdb/pebble/v2"
)

// A scheduler starts compactions, one at a time, from start on. It starts none while the store is opened: if
// the opening fails after a compaction has begun, the store takes the tables from under it, and it panics.
type scheduler struct {
	*lsm.ConcurrencyLimitScheduler                     // polls nothing, because what waits is found when a compaction ends
	store                          lsm.DBForCompaction // nil until Register
	started                        atomic.Bool
}

func newScheduler() *scheduler {
	return &scheduler{ConcurrencyLimitScheduler: lsm.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()}
}

// Register is called by the store, before TrySchedule.
func (s *scheduler) Register(goroutines int, store lsm.DBForCompaction) {
	s.store = store
	s.ConcurrencyLimitScheduler.Register(goroutines, store)
}

// TrySchedule is called by the store, which keeps a compaction that may not begin.
func (s *scheduler) TrySchedule() (bool, lsm.CompactionGrantHandle) {
	if !s.started.Load() {
		return false, nil
	}
	return s.ConcurrencyLimitScheduler.TrySchedule()
}

// start is called when the store is open. It starts the compaction that could not begin before, if there is one.
func (s *scheduler) start() {
	s.started.Store(true)
	if waits, _ := s.store.GetWaitingCompaction(); !waits {
		return
	}
	if ok, grant := s.TrySchedule(); ok && !s.store.Schedule(grant) {
		grant.Done()
	}
}
