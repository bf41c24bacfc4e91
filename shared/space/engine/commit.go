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

// life is the time between two loads of the journal. Answers given in a life
// that failed before they were durable are void.
type life struct {
	seq     uint64        // operations executed; guarded by the engine's mutex
	durable atomic.Uint64 // of those, released
	failed  atomic.Bool
}

// outcome is one executed transaction on its way to the journal.
type outcome struct {
	facts  []journal.Fact
	clock  time.Duration
	traced []trace.Event
}

// enqueue queues an outcome for the next commit.
func (e *Engine) enqueue(o outcome) {
	e.life.seq++
	o.clock = e.now()
	e.pending = append(e.pending, o)
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
	if !a.life.failed.Load() && a.life.durable.Load() < a.seq {
		_ = e.commit() // what it means to this caller is found below
	}
	<-e.committing
	if a.life.durable.Load() >= a.seq {
		return a.reply, a.err
	}
	return space.Reply{}, fmt.Errorf("the journal failed, the outcome is unknown: %w", fault.ErrUnavailable)
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
	batch, l, upTo := e.pending, e.life, e.life.seq
	e.pending, e.spare = e.spare, nil
	e.mu.Unlock()
	if records := recordsOf(batch); len(records) > 0 {
		failpoint.Reached("commit.before", "")
		if err := e.journal.Commit(context.Background(), e.position, records); err != nil {
			e.reload(err)
			return fmt.Errorf("engine: commit: %w", err)
		}
		failpoint.Reached("commit.after", "")
		e.position += journal.Position(len(records))
	}
	e.writeTrace(batch)
	l.durable.Store(upTo)
	e.recycle(batch)
	return nil
}

// recycle keeps a slice that has been committed for later.
func (e *Engine) recycle(batch []outcome) {
	if cap(batch) > keptSteps {
		return
	}
	clear(batch)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.spare = batch[:0]
}

func (e *Engine) writeTrace(batch []outcome) {
	if e.trace == nil {
		return
	}
	for _, o := range batch {
		for _, event := range o.traced {
			e.events++
			event.Seq = e.events
			e.trace(event)
		}
	}
}

// recordsOf leaves out what established no fact.
func recordsOf(batch []outcome) []journal.Record {
	records := make([]journal.Record, 0, len(batch))
	for _, o := range batch {
		if len(o.facts) > 0 {
			records = append(records, journal.Record{Clock: o.clock, Facts: o.facts})
		}
	}
	return records
}
