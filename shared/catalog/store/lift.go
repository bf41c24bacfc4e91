package store

import (
	"context"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
)

// Lift removes the problems of the pairs of the episode and these clips. If it removed one, and the episode is
// not gone, it makes the episode a candidate again. Unknown ids change nothing. It is one transaction: an error
// leaves all as it was.
func (s *Store) Lift(ctx context.Context, episode string, ids []string) error {
	return s.db.Write(ctx, "catalog.Lift "+episode, func(c *sqldb.Conn) error {
		e, ok, err := versionOf(c, episodes, episode)
		if err != nil || !ok {
			return err
		}
		lifted := 0
		for _, id := range ids {
			clip, ok, err := versionOf(c, clips, id)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			n, err := c.Affect("DELETE FROM problem WHERE episode = ? AND clip = ? AND scope = ?", e.number, clip.number, string(models.ScopePair))
			if err != nil {
				return err
			}
			lifted += int(n)
		}
		if lifted == 0 || e.gone {
			return nil
		}
		return openEpisode(c, episode)
	})
}
