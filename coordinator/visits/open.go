package visits

import (
	"context"
	"embed"
	"time"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/protocol/visit/policy"
)

//go:embed migrations/*.sql migrations/postgres/*.sql
var migrations embed.FS

// Schema is the store's part of a database file, behind the schema of the catalog.
func Schema() sqldb.Schema {
	return sqldb.Schema{Name: "schedule", Migrations: migrations, Checks: checks}
}

// Store is the visit schedule of all origins.
type Store struct {
	policy  *policy.Plan
	rules   policy.Rules // of hosts and requests, and of types without their own
	file    sqldb.Database
	changed chan struct{}
	catalog Catalog // nil: none
	part    int     // of loadPart

	// The writer's user may use these.
	db    *sqldb.Conn // of the transaction under way
	cache cache
}

// New returns the schedule in a file with Schema, and places all origins again if another plan placed them. The
// caller closes the file. After an error there is no usable store.
func New(ctx context.Context, file sqldb.Database, plan *policy.Plan) (*Store, error) {
	s := &Store{policy: plan, rules: plan.Rules(""), file: file, changed: make(chan struct{}, 1), part: partRows}
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
	for entered := false; !entered; {
		err := s.file.Write(ctx, op, func(c *sqldb.Conn) (err error) {
			if entered, err = s.tryEnter(c); err != nil || !entered {
				return err
			}
			return f()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// stepTime is how long a transaction of steps works at most. It is longer than the catalog's, because ids are
// spread over an index: 100 origins change about as many pages of it as 1,000 do, and each transaction waits for
// the disk.
const stepTime = 50 * time.Millisecond

// runSteps calls next until it reports that it is done, in short transactions
// (sqldb.Database.StepsOf). After an error the earlier transactions stay, so next must be one that
// can be begun again.
func (s *Store) runSteps(ctx context.Context, op string, next func() (done bool, err error)) error {
	return s.file.StepsOf(ctx, op, stepTime, func(c *sqldb.Conn) (done bool, err error) {
		if entered, err := s.tryEnter(c); err != nil || !entered {
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

// tryEnter or enter must be called before anything else in a transaction: they set s.db. If an earlier transaction
// changed the cache and failed, tryEnter reads a part of the cache again, and reports whether that was the last one. If
// not, the transaction ends, and another one goes on.
func (s *Store) tryEnter(c *sqldb.Conn) (entered bool, err error) {
	s.db = c
	if s.cache.stale {
		err = s.loadPart(c)
	}
	return !s.cache.stale, err
}

// enter is tryEnter in a transaction of the catalog: it reads all parts.
func (s *Store) enter(c *sqldb.Conn) error {
	for {
		if entered, err := s.tryEnter(c); err != nil || entered {
			return err
		}
	}
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
		s.db.OnEnd(func(committed bool) { k.updating, k.stale, k.loading = false, !committed, false })
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
