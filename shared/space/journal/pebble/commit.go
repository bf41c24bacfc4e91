package pebble

import (
	"context"
	"errors"

	lsm "github.com/cockroachdb/pebble/v2"

	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/codec"
)

// Commit implements journal.Journal: it returns once everything is synced. It ignores ctx, because
// the outcome of a sync that was given up is unknown. ErrFenced, ErrFull and, after Close,
// fault.ErrClosed mean that nothing was written. Any other error, also one of another goroutine
// meanwhile, breaks the journal.
func (j *Journal) Commit(_ context.Context, expected journal.Position, records []journal.Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.usable(); err != nil {
		return err
	}
	if j.standing.Position != expected {
		return journal.ErrFenced
	}
	batch := j.db.NewBatch()
	history := j.newestHistory // which fill changes
	next, err := j.fill(batch, records)
	if err == nil && !j.space.fits(batch.Len()) {
		j.newestHistory = history
		return errors.Join(journal.ErrFull, batch.Close())
	}
	if err == nil {
		err = j.db.Apply(batch, lsm.Sync)
	}
	if broken := j.broken.err(); broken != nil {
		return broken
	}
	if err != nil {
		j.broken.mark(err)
		return j.broken.err()
	}
	j.standing = next
	return batch.Close()
}

// fill writes what the records establish into a batch. The batch begins with the position before and after it, and
// fill returns where the journal stands after it. It changes newestHistory. The caller holds mu. After an error the
// batch must not be applied.
func (j *Journal) fill(b *lsm.Batch, records []journal.Record) (journal.Standing, error) {
	next := j.standing
	next.Position += journal.Position(len(records))
	for _, r := range records {
		next.Clock = r.Clock
		for _, f := range r.Facts {
			switch f := f.(type) {
			case *journal.Entry:
				next.Ref = max(next.Ref, f.Ref, f.Place)
			case *journal.Historic:
				next.Ref = max(next.Ref, f.Seq)
			}
		}
	}
	step := codec.AppendStep(j.buf[:0], codec.Step{From: j.standing.Position, Standing: next})
	if err := b.Set(codec.StandingKey(), step, nil); err != nil {
		return next, err
	}
	j.buf = step
	for _, r := range records {
		for _, f := range r.Facts {
			if err := j.write(b, f); err != nil {
				return next, err
			}
		}
	}
	return next, nil
}

// write adds to a batch the newest value of a fact's key, or that the key is gone. The caller holds mu, which guards
// buf; the batch copies it.
func (j *Journal) write(b *lsm.Batch, f journal.Fact) error {
	buf := j.buf[:0]
	defer func() { j.buf = buf[:0] }()
	switch f := f.(type) {
	case journal.Gone:
		buf = codec.AppendEntryKey(buf, int64(f))
		return b.Delete(buf, nil)
	case journal.Deleted:
		buf = codec.AppendSpaceKey(buf, string(f))
		return b.Delete(buf, nil)
	case journal.Forgotten:
		buf = codec.AppendAnswerKey(buf, opOf(f))
		return b.Delete(buf, nil)
	case journal.Ended:
		return j.endSession(b, string(f))
	case *journal.Historic:
		return j.writeHistory(b, f)
	}
	buf = codec.AppendKey(buf, f)
	key := len(buf)
	buf = codec.AppendValue(buf, f)
	return b.Set(buf[:key], buf[key:], nil)
}

// endSession adds to a batch that a session has ended, with all answers to it, whose keys have one prefix.
func (j *Journal) endSession(b *lsm.Batch, session string) error {
	if err := b.Delete(codec.AppendSessionKey(nil, session), nil); err != nil {
		return err
	}
	first := codec.AppendAnswersKey(nil, session)
	return b.DeleteRange(first, after(first), nil)
}

// after returns the first key behind all that begin with prefix: the prefix without the bytes of 255 at its end, and
// its last byte raised. prefix must hold a byte below 255, as every prefix does that begins with the kind of a fact.
func after(prefix []byte) []byte {
	next := append([]byte{}, prefix...)
	for i := len(next) - 1; ; i-- {
		if next[i]++; next[i] != 0 {
			return next[:i+1]
		}
	}
}
