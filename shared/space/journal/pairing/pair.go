package pairing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"leasehold/shared/process/failpoint"
)

// RaiseEvery is how often Run looks for changes.
const RaiseEvery = 10 * time.Second

// Pair is the two stores of a data folder in use. It may be used concurrently.
type Pair struct {
	database, journal Store

	mu      sync.Mutex // guards what follows, and the marks in the stores
	mark    Mark       // of the database
	changes [2]uint64  // of the stores at the last raise
}

// New returns the pair of two stores with the marks that they were found with. Those must be a pair, or a Mismatch
// that the operator has accepted: then the marks of one store go on in both. It fails if it cannot count the changes
// of a store.
func New(ctx context.Context, database, journal Store, ofDatabase, ofJournal Mark) (p *Pair, err error) {
	mark := Mark{Instance: ofDatabase.Instance, Counter: max(ofDatabase.Counter, ofJournal.Counter), Confirmed: ofJournal.Counter}
	if mark.Instance == "" {
		mark.Instance = ofJournal.Instance
	}
	p = &Pair{database: database, journal: journal, mark: mark}
	p.changes, err = p.countChanges(ctx)
	return p, err
}

// Mark returns the mark of the database. Its Instance is empty if it has none yet.
func (p *Pair) Mark() Mark {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mark
}

// Raise raises the counter of both stores, so that Check finds it when one of them is an older copy. After an error,
// such as a full disk, the stores are still a pair, and Raise may be called again.
func (p *Pair) Raise(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.raise(ctx)
}

// raise writes a new counter into both stores, with what the other one has: first into the
// database, then into the journal, and then notes in the database that both have it. Check relies
// on this order. After an error the counter stays raised, because it is unknown who has it; the
// next raise takes a higher one. Calls must not overlap.
func (p *Pair) raise(ctx context.Context) error {
	changes, err := p.countChanges(ctx)
	if err != nil {
		return fmt.Errorf("raise the counter: %w", err)
	}
	inDatabase, dErr := p.database.Describe(ctx)
	inJournal, jErr := p.journal.Describe(ctx)
	if err := errors.Join(dErr, jErr); err != nil {
		return fmt.Errorf("raise the counter: %w", err)
	}
	p.mark.Counter, p.mark.At, p.mark.Other = p.mark.Counter+1, time.Now(), inJournal
	if p.mark.Instance == "" {
		p.mark.Instance = NewInstance()
	}
	ofJournal := Mark{Instance: p.mark.Instance, Counter: p.mark.Counter, At: p.mark.At, Other: inDatabase}
	failpoint.Reached("pair.before", "")
	if err := p.database.SetMark(ctx, p.mark); err != nil {
		return fmt.Errorf("raise the counter of the database: %w", err)
	}
	failpoint.Reached("pair.database", "")
	if err := p.journal.SetMark(ctx, ofJournal); err != nil {
		return fmt.Errorf("raise the counter of the journal: %w", err)
	}
	failpoint.Reached("pair.journal", "")
	p.mark.Confirmed = p.mark.Counter
	if err := p.database.SetMark(ctx, p.mark); err != nil {
		return fmt.Errorf("confirm the counter of the database: %w", err)
	}
	failpoint.Reached("pair.after", "")
	p.changes = changes
	return nil
}

// countChanges returns how often each store was changed: the database, then the journal.
func (p *Pair) countChanges(ctx context.Context) (changes [2]uint64, err error) {
	var dErr, jErr error
	changes[0], dErr = p.database.Changes(ctx)
	changes[1], jErr = p.journal.Changes(ctx)
	return changes, errors.Join(dErr, jErr)
}

// RaiseIfChanged raises the counter if a store has changed since the last raise. After an error the stores are still
// a pair.
func (p *Pair) RaiseIfChanged(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	changes, err := p.countChanges(ctx)
	if err != nil || changes == p.changes {
		return err
	}
	return p.raise(ctx)
}

// Hold calls do with the mark of the database while it stays as it is, so that copies of both stores are a pair. The
// counter is not raised meanwhile, so do should be short. It returns the error of do.
func (p *Pair) Hold(do func(Mark) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return do(p.mark)
}

// Run raises the counter every RaiseEvery if a store has changed, until ctx ends. An error
// is logged once until a raise succeeds again, because the stores stay a pair.
func (p *Pair) Run(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(RaiseEvery)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := p.RaiseIfChanged(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			log.Warn("cannot write the counter that keeps database and journal together; trying again", "error", err)
		}
		failing = err != nil
	}
}
