package visits

import (
	"context"
	"errors"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
)

// Catalog is the catalog in the same file (shared/catalog/store), which changes in the
// transactions that change the schedule.
type Catalog interface {
	// AddListed adds an origin unless the catalog has it, and returns it as it is there.
	AddListed(c *sqldb.Conn, o models.Origin) (models.Origin, error)
	// SetRefs replaces the branches and tags of an origin that are indexed.
	SetRefs(c *sqldb.Conn, o models.Origin) error
	// RecordOutcomeIn notes how a visit ended, and returns the new URI of an origin that moves by
	// it. fault.ErrNotFound: the origin is unknown.
	RecordOutcomeIn(c *sqldb.Conn, o models.Outcome) (movedTo string, err error)
}

// Attach has s change a catalog too. It must be called before s is used.
func (s *Store) Attach(c Catalog) { s.catalog = c }

// OriginAdded implements sqlite.Schedule, in the catalog's transaction. Adding a known origin again is a listing
// by hand: it enables the origin if failures or its lister disabled it, and brings back one that has moved. Kinds that are neither visited nor list
// others are ignored.
func (s *Store) OriginAdded(c *sqldb.Conn, o models.Origin) error {
	if err := s.enter(c); err != nil || !o.Kind.Visited() && !o.Kind.Info().Lister {
		return err
	}
	s.notify()
	if err := s.putNamed(0, Named{Origin: o}, time.Now().Unix()); err != nil || o.Listed {
		return err
	}
	r, err := read(c, o.ID)
	if err != nil || r.uri == models.Redact(o.URI) {
		return err
	}
	return s.move(o.ID, o.URI, time.Now())
}

// OriginPriority implements sqlite.Schedule, in the catalog's transaction. It sets the priority of an origin, and
// ignores an origin outside the schedule.
func (s *Store) OriginPriority(c *sqldb.Conn, id string, priority int64) error {
	if err := s.enter(c); err != nil {
		return err
	}
	was, err := read(c, id)
	if errors.Is(err, fault.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	r := was
	r.priority = priority
	return s.save(was, r, time.Now().Unix())
}

// BeforeRemoval implements sqlite.Schedule: it gives the origins that this lister named another lister, or none.
// It takes several transactions before the removal, because there may be many. For an unknown origin it does
// nothing. After an error the removal may be tried again.
func (s *Store) BeforeRemoval(ctx context.Context, id string) error {
	op := "remove " + id
	var key int32
	err := s.file.Read(ctx, op, func(c *sqldb.Conn) error {
		r, err := read(c, id)
		key = int32(r.Key)
		return err
	})
	if errors.Is(err, fault.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	all := func(string, int64) bool { return true }
	return s.editNamedBy(ctx, op, key, time.Now().Unix(), all, func(r *row) error {
		found, err := s.takeNext(r)
		if !found {
			r.Lister = byHand
		}
		return err
	})
}

// OriginRemoved implements sqlite.Schedule, in the catalog's transaction: it removes an origin from the schedule,
// and puts the next one of its host in front. For an unknown one it does nothing.
func (s *Store) OriginRemoved(c *sqldb.Conn, id string) error {
	if err := s.enter(c); err != nil {
		return err
	}
	r, err := read(c, id)
	if errors.Is(err, fault.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if r.front && r.queued() {
		if err := s.showFirst(r); err != nil {
			return err
		}
	}
	if err := s.leaveHubs(id, time.Now().Unix()); err != nil {
		return err
	}
	k := s.update()
	k.add(r, -1)
	k.setDates(int32(r.Key), dates{}) // subtracts them from those of all listers
	delete(k.dates, int32(r.Key))
	delete(k.unsaved, int32(r.Key))
	return s.forget(r.Key)
}

// forget removes all that the tables of the schedule hold about an origin. The caller must end the transaction with its
// error.
func (s *Store) forget(key int64) error {
	for _, text := range []string{"DELETE FROM outcome WHERE origin = ?", "DELETE FROM lister WHERE key = ?", "DELETE FROM naming WHERE origin = ?",
		"DELETE FROM naming WHERE lister = ?", "DELETE FROM description WHERE origin = ?", "DELETE FROM claim WHERE key = ?", "DELETE FROM schedule WHERE key = ?"} {
		if err := s.db.Exec(text, key); err != nil {
			return err
		}
	}
	return nil
}
