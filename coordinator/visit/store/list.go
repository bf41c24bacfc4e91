package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/coordinator/visit"
	"leasehold/models"
	"leasehold/shared/fault"
)

// A Listing is what a lister named.
type Listing struct {
	Lister  string // id of its origin; empty: named by hand
	Origins []Named
	// Full says that it named all there are, and ended well.
	Full bool
}

// Named is an origin as it was named.
type Named struct {
	models.Origin
	Created, Updated time.Time // zero: not given
}

// List adds the origins of a listing that are new, and lets the others take part
// again. A full listing disables those of its lister that it does not name.
func (s *Store) List(ctx context.Context, now time.Time, l Listing) error {
	return s.tell(ctx, fmt.Sprintf("list %d origins", len(l.Origins)), func() error {
		lister, err := s.lister(l.Lister)
		if err != nil {
			return err
		}
		named := map[string]bool{}
		for _, o := range l.Origins {
			if named[o.ID] {
				continue
			}
			named[o.ID] = true
			if err := s.name(lister, o, now.Unix()); err != nil {
				return fmt.Errorf("%s: %w", o.URI, err)
			}
		}
		if lister == 0 {
			return nil
		}
		if l.Full {
			if err := s.miss(lister, named, now.Unix()); err != nil {
				return err
			}
		}
		d := s.state.dates[lister]
		d.listed = now.Unix()
		return s.keepDates(lister, d)
	})
}

func (s *Store) lister(id string) (int32, error) {
	if id == "" {
		return 0, nil
	}
	r, err := s.read(id)
	return int32(r.Key), err
}

// name adds an origin, or notes that it was named again.
func (s *Store) name(lister int32, o Named, now int64) error {
	if !models.ValidID(o.ID) {
		return fmt.Errorf("id %.64q: %w", o.ID, fault.ErrInvalid)
	}
	was, err := s.read(o.ID)
	r := was
	if errors.Is(err, fault.ErrNotFound) {
		r = row{State: visit.NewState(0, now, s.rules), id: o.ID, kind: o.Kind, uri: o.URI, host: hostOf(o.URI)}
	} else if err != nil {
		return err
	}
	r.State = visit.Listed(r.State, now, second(o.Updated, now))
	if lister != 0 {
		r.Lister = lister
	}
	if created := second(o.Created, now); r.Created == visit.Never {
		r.Created = created
	}
	return s.write(was, r, now)
}

// second is a date of a lister; one in the future is not believed.
func second(t time.Time, now int64) int64 {
	if t.IsZero() || t.Unix() > now {
		return visit.Never
	}
	return t.Unix()
}

// miss disables what a full listing did not name.
func (s *Store) miss(lister int32, named map[string]bool, now int64) error {
	var gone []row
	err := s.all("SELECT "+columns+" FROM origin WHERE lister = ? AND lister <> 0", []any{lister}, func(from scanner) error {
		r, err := scanRow(from)
		if !named[r.id] && r.Enabled() {
			gone = append(gone, r)
		}
		return err
	})
	for _, was := range gone {
		r := was
		r.State = visit.Missed(r.State)
		if err := errors.Join(err, s.write(was, r, now)); err != nil {
			return err
		}
	}
	return err
}

// Sync makes the store know exactly the origins of the catalog: those that it lacks
// are added, those that the catalog has no more are removed.
func (s *Store) Sync(ctx context.Context, now time.Time, all []models.Origin) error {
	return s.tell(ctx, "sync origins", func() error {
		known := map[string]bool{}
		for _, o := range all {
			known[o.ID] = true
			if found, err := s.one("SELECT key FROM origin WHERE id = ?", []any{o.ID}, new(int64)); found || err != nil {
				if err != nil {
					return err
				}
				continue
			}
			if err := s.name(0, Named{Origin: o}, now.Unix()); err != nil {
				return err
			}
		}
		var gone []string
		err := s.all("SELECT id FROM origin", nil, func(from scanner) error {
			var id string
			err := from.Scan(&id)
			if !known[id] {
				gone = append(gone, id)
			}
			return err
		})
		for _, id := range gone {
			err = errors.Join(err, s.forget(id))
		}
		return err
	})
}

// Remove forgets an origin; one that is not known is no error.
func (s *Store) Remove(ctx context.Context, id string) error {
	return s.change(ctx, "remove "+id, func() error { return s.forget(id) })
}

func (s *Store) forget(id string) error {
	r, err := s.read(id)
	if errors.Is(err, fault.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	s.state.disappear(r)
	s.state.later(func(m *memory) { delete(m.dates, int32(r.Key)) })
	return errors.Join(s.exec("DELETE FROM outcome WHERE origin = ?", r.Key), s.exec("DELETE FROM lister WHERE key = ?", r.Key),
		s.exec("UPDATE origin SET lister = 0 WHERE lister = ? AND lister <> 0", r.Key), s.exec("DELETE FROM origin WHERE key = ?", r.Key))
}
