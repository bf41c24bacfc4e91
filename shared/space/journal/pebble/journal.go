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

// Load implements journal.Journal. It reads all keys before the history's, and holds mu meanwhile, so that no commit
// comes in between. It fails with fault.ErrCorrupt for damage.
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
	err = restoreAll(ctx, it, restore)
	_ = it.Close() // it repeats the error of restoreAll
	if broken := j.broken.err(); broken != nil {
		err = broken
	}
	if err != nil {
		return journal.Standing{}, j.nameJournal(err)
	}
	return j.standing, nil
}

// restoreAll passes every fact of it to restore, until restore fails or ctx ends, and returns that error.
func restoreAll(ctx context.Context, it *lsm.Iterator, restore func(journal.Fact) error) error {
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

// usable returns why the journal cannot be used: journal.ErrBroken or fault.ErrClosed; nil if it
// can. The caller holds mu.
func (j *Journal) usable() error {
	if err := j.broken.err(); err != nil {
		return err
	}
	if j.closed {
		return fmt.Errorf("journal %s: %w", j.Dir, fault.ErrClosed)
	}
	return nil
}

// stand returns at which position the journal is, and why it cannot be used; nil if it can. The
// caller does not hold mu.
func (j *Journal) stand() (journal.Position, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.standing.Position, j.usable()
}

// markClosed ends all use, once calls that hold mu have ended, and reports whether it was the
// first call.
func (j *Journal) markClosed() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	first := !j.closed
	j.closed = true
	return first
}

// Close implements journal.Journal. It ends the sweeper, waits for readers of the history, closes the store, and then
// writes the stamp of a closed journal. For a broken journal it returns the error that broke it, and writes nothing
// more. Another call does nothing.
func (j *Journal) Close() error {
	if !j.markClosed() {
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
	return j.restamp(stampClosed)
}
