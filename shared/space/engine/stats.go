package engine

import (
	"errors"
	"sync/atomic"
	"time"

	"leasehold/shared/fault"
)

// Stats are an engine's numbers for metrics. Sessions to Pending, and Full, are of
// the moment; the others count since Open.
type Stats struct {
	Sessions, Waiters int
	Held              int    // tuples that are held, or taken and not acknowledged
	Pending           int    // transactions executed, not committed
	Operations        uint64 // transactions that succeeded, expiries and ends of sessions included
	Refused           uint64 // requests that were fault.ErrOverloaded
	Commits, Records  uint64 // Records / Commits is the mean size of a batch
	CommitTime        time.Duration
	Full              bool // puts are refused
}

// counters are those numbers of Stats that only grow; CommitTime is in nanoseconds.
type counters struct{ operations, refusals, commits, records, commitTime atomic.Uint64 }

func (c *counters) countCommit(records int, took time.Duration) {
	c.commits.Add(1)
	c.records.Add(uint64(records))
	c.commitTime.Add(uint64(took))
}

func (c *counters) countRefusal(err error) {
	if errors.Is(err, fault.ErrOverloaded) {
		c.refusals.Add(1)
	}
}

// Stats returns the engine's numbers. It does not wait for the journal.
func (e *Engine) Stats() Stats {
	st, c := &e.state, &e.counters
	st.mu.Lock()
	defer st.mu.Unlock()
	return Stats{
		Sessions: len(st.sessions), Waiters: st.waiting, Held: st.held, Pending: len(st.pending.executed), Full: e.journalFull(),
		Operations: c.operations.Load(), Refused: c.refusals.Load(),
		Commits: c.commits.Load(), Records: c.records.Load(), CommitTime: time.Duration(c.commitTime.Load()),
	}
}

// Health returns why the engine cannot do all its work, for people: journal.ErrFull
// while puts are refused, fault.ErrClosed once it has stopped; else nil.
func (e *Engine) Health() error {
	e.state.mu.Lock()
	defer e.state.mu.Unlock()
	if e.state.stopped == nil && e.journalFull() {
		return errDiskFull
	}
	return e.state.stopped
}
