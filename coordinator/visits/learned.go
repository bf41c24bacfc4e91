package visits

import (
	"errors"

	"leasehold/shared/catalog/sqlfile"
)

// What visits teach about listers and silences changes with each outcome. The transaction writes it once,
// before it commits, because a transaction records up to hundreds of outcomes.

// loadLearned reads what saveLearned has written, and notes that nothing differs from the file. Silences of bands
// that this version does not have are ignored.
func (k *cache) loadLearned(c *sqlfile.Conn) error {
	listers := c.All("SELECT key, listed, hits, misses, wrong, watched, active, begun, next, empty FROM lister", nil, func(from sqlfile.Row) error {
		var key int32
		var d dates
		err := from.Scan(&key, &d.listed, &d.Hits, &d.Misses, &d.False, &d.Days, &d.active, &d.begun, &d.next, &d.empty)
		k.setDates(key, d)
		return err
	})
	silences := c.All("SELECT rate, silence, changes, expected FROM silence", nil, func(from sqlfile.Row) error {
		var rate, silence uint
		var changes, expected float64
		err := from.Scan(&rate, &silence, &changes, &expected)
		if x := &k.silences; rate < uint(len(x)) && silence < uint(len(x[0])) {
			x[rate][silence].Changes, x[rate][silence].Expected = changes, expected
		}
		return err
	})
	clear(k.unsaved)
	k.inFile = k.silences
	return errors.Join(listers, silences)
}

// saveLearned writes the dates of listers and the silences that differ from the file. It runs, as saveCounters
// does, before the commit. After an error the cache is stale.
func (s *Store) saveLearned() error {
	k := &s.cache
	for lister := range k.unsaved {
		d := k.dates[lister]
		err := s.db.Exec("INSERT OR REPLACE INTO lister (key, listed, hits, misses, wrong, watched, active, begun, next, empty) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			lister, d.listed, d.Hits, d.Misses, d.False, d.Days, d.active, d.begun, d.next, d.empty)
		if err != nil {
			return err
		}
	}
	clear(k.unsaved)
	for rate, silences := range k.silences {
		for silence, x := range silences {
			if x == k.inFile[rate][silence] {
				continue
			}
			if err := s.db.Exec("INSERT OR REPLACE INTO silence VALUES (?, ?, ?, ?)", rate, silence, x.Changes, x.Expected); err != nil {
				return err
			}
		}
	}
	k.inFile = k.silences
	return nil
}
