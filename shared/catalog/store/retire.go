package store

import (
	"context"

	"leasehold/shared/catalog/sqldb"
)

// retire hides a recording and frees its id by changing one row, because its findings and problems may be too
// many to delete in one transaction. deleteRetired deletes them and the row.
func retire(c *sqldb.Conn, t table, number int64) error {
	return c.Exec(`UPDATE `+string(t)+` SET gone = 2, id = '~' || number WHERE number = ?`, number)
}

// deleteRetired deletes the recordings that retire hid, with all that is known of them; also those of a process
// that was killed before it did. After an error the next call goes on.
func (s *Store) deleteRetired(ctx context.Context, op string) error {
	for _, t := range []table{episodes, clips} {
		if err := s.db.Steps(ctx, op, t.deleteSome); err != nil {
			return err
		}
	}
	return nil
}

// deleteSome deletes at most 100 findings or problems of the first 25 retired recordings (gone is 2) or, if these
// have none any more, the recordings. done is true if no retired recording is left. It deletes so little because
// a transaction must not keep the writer for long.
func (t table) deleteSome(c *sqldb.Conn) (done bool, err error) {
	const rows, recordings = 100, 25
	first := "(SELECT number FROM " + string(t) + " WHERE gone = 2 LIMIT ?)"
	for _, query := range []string{
		`DELETE FROM finding WHERE (episode, clip, "offset") IN (SELECT episode, clip, "offset" FROM finding WHERE ` + string(t) + " IN " + first + " LIMIT ?)",
		"DELETE FROM problem WHERE number IN (SELECT number FROM problem WHERE " + string(t) + " IN " + first + " LIMIT ?)",
	} {
		if n, err := c.Affect(query, recordings, rows); err != nil || n > 0 {
			return false, err
		}
	}
	n, err := c.Affect("DELETE FROM "+string(t)+" WHERE number IN "+first, recordings)
	return n < recordings, err
}
