package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// copyBatch is how many facts one commit of Copy has.
const copyBatch = 1000

// Copy writes what one journal holds, with its history, to an empty one of any driver, which the caller has claimed if it
// is Owned. Engine time and numbers go on there. It fails with fault.ErrConflict if the other one is not empty. After an
// error the other one has a part, and must not be used.
func Copy(ctx context.Context, from, to Journal) error {
	standing, err := to.Load(ctx, func(Fact) error { return nil })
	if err == nil && standing.Position > 0 {
		err = fmt.Errorf("%w: the journal to write to is not empty: it has %d records", fault.ErrConflict, standing.Position)
	}
	if err != nil {
		return err
	}
	c := copying{ctx: ctx, from: from, to: to}
	source, err := from.Load(ctx, c.add)
	if err != nil {
		return err
	}
	c.clock = source.Clock
	if len(c.facts) == 0 {
		c.facts = []Fact{Token(0)} // which changes nothing, for a record with the clock
	}
	if err := errors.Join(c.flush(), c.copyHistory()); err != nil || source.Ref == c.highest {
		return err
	}
	// A tuple that came and went raises the highest number there ever was.
	c.facts = []Fact{&Entry{Ref: source.Ref, Place: source.Ref}, Gone(source.Ref)}
	return c.flush()
}

// copying is a copy under way.
type copying struct {
	ctx      context.Context
	from, to Journal
	at       Position
	facts    []Fact        // of the next commit
	clock    time.Duration // of its record
	highest  int64         // Ref, Place or Seq of all that was copied
}

// add adds a fact to the next commit. The last facts are left for a commit that has the clock.
func (c *copying) add(f Fact) error {
	if len(c.facts) == copyBatch {
		if err := c.flush(); err != nil {
			return err
		}
	}
	if e, ok := f.(*Entry); ok {
		c.highest = max(c.highest, e.Ref, e.Place)
	}
	c.facts = append(c.facts, f)
	return nil
}

// flush commits the facts that were added.
func (c *copying) flush() error {
	if len(c.facts) == 0 {
		return nil
	}
	err := c.to.Commit(c.ctx, c.at, []Record{{Clock: c.clock, Facts: c.facts}})
	c.at, c.facts = c.at+1, nil
	return err
}

// copyHistory writes the history, the oldest record first. Journals read it from the newest on, so it notes the numbers
// first and then reads a part for each commit.
func (c *copying) copyHistory() error {
	var numbers []int64
	err := c.from.HistoryBefore(c.ctx, 0, func(r space.HistoryRecord) bool {
		numbers = append(numbers, r.Seq)
		return true
	})
	if err != nil {
		return err
	}
	slices.Reverse(numbers)
	for part := range slices.Chunk(numbers, copyBatch) {
		var records []Fact
		err := c.from.HistoryBefore(c.ctx, part[len(part)-1]+1, func(r space.HistoryRecord) bool {
			records = append(records, &Historic{HistoryRecord: r})
			return len(records) < len(part)
		})
		slices.Reverse(records)
		c.facts, c.highest = records, max(c.highest, part[len(part)-1])
		if err = errors.Join(err, c.flush()); err != nil {
			return err
		}
	}
	return nil
}
