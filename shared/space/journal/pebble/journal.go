package pebble

import (
	"context"
	"errors"
	"fmt"
	"sync"

	lsm "github.com/cockroachdb/pebble/v2"

	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/codec"
)

// Journal is a journal.Journal in a folder. It is journal.Roomy.
type Journal struct {
	Config
	broken broken
	room   *room
	db     *lsm.DB

	mu       sync.Mutex // guards what follows, and orders commits
	standing journal.Standing
	closed   bool
	buf      []byte
}

// Open opens the journal in a folder, or makes one. What it refuses is
// fault.ErrCorrupt for damage or a version that it does not know,
// fault.ErrPermission or fault.ErrFolder for a folder that cannot be used. Close
// ends it.
func Open(c Config) (*Journal, error) {
	j := &Journal{Config: c.withDefaults()}
	if err := j.open(); err != nil {
		return nil, fmt.Errorf("journal %s: %w", c.Dir, err)
	}
	return j, nil
}

func (j *Journal) open() error {
	if err := j.FS.MkdirAll(j.Dir, 0o700); err != nil {
		return classify(err)
	}
	j.room = newRoom(j.Config)
	db, err := lsm.Open(j.Dir, j.storeOptions(disk{FS: j.FS, broken: &j.broken}))
	if err != nil {
		return classify(err)
	}
	j.db = db
	j.standing, err = standing(db)
	if err == nil {
		err = j.sign()
	}
	if err != nil {
		return errors.Join(classify(err), db.Close())
	}
	return nil
}

// sign writes where the journal stands into the store's newest log, so that
// there is always one record to tell whether the older ones are there.
func (j *Journal) sign() error {
	step := codec.AppendStep(nil, codec.Step{From: j.standing.Position, Standing: j.standing})
	if err := j.db.Set(codec.StandingKey(), step, lsm.Sync); err != nil {
		return err
	}
	return j.broken.err()
}

// standing reads where a store stands.
func standing(db lsm.Reader) (journal.Standing, error) {
	value, closer, err := db.Get(codec.StandingKey())
	if errors.Is(err, lsm.ErrNotFound) {
		return journal.Standing{}, nil
	}
	if err != nil {
		return journal.Standing{}, err
	}
	step, err := codec.DecodeStep(value)
	return step.Standing, errors.Join(err, closer.Close())
}

// Load implements journal.Journal.
func (j *Journal) Load(ctx context.Context, restore func(journal.Fact) error) (journal.Standing, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.usable(); err != nil {
		return journal.Standing{}, err
	}
	it, err := j.db.NewIter(nil)
	if err != nil {
		return journal.Standing{}, classify(err)
	}
	err = each(ctx, it, restore)
	if err = errors.Join(err, classify(it.Error())); err != nil {
		return journal.Standing{}, errors.Join(fmt.Errorf("journal %s: %w", j.Dir, err), it.Close())
	}
	return j.standing, it.Close()
}

// each hands every fact that it stands on to restore.
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
	return nil
}

// usable says why the journal cannot be used.
func (j *Journal) usable() error {
	if j.closed {
		return fmt.Errorf("journal %s: %w", j.Dir, lsm.ErrClosed)
	}
	return j.broken.err()
}

// Close implements journal.Journal. A broken journal is left as it is.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed || j.broken.err() != nil {
		return nil
	}
	j.closed = true
	return errors.Join(j.db.Close(), j.broken.err())
}
