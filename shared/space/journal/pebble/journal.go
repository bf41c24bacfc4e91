package pebble

import (
	"context"
	"fmt"
	"sync"

	lsm "github.com/cockroachdb/pebble/v2"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/codec"
)

var (
	_ journal.FullReporter = (*Journal)(nil)
)

// Journal is a journal.Journal in a folder. It is journal.FullReporter.
type Journal struct {
	Config
	broken  broken
	opening opening
	growing growing
	newest  newest
	space   *diskSpace
	db      *lsm.DB
	sweeper *sweeper

	stampMu sync.Mutex // guards stamp and its file; taken before mu
	stamp   stamp

	mu            sync.Mutex // guards what follows, and orders commits
	standing      journal.Standing
	newestHistory journal.Historic
	closed        bool
	buf           []byte

	// reading is locked for reading while the history is read, so that Close waits for that.
	reading sync.RWMutex
}

// Load implements journal.Journal.
func (j *Journal) Load(ctx context.Context, restore func(journal.Fact) error) (journal.Standing, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.usable(); err != nil {
		return journal.Standing{}, err
	}
	history, _ := codec.HistoryKeys()
	it, err := j.db.NewIter(&lsm.IterOptions{UpperBound: history})
	if err != nil {
		return journal.Standing{}, classify(err)
	}
	err = each(ctx, it, restore)
	_ = it.Close() // it repeats the error of each
	if broken := j.broken.err(); broken != nil {
		err = broken
	}
	if err != nil {
		return journal.Standing{}, j.name(err)
	}
	return j.standing, nil
}

// each passes every fact of it to restore, until restore fails or ctx ends, and returns that
// error.
func each(ctx context.Context, it *lsm.Iterator, restore func(journal.Fact) error) error {
	names := codec.Names{}
	for ok := it.First(); ok; ok = it.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return classify(err)
		}
		f, err := codec.Decode(it.Key(), value, names)
		if err == nil && f != nil {
			err = restore(f)
		}
		if err != nil {
			return err
		}
	}
	return classify(it.Error())
}

// usable returns why the journal cannot be used; nil if it can. The caller holds mu.
func (j *Journal) usable() error {
	if err := j.broken.err(); err != nil {
		return err
	}
	if j.closed {
		return fmt.Errorf("journal %s: %w", j.Dir, fault.ErrClosed)
	}
	return nil
}

// stand returns where the journal stands, and why it cannot be used; nil if it can.
func (j *Journal) stand() (journal.Position, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.standing.Position, j.usable()
}

// shut ends all use, once calls under way have ended, and reports whether it was the
// first call.
func (j *Journal) shut() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	first := !j.closed
	j.closed = true
	return first
}

// Close implements journal.Journal. Of a broken one the error is the one that
// broke it, and nothing more is written.
func (j *Journal) Close() error {
	if !j.shut() {
		return nil
	}
	j.sweeper.stop()
	j.reading.Lock()
	defer j.reading.Unlock()
	err := j.db.Close()
	if broken := j.broken.err(); broken != nil {
		return broken
	}
	if err != nil {
		return err
	}
	j.stampMu.Lock()
	defer j.stampMu.Unlock()
	return j.restamp(true)
}
