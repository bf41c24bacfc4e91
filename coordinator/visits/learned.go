package visits

import "leasehold/shared/catalog/sqldb"

// What visits teach about listers and silences changes with each outcome. The transaction writes it once,
// before it commits, because a transaction records up to hundreds of outcomes.

// loadLearned reads what saveLearned has written, and notes that nothing differs from the file. Silences of bands
// that this version does not have are ignored.
func (k *cache) loadLearned(c *sqldb.Conn) error {
	err := c.All("SELECT key, listed, hits, misses, wrong, watched, active, begun, next, empty FROM lister", nil, func(from sqldb.Row) error {
		var key int32
		var d dates
		err := from.Scan(&key, &d.listed, &d.Hits, &d.Misses, &d.False, &d.Days, &d.active, &d.begun, &d.next, &d.empty)
		k.setDates(key, d)
		return err
	})
	if err != nil {
		return err
	}
	err = c.All("SELECT rate, silence, changes, expected FROM silence", nil, func(from sqldb.Row) error {
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
	return err
}

// saveLearned writes the dates of listers and the silences that differ from the file. It runs, as saveCounters
// does, before the commit. After an error the cache is stale.
func (s *Store) saveLearned() error {
	k := &s.cache
	for lister := range k.unsaved {
		d := k.dates[lister]
		err := s.db.Exec(`INSERT INTO lister (key, listed, hits, misses, wrong, watched, active, begun, next, empty)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET listed = excluded.listed, hits = excluded.hits,
			misses = excluded.misses, wrong = excluded.wrong, watched = excluded.watched, active = excluded.active,
			begun = excluded.begun, next = excluded.next, empty = excluded.empty`,
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
			err := s.db.Exec(`INSERT INTO silence (rate, silence, changes, expected) VALUES (?, ?, ?, ?) ON CONFLICT (rate, silence)
				DO UPDATE SET changes = excluded.changes, expected = excluded.expected`, rate, silence, x.Changes, x.Expected)
			if err != nil {
				return err
			}
		}
	}
	k.inFile = k.silences
	return nil
}
