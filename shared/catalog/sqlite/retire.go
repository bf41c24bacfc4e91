package sqlite

import (
	"context"

	"leasehold/shared/sqlfile"
)

// retire hides a recording and frees its id, in one row: all that is known of it may be
// too much to delete in one transaction, and must go or stay together. deleteRetired
// deletes it.
func retire(c *sqlfile.Conn, t table, number int64) error {
	return c.Exec(`UPDATE `+string(t)+` SET gone = 2, id = '~' || number WHERE number = ?`, number)
}

// deleteRetired deletes what retire left, also that of a process that was killed.
func (s *Store) deleteRetired(ctx context.Context, op string) error {
	for _, t := range []table{episodes, clips} {
		if err := s.file.Steps(ctx, op, t.deleteSome); err != nil {
			return err
		}
	}
	return nil
}

// deleteSome deletes a few rows of the first retired recordings (gone is 2), and these
// recordings once they have no more. done reports that no retired recording is left.
func (t table) deleteSome(c *sqlfile.Conn) (done bool, err error) {
	const rows, recordings = 100, 25
	first := "(SELECT number FROM " + string(t) + " WHERE gone = 2 LIMIT ?)"
	for _, query := range []string{
		"DELETE FROM finding WHERE (episode, clip, offset) IN (SELECT episode, clip, offset FROM finding WHERE " + string(t) + " IN " + first + " LIMIT ?)",
		"DELETE FROM problem WHERE number IN (SELECT number FROM problem WHERE " + string(t) + " IN " + first + " LIMIT ?)",
	} {
		if n, err := c.Affect(query, recordings, rows); err != nil || n > 0 {
			return false, err
		}
	}
	n, err := c.Affect("DELETE FROM "+string(t)+" WHERE number IN "+first, recordings)
	return n < recordings, err
}
