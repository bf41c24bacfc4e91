package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
	// Visit is the id of the visit, so that one that names nothing counts once.
	Visit string
	// Full reports that all origins of the list have been named with this visit.
	Full bool
}

// Named is an origin as it was named.
type Named struct {
	models.Origin
	Created, Updated time.Time // zero: not given
	Fork             bool
	ForkOf           string // URI of the origin that it is a fork of, if it is known
	Metadata         map[string]string
}

// sortedFrom is from how many origins on they are written in the order of their ids, because
// then one page of the indexes of ids after the other is changed.
const sortedFrom = 500

// List adds the origins of a listing that are new, here and, if a lister named them, to the
// catalog in the same transactions. It lets the others take part again. A full listing disables
// those that it does not name and no other lister does; one that names nothing does so when the
// listing before named nothing either. One that does not go on where the last ended is only
// added. Up to models.MaxListed origins are added in one transaction; after a kill, listing again
// adds the rest. Errors: fault.ErrNotFound for an unknown lister, fault.ErrInvalid for an id of
// an origin that is not valid.
func (s *Store) List(ctx context.Context, now time.Time, l Listing) error {
	op := fmt.Sprintf("list %d origins", len(l.Origins))
	var lister int32
	if l.Lister != "" {
		err := s.file.Read(ctx, op, func(c *sqlfile.Conn) error {
			r, err := read(c, l.Lister)
			lister = int32(r.Key)
			return err
		})
		if err != nil {
			return err
		}
	}
	named := map[string]bool{}
	if len(l.Origins) > sortedFrom {
		l.Origins = slices.SortedFunc(slices.Values(l.Origins), func(a, b Named) int { return cmp.Compare(a.ID, b.ID) })
	}
	for some := range slices.Chunk(l.Origins, models.MaxListed) {
		err := s.write(ctx, op, func() error {
			s.notify()
			return s.nameAll(lister, some, named, now.Unix())
		})
		if err != nil {
			return err
		}
	}
	if lister == 0 {
		return nil
	}
	return s.recordListing(ctx, op, lister, l, named, now)
}

// nameAll adds origins, or notes that they were named again, and adds their ids to named. All are
// of one transaction: it writes the pages of the indexes of hosts and times once, and not for
// some origins each. An id that named has already is skipped. The error names the origin, and is
// that of the catalog or of the file.
func (s *Store) nameAll(lister int32, all []Named, named map[string]bool, now int64) (err error) {
	for _, o := range all {
		if named[o.ID] {
			continue
		}
		named[o.ID] = true
		branches := o.Branches
		if lister != 0 && s.catalog != nil {
			if o.Origin, err = s.catalog.AddListed(s.db, o.Origin); err != nil {
				return fmt.Errorf("%s: %w", o.URI, err)
			}
		}
		if err := s.name(lister, o, now); err != nil {
			return fmt.Errorf("%s: %w", o.URI, err)
		}
		if err := s.followBranches(lister, o.Origin, branches); err != nil {
			return err
		}
	}
	return nil
}

// followBranches gives an origin that only listers name the branches that its first lister has by
// now. An origin that the user added keeps the branches of the user. Errors are those of the
// file.
func (s *Store) followBranches(lister int32, o models.Origin, branches []string) error {
	if lister == 0 || s.catalog == nil || !o.Listed || slices.Equal(o.Branches, branches) {
		return nil
	}
	r, err := read(s.db, o.ID)
	if err != nil || r.Lister != lister {
		return err
	}
	return s.catalog.SetBranches(s.db, o.ID, branches)
}

// recordListing notes that a lister was visited, after its origins were added: it disables the
// origins that a full listing did not name, keeps where a list goes on, and then requests the
// visit that goes on. A list that does not go on where the last visit ended has changed since;
// then nothing is noted. An empty list disables origins only if an earlier visit found it empty
// too, because servers sometimes fail with an empty answer.
func (s *Store) recordListing(ctx context.Context, op string, lister int32, l Listing, named map[string]bool, now time.Time) error {
	var d dates
	read := func() error {
		d = s.cache.dates[lister]
		if l.From == 0 {
			d.begun = now.Unix()
		}
		return nil
	}
	err := s.write(ctx, op, read)
	if err != nil || l.From != 0 && l.From != d.next {
		return err // the second: of a list that has changed since
	}
	empty := l.From == 0 && l.Next == 0 && l.Full && len(named) == 0
	if again := d.empty != "" && d.empty != l.Visit; l.Next == 0 && l.Full && (!empty || again) {
		err := s.dropUnnamed(ctx, op, lister, now.Unix(), func(id string, seen int64) bool {
			return named[id] || l.From != 0 && seen >= d.begun
		})
		if err != nil {
			return err
		}
	}
	return s.write(ctx, op, func() error {
		s.notify()
		if err := read(); err != nil { // again: outcomes have changed it meanwhile
			return err
		}
		if l.From == 0 {
			d.active = 0
		}
		for _, o := range l.Origins {
			if at := second(o.Updated, now.Unix()); at != visit.Never && at >= d.listed {
				d.active++
			}
		}
		if d.next = l.Next; !empty {
			d.empty = ""
		} else if d.empty == "" {
			d.empty = l.Visit
		}
		if l.Next == 0 {
			d.listed = now.Unix()
		}
		s.update().setDates(lister, d)
		if l.Next == 0 {
			return nil
		}
		return s.edit(l.Lister, now.Unix(), func(r *row) { r.request(now) })
	})
}

