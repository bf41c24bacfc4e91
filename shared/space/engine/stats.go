package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space/memory"
)

// CommitBounds are the upper bounds of Stats.CommitTimes; commits above the last are only
// in Commits.
var CommitBounds = [...]time.Duration{
	100 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond,
	25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, time.Second,
}

// Stats are an engine's numbers for metrics. Sessions to Pending, and Full, are of
// the moment; the others count since Open.
type Stats struct {
	Sessions, Waiters int
	Held              int    // tuples that are held, or taken and not acknowledged
	Pending           int    // transactions executed, not committed
	Operations        uint64 // transactions that succeeded, expiries and ends of sessions included
	Refused           uint64 // requests that were fault.ErrOverloaded
	Failed            uint64 // commits that failed, without those that found the disk full
	Commits, Records  uint64 // Records / Commits is the mean size of a batch
	CommitTime        time.Duration
	CommitTimes       [len(CommitBounds)]uint64 // commits by duration: above the previous bound, at most CommitBounds[i]
	Full              bool                      // puts are refused, because of the disk or of memory
	Memory            int64                     // bytes of the memory budget that are used
	MemoryLimit       int64                     // the budget; 0: none
}

// counters are those numbers of Stats that only grow; CommitTime is in nanoseconds.
type counters struct {
	operations, refusals, failed, commits, records, commitTime atomic.Uint64
	commitTimes                                                [len(CommitBounds)]atomic.Uint64
}

// countCommit counts a commit of that many records, which took that long, under the lowest bound not below took. A
// longer one than all bounds is in the sums only.
func (c *counters) countCommit(records int, took time.Duration) {
	c.commits.Add(1)
	c.records.Add(uint64(records))
	c.commitTime.Add(uint64(took))
	if i, _ := slices.BinarySearch(CommitBounds[:], took); i < len(CommitBounds) {
		c.commitTimes[i].Add(1)
	}
}

func (c *counters) countRefusal(err error) {
	if errors.Is(err, fault.ErrOverloaded) {
		c.refusals.Add(1)
	}
}

// Stats returns the engine's numbers. It locks state.mu, and does not wait for the journal.
func (e *Engine) Stats() Stats {
	st, c := &e.state, &e.counters
	st.mu.Lock()
	defer st.mu.Unlock()
	stats := Stats{
		Sessions: len(st.sessions), Waiters: st.waiting, Held: st.held, Pending: len(st.pending.effects), Full: e.fullError() != nil,
		Memory: st.memory.Budget.Used(), MemoryLimit: st.memory.Budget.Limit(),
		Operations: c.operations.Load(), Refused: c.refusals.Load(), Failed: c.failed.Load(),
		Commits: c.commits.Load(), Records: c.records.Load(), CommitTime: time.Duration(c.commitTime.Load()),
	}
	for i := range c.commitTimes {
		stats.CommitTimes[i] = c.commitTimes[i].Load()
	}
	return stats
}

// Health returns why the engine cannot do all its work, for people: journal.ErrFull or memory.ErrFull while puts are
// refused, or that a space has no place for the fleet's own work either, or why it has stopped, an error that
// fault.ErrClosed matches. It returns nil if all is well.
func (e *Engine) Health() error {
	e.state.mu.Lock()
	defer e.state.mu.Unlock()
	if e.state.stopped != nil {
		return e.state.stopped
	}
	for _, name := range slices.Sorted(maps.Keys(e.reserving)) {
		if in := e.state.spaces[name]; in != nil && in.full(true) {
			return fmt.Errorf("space %s holds %d tuples, so the work of managers is refused too: %w", name, in.size, fault.ErrOverloaded)
		}
	}
	return e.fullError()
}

// Filled are the spaces with a reserve in which other puts than those of the fleet's own work find no place, by name.
func (e *Engine) Filled() (all []SpaceFill) {
	e.state.mu.Lock()
	defer e.state.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(e.reserving)) {
		if in := e.state.spaces[name]; in != nil && in.full(false) {
			all = append(all, SpaceFill{name, in.size, in.def.Options.Capacity})
		}
	}
	return all
}

// SpaceFill is how full a space is.
type SpaceFill struct {
	Name             string
	Tuples, Capacity int
}

// fullError returns why transactions that only put are refused: errDiskFull or memory.ErrFull;
// nil if they are not.
func (e *Engine) fullError() error {
	if e.journalFull() {
		return errDiskFull
	}
	if e.state.memory.Budget.Full() {
		return memory.ErrFull
	}
	return nil
}
