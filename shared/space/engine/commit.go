package engine

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"leasehold/shared/failpoint"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/trace"
)

// life is the time between two losses of what was not durable. Answers given in a
// life that ended before they were durable are void.
type life struct {
	seq     uint64        // operations executed; guarded by the engine's mutex
	durable atomic.Uint64 // of those, released
	ended   atomic.Pointer[error]
}

// end makes what is not durable void, for a reason that is a fault.
func (l *life) end(why error) { l.ended.Store(&why) }

// outcome is one executed transaction on its way to the journal.
type outcome struct {
	facts  []journal.Fact
	clock  time.Duration
	traced []trace.Event
}

// batch is what one commit makes durable, and what it takes to undo it.
type batch struct {
	outcomes []outcome
	steps    []step       // of all outcomes
	answered []space.OpID // whose answers were added to the windows
	lasting  bool         // it did what cannot be undone in memory
}

// empty returns b without what was in it, to be filled again.
func (b batch) empty() batch {
	if cap(b.outcomes) > keptSteps || cap(b.steps) > keptSteps || cap(b.answered) > keptSteps {
		return batch{}
	}
	clear(b.outcomes)
	clear(b.steps)
	clear(b.answered)
	return batch{outcomes: b.outcomes[:0], steps: b.steps[:0], answered: b.answered[:0]}
}

// enqueue queues an outcome for the next commit.
func (e *Engine) enqueue(o outcome) {
	e.life.seq++
	o.clock = e.now()
	e.pending.outcomes = append(e.pending.outcomes, o)
}

// answer ties a reply to the position that it saw.
func (e *Engine) answer(r space.Reply, err error) answer {
	return answer{reply: r, err: err, life: e.life, seq: e.life.seq}
}

// released returns an answer once it is durable, or the end of ctx if that comes
// before.
func (e *Engine) released(ctx context.Context, a answer) (space.Reply, error) {
	if a.life == nil || a.life.durable.Load() >= a.seq {
		return a.reply, a.err
	}
	select {
	case e.committing <- struct{}{}:
	case <-ctx.Done():
		signal(e.wake) // Run commits what this caller no longer waits for
		return space.Reply{}, over(ctx)
	}
	if a.life.ended.Load() == nil && a.life.durable.Load() < a.seq {
		_ = e.commit() // what it means to this caller is found below
	}
	<-e.committing
	if why := a.void(); why != nil {
		return space.Reply{}, why
	}
	return a.reply, a.err
}

// void says why an answer that is not durable never will be.
func (a answer) void() error {
	if a.life == nil || a.life.durable.Load() >= a.seq {
		return nil
	}
	if why := a.life.ended.Load(); why != nil {
		return *why
	}
	return fmt.Errorf("not durable yet: %w", fault.ErrUnavailable)
}

// flush commits what is pending.
func (e *Engine) flush() error {
	e.committing <- struct{}{}
	defer func() { <-e.committing }()
	return e.commit()
}

// commit writes everything pending as one batch. The caller holds committing.
func (e *Engine) commit() error {
	e.mu.Lock()
	b, l, upTo := e.pending, e.life, e.life.seq
	e.pending, e.spare = e.spare, batch{}
	e.mu.Unlock()
	if records := recordsOf(b.outcomes); len(records) > 0 {
		began := time.Now()
		failpoint.Reached("commit.before", "")
		if err := e.journal.Commit(context.Background(), e.position, records); err != nil {
			e.failed(b, err)
			return fmt.Errorf("engine: commit: %w", err)
		}
		failpoint.Reached("commit.after", "")
		e.position += journal.Position(len(records))
		e.tallies.committed(len(records), time.Since(began))
	}
	e.writeTrace(b.outcomes)
	l.durable.Store(upTo)
	e.mu.Lock()
	e.spare = b.empty()
	e.mu.Unlock()
	return nil
}

// recordsOf leaves out what established no fact.
func recordsOf(outcomes []outcome) []journal.Record {
	records := make([]journal.Record, 0, len(outcomes))
	for _, o := range outcomes {
		if len(o.facts) > 0 {
			records = append(records, journal.Record{Clock: o.clock, Facts: o.facts})
		}
	}
	return records
}