// name adds an origin, or notes that it was named again, in the transaction under way. lister 0
// is the user, whose naming also enables an origin that its server called gone. Dates count only
// from the first lister, or if there are none yet. fault.ErrInvalid: the id is not valid.
func (s *Store) name(lister int32, o Named, now int64) error {
	if !models.ValidID(o.ID) {
		return fmt.Errorf("id %.64q: %w", o.ID, fault.ErrInvalid)
	}
	was, err := read(s.db, o.ID)
	r := was
	if errors.Is(err, fault.ErrNotFound) {
		r = row{State: visit.NewState(0, now, s.rulesOf(o.Kind)), id: o.ID, kind: o.Kind, uri: o.URI, host: s.policy.Hosts.Of(hostOf(o.URI))}
	} else if err != nil {
		return err
	}
	r.Type = string(r.kind)
	if lister == 0 && r.Disabled == visit.ByGone {
		r.Disabled = ""
	}
	if was.Key == 0 && o.Kind.Info().Lister {
		if r.Every = listerEvery; !o.Kind.Visited() {
			r.Every, r.Disabled = 0, visit.ByOperator // it only names others
		}
	}
	if err := s.addNaming(&r, lister, o.Listed, now); err != nil {
		return err
	}
	updated := visit.Never
	if lister == r.Lister || r.LastUpdate == visit.Never { // the dates of one lister count
		updated = second(o.Updated, now)
	}
	r.State = visit.Listed(r.State, now, updated)
	r.priority, r.Fork = o.Priority, r.Fork || o.Fork
	if lister == 0 && o.Every != nil && models.ValidEvery(*o.Every) {
		r.Every = int64(*o.Every)
	}
	if created := second(o.Created, now); r.Created == visit.Never {
		r.Created = created
	}
	if err := s.save(was, r, now); err != nil {
		return err
	}
	if r.Key == 0 && (o.ForkOf != "" || len(o.Metadata) > 0) {
		if r, err = read(s.db, o.ID); err != nil {
			return err
		}
	}
	return s.describe(r.Key, o)
}

// listerEvery is the seconds between two visits of a lister, unless a user fixes another
// interval.
const listerEvery = 24 * 3600

// second returns a date of a lister in seconds; one that is missing or in the future, which
// cannot be true, is visit.Never.
func second(t time.Time, now int64) int64 {
	if t.IsZero() || t.Unix() > now {
		return visit.Never
	}
	return t.Unix()
}

// editNamedBy changes those of the origins of a lister for which chosen is true; chosen has their
// id and when they were last named. It writes no others, because a list has up to 10^6 origins.
// It reads the keys first and changes the origins in later transactions, so it asks chosen again
// before each change. An error of change ends its transaction without effect; those before it
// stay, and a call again is safe.
func (s *Store) editNamedBy(ctx context.Context, op string, lister int32, now int64, chosen func(id string, seen int64) bool, change func(*row) error) error {
	var keys []int64
	err := s.file.Read(ctx, op, func(c *sqlfile.Conn) error {
		return c.All("SELECT key, id, last_seen FROM schedule WHERE lister = ? AND lister <> 0", []any{lister}, func(from sqlfile.Row) error {
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
		var failed error
		err := s.editKey(key, now, func(r *row) {
			if r.Lister == lister && chosen(r.id, r.LastSeen) {
				failed = change(r)
			}
		})
		return errors.Join(failed, err)
	})
}

// OriginAdded implements sqlite.Schedule, in the catalog's transaction. Adding a known origin
// again is a listing by hand: one that was disabled by failures or by its lister takes part
// again. A kind that is neither visited nor lists others is ignored.
func (s *Store) OriginAdded(c *sqlfile.Conn, o models.Origin) error {
	if err := s.enter(c); err != nil || !o.Kind.Visited() && !o.Kind.Info().Lister {
		return err
	}
	s.notify()
	return s.name(0, Named{Origin: o}, time.Now().Unix())
}

// BeforeRemoval implements sqlite.Schedule: it gives the origins that this lister named another
// lister, or none. It takes several transactions before that of the removal, because there may be
// many. For an unknown origin it does nothing. Errors are those of the file; the removal may be
// tried again then.
func (s *Store) BeforeRemoval(ctx context.Context, id string) error {
	op := "remove " + id
	var key int32
	err := s.file.Read(ctx, op, func(c *sqlfile.Conn) error {
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

// OriginRemoved implements sqlite.Schedule, in the catalog's transaction: it removes an origin
// from the schedule, and puts the next one of its host in front. For an unknown one it does
// nothing. Errors are those of the file.
func (s *Store) OriginRemoved(c *sqlfile.Conn, id string) error {
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
	k := s.update()
	k.add(r, -1)
	k.setDates(int32(r.Key), dates{})
	delete(k.dates, int32(r.Key))
	delete(k.unsaved, int32(r.Key))
	return s.forget(r.Key)
}
