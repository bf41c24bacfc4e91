package engine

import (
	"errors"
	"sync/atomic"
	"time"

	"leasehold/shared/fault"
)

// Stats say how an engine does, for metrics. The numbers of what there is are
// of one moment; the others count since Open.
type Stats struct {
	Sessions, Waiters int
	Held              int    // tuples held by sessions and by nobody, and taken ones that are not acknowledged
	Pending           int    // transactions executed, not committed
	Operations        uint64 // transactions that succeeded, expiries and ends of sessions included
	Refused           uint64 // requests that were fault.ErrOverloaded
	Commits, Records  uint64 // Records / Commits is the mean size of a batch
	CommitTime        time.Duration
	Full              bool // puts are refused
}

// tallies are the counters behind Stats.
type tallies struct{ operations, refusals, commits, records, commitTime atomic.Uint64 }

func (t *tallies) committed(records int, took time.Duration) {
	t.commits.Add(1)
	t.records.Add(uint64(records))
	t.commitTime.Add(uint64(took))
}

func (t *tallies) refused(err error) {
	if errors.Is(err, fault.ErrOverloaded) {
		t.refusals.Add(1)
	}
}

// Stats returns how the engine does now. It does not touch the journal.
func (e *Engine) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := Stats{
		Sessions: len(e.sessions), Waiters: e.waiting, Held: e.held, Pending: len(e.pending.outcomes), Full: e.full(),
		Operations: e.tallies.operations.Load(), Refused: e.tallies.refusals.Load(),
		Commits: e.tallies.commits.Load(), Records: e.tallies.records.Load(), CommitTime: time.Duration(e.tallies.commitTime.Load()),
	}
	return f
}
