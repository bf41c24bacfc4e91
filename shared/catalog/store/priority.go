package store

import (
	"context"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
)

// SetOriginPriority sets the priority and returns the origin. The schedule changes in the same transaction. It
// fails with fault.ErrNotFound if the id is unknown.
func (s *Store) SetOriginPriority(ctx context.Context, id string, priority int64) (o models.Origin, err error) {
	err = s.db.Write(ctx, "catalog.SetOriginPriority "+id, func(c *sqldb.Conn) error {
		n, err := c.Affect("UPDATE origin SET priority = ? WHERE id = ?", priority, id)
		if err = found(n > 0, err); err != nil {
			return err
		}
		if s.schedule != nil {
			if err := s.schedule.OriginPriority(c, id, priority); err != nil {
				return err
			}
		}
		o, _, err = findOrigin(c, id)
		return err
	})
	return o, err
}

// SetEpisodePriority sets the priority (nil: back to the listed one), makes the episode a candidate with it, and
// returns the episode.
func (s *Store) SetEpisodePriority(ctx context.Context, id string, priority *int64) (models.Episode, error) {
	if err := s.setPriority(ctx, "catalog.SetEpisodePriority "+id, episodes, id, priority); err != nil {
		return models.Episode{}, err
	}
	return s.Episode(ctx, id)
}

// SetClipPriority sets the priority (nil: back to the listed one) and returns the clip. The next Select reads the
// order of the clips again.
func (s *Store) SetClipPriority(ctx context.Context, id string, priority *int64) (models.Clip, error) {
	if err := s.setPriority(ctx, "catalog.SetClipPriority "+id, clips, id, priority); err != nil {
		return models.Clip{}, err
	}
	return s.Clip(ctx, id)
}

// setPriority fixes the priority of a recording; nil returns it to the one that its origin lists. Clips are read
// again then, and an episode becomes a candidate, because the order has changed.
func (s *Store) setPriority(ctx context.Context, op string, t table, id string, priority *int64) error {
	return s.db.Write(ctx, op, func(c *sqldb.Conn) error {
		v, ok, err := versionOf(c, t, id)
		switch {
		case err != nil:
			return err
		case !ok || v.gone:
			return fault.ErrNotFound
		case priority == nil:
			err = c.Exec("UPDATE "+string(t)+" SET priority = coalesce(listed_priority, priority), listed_priority = NULL WHERE number = ?", v.number)
		default:
			err = fixPriority(c, t, v.number, *priority)
		}
		if err != nil {
			return err
		}
		if t == clips {
			s.forgetClips(c)
			return nil
		}
		return openEpisode(c, id)
	})
}

// fixPriority sets a priority that listings do not change: listed_priority, which is NULL otherwise, keeps the
// priority of the listing.
func fixPriority(c *sqldb.Conn, t table, number, priority int64) error {
	return c.Exec("UPDATE "+string(t)+" SET listed_priority = coalesce(listed_priority, priority), priority = ? WHERE number = ?", priority, number)
}
