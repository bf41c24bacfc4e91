package store

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"leasehold/shared/catalog"
	"leasehold/shared/catalog/sqldb"
)

// Totals reads the bitmap of every episode, in one snapshot, so it takes time that grows with the episodes.
func (s *Store) Totals(ctx context.Context) (t catalog.Totals, err error) {
	err = s.db.Read(ctx, "catalog.Totals", func(c *sqldb.Conn) error {
		const query = `SELECT (SELECT count(*) FROM origin),
			(SELECT count(*) FROM episode WHERE gone = 0), (SELECT count(*) FROM clip WHERE gone = 0),
			(SELECT count(*)` + fromFindings + `), (SELECT count(*) FROM (SELECT 1` + fromProblems + oneCause + `) AS causes)`
		_, err := c.One(query, nil, func(row sqldb.Row) error {
			return row.Scan(&t.Origins, &t.Episodes, &t.Clips, &t.Findings, &t.Problems)
		})
		if err == nil {
			t.Researched, err = countResearched(c)
		}
		return err
	})
	return t, err
}

// countResearched counts the pairs whose episode and clip are both present.
func countResearched(c *sqldb.Conn) (pairs int, err error) {
	present, err := presentClips(c)
	if err != nil {
		return 0, err
	}
	err = c.All("SELECT r.episode, r.clips FROM researched r JOIN episode e ON e.number = r.episode WHERE e.gone = 0", nil,
		func(row sqldb.Row) error {
			var number int64
			var blob []byte
			if err := row.Scan(&number, &blob); err != nil {
				return err
			}
			set, err := decodeResearched(number, blob)
			if err == nil {
				pairs += int(set.AndCardinality(present))
			}
			return err
		})
	return pairs, err
}

// presentClips returns the numbers of the clips that are not gone.
func presentClips(c *sqldb.Conn) (*roaring.Bitmap, error) {
	present := roaring.New()
	err := c.All("SELECT number FROM clip WHERE gone = 0", nil, func(row sqldb.Row) error {
		var n uint32
		err := row.Scan(&n)
		present.Add(n)
		return err
	})
	return present, err
}
