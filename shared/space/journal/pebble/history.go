package pebble

import (
	"context"
	"errors"
	"time"

	lsm "github.com/cockroachdb/pebble/v2"

	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/codec"
)

// writeHistory adds to a batch a record of the history and its index key. It counts the record in newestHistory,
// which the caller restores if the batch is not applied; the caller holds mu.
func (j *Journal) writeHistory(b *lsm.Batch, f *journal.Historic) error {
	h := *f
	h.Count, h.Bytes = j.newestHistory.Count+1, j.newestHistory.Bytes+h.Size()
	j.newestHistory = h
	if err := b.Set(codec.AppendKey(nil, &h), codec.AppendValue(nil, &h), nil); err != nil {
		return err
	}
	return b.Set(codec.AppendHistoryIndexKey(nil, h.Key, h.Seq), nil, nil)
}

// findNewestHistory reads the newest record into newestHistory, with which the next one counts on. An empty history
// leaves it as it is.
func (j *Journal) findNewestHistory() error {
	first, behind := codec.HistoryKeys()
	return j.walkHistory(first, behind, newestFirst, func(h *journal.Historic) bool {
		j.newestHistory = *h
		return false
	})
}

// The orders of walkHistory.
const (
	newestFirst = false
	oldestFirst = true
)

// walkHistory calls visit with the records from the key from on and before the key to, the oldest first if ascending
// is set, otherwise the newest first, until visit returns false. visit may keep a record. Only records are between
// the keys of codec.HistoryKeys. The caller is in whileOpen, or opens the journal.
func (j *Journal) walkHistory(from, to []byte, ascending bool, visit func(*journal.Historic) bool) (err error) {
	it, err := j.db.NewIter(&lsm.IterOptions{LowerBound: from, UpperBound: to})
	if err != nil {
		return classify(err)
	}
	defer func() { err = errors.Join(err, classify(it.Close())) }() // also the error that ended the iteration
	begin, next := it.Last, it.Prev
	if ascending {
		begin, next = it.First, it.Next
	}
	for ok := begin(); ok; ok = next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return classify(err)
		}
		f, err := codec.Decode(it.Key(), value, nil)
		if err != nil {
			return err
		}
		if h, isRecord := f.(*journal.Historic); !isRecord || !visit(h) {
			return nil
		}
	}
	return nil
}

// whileOpen calls f while the journal is open, and Close waits for it. If the journal cannot be
// used, it returns why (usable) and does not call f. The caller does not hold mu. An error of f is
// returned with the name of the journal.
func (j *Journal) whileOpen(f func() error) error {
	j.reading.RLock()
	defer j.reading.RUnlock()
	if _, err := j.stand(); err != nil {
		return err
	}
	if err := f(); err != nil {
		return j.nameJournal(err)
	}
	return nil
}

// LatestHistory implements space.History. The last index key of a key has the position of its latest record, and the
// record itself is read by that. It reports false if there is none, or if it was removed in between. It fails with
// fault.ErrClosed once the journal is closed, and with fault.ErrCorrupt for a damaged record.
func (j *Journal) LatestHistory(_ context.Context, key string) (found space.HistoryRecord, ok bool, err error) {
	prefix := codec.AppendHistoryIndexKeys(nil, key)
	err = j.whileOpen(func() (err error) {
		it, err := j.db.NewIter(&lsm.IterOptions{LowerBound: prefix, UpperBound: after(prefix)})
		if err != nil {
			return classify(err)
		}
		defer func() { err = errors.Join(err, classify(it.Close())) }()
		if !it.Last() {
			return classify(it.Error())
		}
		seq := codec.HistoryIndexSeq(it.Key())
		return j.walkHistory(codec.AppendHistoryKey(nil, seq), codec.AppendHistoryKey(nil, seq+1), oldestFirst, func(h *journal.Historic) bool {
			found, ok = h.HistoryRecord, true
			return false
		})
	})
	return found, ok, err
}

// HistoryBefore implements space.History. It fails as LatestHistory does.
func (j *Journal) HistoryBefore(ctx context.Context, seq int64, visit func(space.HistoryRecord) bool) error {
	first, behind := codec.HistoryKeys()
	if seq > 0 {
		behind = codec.AppendHistoryKey(nil, seq)
	}
	return j.whileOpen(func() error {
		err := j.walkHistory(first, behind, newestFirst, func(h *journal.Historic) bool {
			return ctx.Err() == nil && visit(h.HistoryRecord)
		})
		return errors.Join(err, ctx.Err())
	})
}

// TrimHistory implements journal.HistoryTrimmer. It reads the oldest records until one is to be kept, and removes
// those before it. The removal is not synced: if it is lost, the next call repeats it. It fails as LatestHistory
// does.
func (j *Journal) TrimHistory(_ context.Context, before time.Duration, l space.HistoryLimits) (removed int, err error) {
	err = j.whileOpen(func() error {
		j.mu.Lock()
		newest := j.newestHistory
		j.mu.Unlock()
		first, behind := codec.HistoryKeys()
		var oldest []*journal.Historic
		if err := j.walkHistory(first, behind, oldestFirst, func(h *journal.Historic) bool {
			oldest = append(oldest, h) // the last one may be to keep
			return len(oldest) < journal.MaxTrimmed && h.Exceeds(&newest, before, l)
		}); err != nil {
			return err
		}
		removed = journal.Excess(oldest, &newest, before, l)
		return j.removeHistory(oldest[:removed])
	})
	return removed, err
}

// removeHistory removes the oldest records, which must be all up to the last of them, and their index keys. The batch
// begins with the position, as each does (fill), but does not move it. An error breaks the journal, unless the
// journal was unusable before.
func (j *Journal) removeHistory(oldest []*journal.Historic) error {
	if len(oldest) == 0 {
		return nil
	}
	first, _ := codec.HistoryKeys()
	behind := codec.AppendHistoryKey(nil, oldest[len(oldest)-1].Seq+1)
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.usable(); err != nil {
		return err
	}
	b := j.db.NewBatch()
	_, err := j.fill(b, nil)
	err = errors.Join(err, b.DeleteRange(first, behind, nil))
	for _, h := range oldest {
		err = errors.Join(err, b.Delete(codec.AppendHistoryIndexKey(nil, h.Key, h.Seq), nil))
	}
	if err == nil {
		err = j.db.Apply(b, lsm.NoSync)
	}
	if broken := j.broken.err(); broken != nil {
		return broken
	}
	if err != nil {
		j.broken.mark(err)
		return j.broken.err()
	}
	return b.Close()
}
