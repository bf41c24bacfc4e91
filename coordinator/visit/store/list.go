package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/coordinator/visit"
	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/sqlfile"
)

// A Listing is what a lister named in one visit.
type Listing struct {
	Lister  string // id of its origin; empty: named by hand
	Origins []Named

	// From is how many origins the visits before named of the same list, and Next
	// how many with this one, if there are more: the lister is visited again soon.
	From, Next int
	// Full says that with this visit all there are have been named.
	Full bool
}

// Named is an origin as it was named.
type Named struct {
	models.Origin
	Created, Updated time.Time // zero: not given
}

// List adds the origins of a listing that are new, and lets the others take part
// again. A full listing disables those of its lister that it does not name. One that
// goes on where no other ended is only added.
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
		return s.listed(lister, l, named, now)
	})
}

// listed notes that a lister was visited: what its listing did not name, and where
// it goes on.
func (s *Store) listed(lister int32, l Listing, named map[string]bool, now time.Time) error {
	d := s.state.dates[lister]
	if l.From != 0 && l.From != d.next {
		return nil // of a list that has changed since
	}
	if l.From == 0 {
		d.begun, d.active = now.Unix(), 0
	}
	for _, o := range l.Origins {
		if at := second(o.Updated, now.Unix()); at != visit.Never && at >= d.listed {
			d.active++
		}
	}
	d.next = l.Next
	if l.Next != 0 {
		return errors.Join(s.keepDates(lister, d), s.edit(l.Lister, now, func(r *row) { r.ask(now) }))
	}
	if d.listed = now.Unix(); l.Full {
		err := s.eachOf(lister, now.Unix(), func(r *row) {
			if !named[r.id] && (l.From == 0 || r.LastSeen < d.begun) {
				r.State = visit.Unlisted(r.State)
			}
		})
		if err != nil {
			return err
		}
	}
	return s.keepDates(lister, d)
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
	if err := s.write(was, r, now); err != nil {
		return err
	}
	return s.rank(o.Origin)
}

// rank notes whether first visits of what a lister names come first: if it has a
// priority.
func (s *Store) rank(o models.Origin) error {
	if !o.Kind.Info().Lister {
		return nil
	}
	r, err := s.read(o.ID)
	s.state.later(func(m *memory) { m.priority[int32(r.Key)] = o.Priority > 0 })
	return err
}

// second is a date of a lister; one in the future is not believed.
func second(t time.Time, now int64) int64 {
	if t.IsZero() || t.Unix() > now {
		return visit.Never
	}
	return t.Unix()
}

// eachOf changes what a lister named.
func (s *Store) eachOf(lister int32, now int64, change func(*row)) error {
	var all []row
	err := s.db.All("SELECT "+columns+" FROM origin WHERE lister = ? AND lister <> 0", []any{lister}, func(from scanner) error {
		r, err := scanRow(from)
		all = append(all, r)
		return err
	})
	for _, was := range all {
		r := was
		if change(&r); r != was {
			err = errors.Join(err, s.write(was, r, now))
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
			found, err := s.db.One("SELECT key FROM origin WHERE id = ?", []any{o.ID}, sqlfile.Into(new(int64)))
			switch {
			case err != nil:
			case found:
				err = s.rank(o)
			default:
				err = s.name(0, Named{Origin: o}, now.Unix())
			}
			if err != nil {
				return err
			}
		}
		var gone []string
		err := s.db.All("SELECT id FROM origin", nil, func(from scanner) error {
			var id string
			err := from.Scan(&id)
			if !known[id] {
				gone = append(gone, id)
			}
			return err
		})
		for _, id := range gone {
			err = errors.Join(err, s.forget(id, now.Unix()))
		}
		return err
	})
}

// Remove forgets an origin; one that is not known is no error.
func (s *Store) Remove(ctx context.Context, now time.Time, id string) error {
	return s.change(ctx, "remove "+id, func() error { return s.forget(id, now.Unix()) })
}

// forget removes an origin; what it named is then named by nobody.
func (s *Store) forget(id string, now int64) error {
	r, err := s.read(id)
	if errors.Is(err, fault.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	s.state.disappear(r)
	s.state.later(func(m *memory) {
		delete(m.dates, int32(r.Key))
		delete(m.priority, int32(r.Key))
	})
	return errors.Join(s.eachOf(int32(r.Key), now, func(x *row) { x.Lister = 0 }), s.db.Exec("DELETE FROM outcome WHERE origin = ?", r.Key),
		s.db.Exec("DELETE FROM lister WHERE key = ?", r.Key), s.db.Exec("DELETE FROM origin WHERE key = ?", r.Key))
}
