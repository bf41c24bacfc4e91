package visits

import (
	"context"
	"embed"
	"time"

	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/protocol/visit/policy"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the store's part of a database file, behind the schema of the catalog.
func Schema() sqlfile.Schema {
	return sqlfile.Schema{Name: "schedule", Migrations: migrations, Checks: checks}
}

// Store is the visit schedule of all origins.
type Store struct {
	policy  *policy.Plan
	rules   policy.Rules // of hosts and requests, and of types without their own
	file    *sqlfile.File
	changed chan struct{}
	catalog Catalog // nil: none

	// The writer's user may use these.
	db    *sqlfile.Conn // of the transaction under way
	cache cache
}

// New returns the schedule in a file with Schema, and places all origins again if another plan placed them. The
// caller closes the file. After an error there is no usable store.
func New(ctx context.Context, file *sqlfile.File, plan *policy.Plan) (*Store, error) {
	s := &Store{policy: plan, rules: plan.Rules(""), file: file, changed: make(chan struct{}, 1)}
	const op = "open the visit schedule"
	if err := file.Read(ctx, op, s.load); err != nil {
		return nil, err
	}
	return s, s.placeAll(ctx, op)
}

// Changed receives a value when there may be more to visit than before. It holds one.
func (s *Store) Changed() <-chan struct{} { return s.changed }

// write runs f in one transaction, with s.db set and the cache as the file has it. It waits for
// other transactions, so at most one f runs at a time, and only inside f the cache may be read.
// An error of f, of the file or of ctx undoes the transaction.
func (s *Store) write(ctx context.Context, op string, f func() error) error {
	return s.file.Write(ctx, op, func(c *sqlfile.Conn) error {
		if err := s.enter(c); err != nil {
			return err
		}
		return f()
	})
}

// stepTime is how long a transaction of steps works at most. It is longer than the catalog's, because ids are
// spread over an index: 100 origins change about as many pages of it as 1,000 do, and each transaction waits for
// the disk.
const stepTime = 50 * time.Millisecond

// runSteps calls next until it reports that it is done, in short transactions
// (sqlfile.File.StepsOf). After an error the earlier transactions stay, so next must be one that
// can be begun again.
func (s *Store) runSteps(ctx context.Context, op string, next func() (done bool, err error)) error {
	return s.file.StepsOf(ctx, op, stepTime, func(c *sqlfile.Conn) (done bool, err error) {
		if err := s.enter(c); err != nil {
			return false, err
		}
		return next()
	})
}

// stepThrough is steps with one step for each element of a list. After an error of step, the
// steps of earlier transactions stay.
func stepThrough[T any](ctx context.Context, s *Store, op string, list []T, step func(T) error) error {
	return s.runSteps(ctx, op, func() (done bool, err error) {
		if len(list) > 0 {
			err = step(list[0])
			list = list[1:]
		}
		return len(list) == 0, err
	})
}

// enter must be called before anything else in a transaction: it sets s.db. It reads the cache
// again if an earlier transaction changed it and failed.
func (s *Store) enter(c *sqlfile.Conn) error {
	s.db = c
	if s.cache.stale {
		return s.load(c)
	}
	return nil
}

// update returns the cache to change it together with the transaction under way, which saves the
// counters, and what the visits taught, before it commits. If the transaction fails, the cache is
// stale and the next one reads it again.
func (s *Store) update() *cache {
	k := &s.cache
	if !k.updating {
		k.updating = true
		s.db.BeforeCommit(s.saveCounters)
		s.db.BeforeCommit(s.saveLearned)
		s.db.OnEnd(func(committed bool) { k.updating, k.stale = false, !committed })
	}
	return k
}

// notify has Changed receive a value once the transaction under way has ended.
func (s *Store) notify() {
	s.db.OnEnd(func(bool) {
		select {
		case s.changed <- struct{}{}:
		default:
		}
	})
}
