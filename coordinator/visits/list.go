package visits

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/protocol/visit/policy"
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

// sortedFrom is from how many origins on they are written in the order of their ids, because
// then one page of the indexes of ids after the other is changed.
const sortedFrom = 500

// List adds the new origins of a listing here and, if a lister named them, to the catalog in the same
// transactions. It enables the others again. A full listing disables the origins that neither it nor another
// lister names; an empty one does so only if the previous listing was empty, too. A listing that does not go on
// where the last ended only adds origins. Up to models.MaxListed origins are added in one transaction; after a
// kill, listing again adds the rest. Errors: fault.ErrNotFound for an unknown lister, fault.ErrInvalid for an
// invalid id of an origin.
func (s *Store) List(ctx context.Context, now time.Time, l Listing) error {
	op := fmt.Sprintf("list %d origins", len(l.Origins))
	l.Visit = bounded(l.Visit, longestVisit)
	var lister int32
	if l.Lister != "" {
		err := s.file.Read(ctx, op, func(c *sqldb.Conn) error {
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
			return s.putNamedAll(lister, some, named, now.Unix())
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

// recordListing notes that a lister was visited, after its origins were added: it disables the origins that a
// full listing did not name, keeps where a list goes on, and then requests the visit that goes on. A list that
// does not go on where the last visit ended has changed since; then nothing is noted. An empty list disables
// origins only if an earlier visit found it empty too, because servers sometimes fail with an empty answer.
func (s *Store) recordListing(ctx context.Context, op string, lister int32, l Listing, named map[string]bool, now time.Time) error {
	var d dates
	readDates := func() {
		d = s.cache.dates[lister]
		if l.From == 0 {
			d.begun = now.Unix()
		}
	}
	err := s.write(ctx, op, func() error { readDates(); return nil })
	hasChanged := l.From != 0 && l.From != d.next // since the last visit
	if err != nil || hasChanged {
		return err
	}
	empty := l.From == 0 && l.Next == 0 && l.Full && len(named) == 0
	emptyBefore := d.empty != "" && d.empty != l.Visit
	isWhole := l.Next == 0 && l.Full
	if isWhole && (!empty || emptyBefore) {
		isNamed := func(id string, seen int64) bool {
			inEarlierPart := l.From != 0 && seen >= d.begun
			return named[id] || inEarlierPart
		}
		err := s.dropUnnamed(ctx, op, lister, now.Unix(), isNamed)
		if err != nil {
			return err
		}
	}
	return s.write(ctx, op, func() error {
		s.notify()
		readDates() // again, because outcomes have changed it meanwhile
		if l.From == 0 {
			d.active = 0
		}
		for _, o := range l.Origins {
			if at := second(o.Updated, now.Unix()); at != policy.Never && at >= d.listed {
				d.active++
			}
		}
		d.next = l.Next
		if !empty {
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
