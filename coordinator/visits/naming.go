package visits

import (
	"context"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/protocol/visit/policy"
)

// An origin has a first lister (State.Lister), whose dates count, and may have others in
// the table naming. When the first one no longer names it, another takes its place; when
// there is none, the origin is disabled. byHand stands for the user, who never drops one.
const byHand = 0

// addNaming notes that a lister names an origin: as its first lister if it has none, else in the table naming.
// listed tells that the catalog knows the origin from listers only; otherwise the user named it too, and byHand
// goes into the table when the lister takes the first place. The caller saves r.
func (s *Store) addNaming(r *row, lister int32, listed bool, now int64) error {
	isNew := r.Key == 0
	switch {
	case r.Lister == lister:
		return nil
	case r.Lister == byHand:
		r.Lister = lister
		if isNew || listed {
			return nil
		}
		lister = byHand
	}
	return s.db.Exec(`INSERT INTO naming (origin, lister, seen) VALUES (?, ?, ?) ON CONFLICT (origin, lister)
		DO UPDATE SET seen = excluded.seen`, r.Key, lister, now)
}

// takeNext makes another lister the first one of an origin, and reports whether there is one. The user comes
// after all listers, because the user gives no dates. Of the listers it is the one that named it last. The caller
// saves r.
func (s *Store) takeNext(r *row) (found bool, err error) {
	var next int32
	found, err = s.db.One("SELECT lister FROM naming WHERE origin = ? ORDER BY lister = 0, seen DESC, lister LIMIT 1", []any{r.Key}, sqldb.Into(&next))
	if err != nil || !found {
		return false, err
	}
	r.Lister = next
	return true, s.db.Exec("DELETE FROM naming WHERE origin = ? AND lister = ?", r.Key, next)
}

// dropUnnamed removes a lister from the origins that its full listing did not name, and disables those that no
// other lister names. isNamed reports whether the listing named the origin with an id, last named at a time.
// First come the origins whose first lister it is, then its other namings. After an error another call goes on.
func (s *Store) dropUnnamed(ctx context.Context, op string, lister int32, now int64, isNamed func(id string, seen int64) bool) error {
	unnamed := func(id string, seen int64) bool { return !isNamed(id, seen) }
	err := s.editNamedBy(ctx, op, lister, now, unnamed, func(r *row) error {
		found, err := s.takeNext(r)
		if !found && err == nil {
			r.State = policy.Unlisted(r.State)
		}
		return err
	})
	if err != nil {
		return err
	}
	var dropped []int64
	err = s.file.Read(ctx, op, func(c *sqldb.Conn) error {
		return c.All("SELECT n.origin, n.seen, s.id FROM naming n JOIN schedule s ON s.key = n.origin WHERE n.lister = ? AND n.lister <> 0", []any{lister},
			func(from sqldb.Row) error {
				var key, seen int64
				var id string
				err := from.Scan(&key, &seen, &id)
				if !isNamed(id, seen) {
					dropped = append(dropped, key)
				}
				return err
			})
	})
	if err != nil {
		return err
	}
	return stepThrough(ctx, s, op, dropped, func(key int64) error {
		return s.db.Exec("DELETE FROM naming WHERE origin = ? AND lister = ?", key, lister)
	})
}

// editNamedBy changes those of the origins of a lister for which chosen is true; chosen has their
// id and when they were last named. It writes no others, because a list has up to 10^6 origins.
// It reads the keys first and changes the origins in later transactions, so it asks chosen again
// before each change. An error of change ends its transaction without effect; those before it
// stay, and a call again is safe.
func (s *Store) editNamedBy(ctx context.Context, op string, lister int32, now int64, chosen func(id string, seen int64) bool, change func(*row) error) error {
	var keys []int64
	err := s.file.Read(ctx, op, func(c *sqldb.Conn) error {
		return c.All("SELECT key, id, last_seen FROM schedule WHERE lister = ? AND lister <> 0", []any{lister}, func(from sqldb.Row) error {
			var key, seen int64
			var id string
			err := from.Scan(&key, &id, &seen)
			if chosen(id, seen) {
				keys = append(keys, key)
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	return stepThrough(ctx, s, op, keys, func(key int64) error {
		return s.editKey(key, now, func(r *row) error {
			if r.Lister != lister || !chosen(r.id, r.LastSeen) {
				return nil
			}
			return change(r)
		})
	})
}
