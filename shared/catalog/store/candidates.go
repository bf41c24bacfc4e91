package store

import (
	"context"

	"leasehold/shared/catalog/sqldb"
)

// openEpisode makes an episode a candidate of Select, with its current priority, because it may have a clip to
// select. An unknown id changes nothing.
func openEpisode(c *sqldb.Conn, id string) error {
	return c.Exec("INSERT INTO candidate "+asCandidates+` WHERE id = ? ON CONFLICT (episode) DO UPDATE SET priority = excluded.priority,
		first_curated = excluded.first_curated, aired = excluded.aired, title = excluded.title, id = excluded.id`, id)
}

const asCandidates = `(episode, priority, first_curated, aired, title, id) SELECT number, priority, first_curated, aired, title, id FROM episode`

// reopenEpisodes notes that all episodes are to become candidates, because a clip became selectable. It is one
// row, written in the transaction that changes the clip; the next Select does the rest (finishReopening), because
// it takes long.
func reopenEpisodes(c *sqldb.Conn) error {
	return c.Exec("INSERT INTO reopening (one, after) VALUES (1, 0) ON CONFLICT (one) DO UPDATE SET after = 0")
}

// finishReopening does what reopenEpisodes noted: it makes all episodes that are not gone candidates again, in
// steps of 100. The last number of each step is stored, so that after a kill or an error it goes on there. If
// nothing was noted, it does nothing.
func (s *Store) finishReopening(ctx context.Context, op string) error {
	const page = 100 // episodes, which are one step
	return s.db.Steps(ctx, op, func(c *sqldb.Conn) (done bool, err error) {
		var after, last int64
		pending, err := c.One("SELECT after FROM reopening", nil, sqldb.Into(&after))
		if err != nil || !pending {
			return true, err
		}
		if _, err := c.One("SELECT coalesce(max(number), 0) FROM (SELECT number FROM episode WHERE number > ? ORDER BY number LIMIT ?) AS page",
			[]any{after, page}, sqldb.Into(&last)); err != nil {
			return false, err
		}
		if last == 0 {
			return true, c.Exec("DELETE FROM reopening")
		}
		if err := c.Exec("INSERT INTO candidate "+asCandidates+" WHERE number > ? AND number <= ? AND gone = 0 ON CONFLICT DO NOTHING", after, last); err != nil {
			return false, err
		}
		return false, c.Exec("UPDATE reopening SET after = ?", last)
	})
}
