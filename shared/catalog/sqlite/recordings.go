package sqlite

import (
	"context"
	"fmt"

	"leasehold/models"
)

// table is one of the two tables of recordings.
type table string

const (
	episodes table = "episode"
	clips    table = "clip"
)

const recordingColumns = `r.id, o.id, r.name, r.title, r.priority,
	r.uri, r.type, r.version, r.hash, r.first_curated, r.last_curated`

func scanRecording(row scanner, more ...any) (models.Recording, error) {
	var r models.Recording
	var first, last int64
	err := row.Scan(append([]any{&r.ID, &r.Origin, &r.Name, &r.Title, &r.Priority,
		&r.Media.URI, &r.Media.Type, &r.Media.Version, &r.Media.Hash, &first, &last}, more...)...)
	r.FirstCurated, r.LastCurated = moment(first), moment(last)
	return r, err
}

const (
	selectEpisode = `SELECT ` + recordingColumns + `, r.aired FROM episode r JOIN origin o ON o.number = r.origin WHERE r.gone = 0`
	selectClip    = `SELECT ` + recordingColumns + ` FROM clip r JOIN origin o ON o.number = r.origin WHERE r.gone = 0`
)

func scanEpisode(row scanner) (models.Episode, error) {
	var aired int64
	r, err := scanRecording(row, &aired)
	return models.Episode{Recording: r, Aired: moment(aired)}, err
}

// Episodes is part of catalog.Catalog.
func (s *Store) Episodes(ctx context.Context) (list []models.Episode, err error) {
	err = s.use(ctx, "catalog.Episodes", func(c *session) error {
		return c.All(selectEpisode+` ORDER BY r.first_curated DESC, r.aired DESC, r.title, r.id`, nil, func(row scanner) error {
			e, err := scanEpisode(row)
			list = append(list, e)
			return err
		})
	})
	return list, err
}

// Episode is part of catalog.Catalog.
func (s *Store) Episode(ctx context.Context, id string) (e models.Episode, err error) {
	err = s.use(ctx, "catalog.Episode "+id, func(c *session) error {
		ok, err := c.One(selectEpisode+` AND r.id = ?`, []any{id}, func(row scanner) (err error) {
			e, err = scanEpisode(row)
			return err
		})
		return found(ok, err)
	})
	return e, err
}

// Clips is part of catalog.Catalog.
func (s *Store) Clips(ctx context.Context) (list []models.Clip, err error) {
	err = s.use(ctx, "catalog.Clips", func(c *session) error {
		return c.All(selectClip+` ORDER BY r.priority DESC, r.first_curated DESC, r.id`, nil, func(row scanner) error {
			r, err := scanRecording(row)
			list = append(list, models.Clip{Recording: r})
			return err
		})
	})
	return list, err
}

// Clip is part of catalog.Catalog.
func (s *Store) Clip(ctx context.Context, id string) (k models.Clip, err error) {
	err = s.use(ctx, "catalog.Clip "+id, func(c *session) error {
		ok, err := c.One(selectClip+` AND r.id = ?`, []any{id}, func(row scanner) (err error) {
			k.Recording, err = scanRecording(row)
			return err
		})
		return found(ok, err)
	})
	return k, err
}

// version is what decides whether a stored recording is still the same.
type version struct {
	number        int64
	version, hash string
	priority      int64
	first, last   int64
	gone          bool
}

func versionOf(c *session, t table, id string) (v version, ok bool, err error) {
	ok, err = c.One(`SELECT number, version, hash, priority, first_curated, last_curated, gone FROM `+string(t)+
		` WHERE id = ?`, []any{id}, func(row scanner) error {
		return row.Scan(&v.number, &v.version, &v.hash, &v.priority, &v.first, &v.last, &v.gone)
	})
	return v, ok, err
}

// insertRecording makes a row, and with it a number that was never used.
func insertRecording(c *session, t table, origin int64, r models.Recording) (int64, error) {
	return c.Insert(`INSERT INTO `+string(t)+` (id, origin, name, title, priority,
		uri, type, version, hash, first_curated, last_curated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.ID, origin, r.Name, r.Title, r.Priority,
		r.Media.URI, r.Media.Type, r.Media.Version, r.Media.Hash, stamp(r.FirstCurated), stamp(r.LastCurated))
}

// updateRecording changes what may change while the version stays.
func updateRecording(c *session, t table, number int64, r models.Recording) error {
	err := c.Exec(`UPDATE `+string(t)+` SET title = ?, priority = ?, uri = ?, type = ?, hash = ?,
		last_curated = ?, gone = 0 WHERE number = ?`,
		r.Title, r.Priority, r.Media.URI, r.Media.Type, r.Media.Hash, stamp(r.LastCurated), number)
	return err
}

// forgetRecording deletes a row and, by cascade, all that is known of it.
func forgetRecording(c *session, t table, number int64) error {
	err := c.Exec(`DELETE FROM `+string(t)+` WHERE number = ?`, number)
	return err
}

// missing lists the recordings of an origin that are not gone, and not in seen.
func missing(c *session, t table, origin int64, seen map[string]bool) (list []version, err error) {
	err = c.All(`SELECT id, number, hash FROM `+string(t)+` WHERE origin = ? AND gone = 0`, []any{origin},
		func(row scanner) error {
			var id string
			var v version
			err := row.Scan(&id, &v.number, &v.hash)
			if err == nil && !seen[id] {
				list = append(list, v)
			}
			return err
		})
	return list, err
}

func markGone(c *session, t table, number int64) error {
	if err := c.Exec(`UPDATE `+string(t)+` SET gone = 1 WHERE number = ?`, number); err != nil {
		return fmt.Errorf("%s %d: %w", t, number, err)
	}
	return nil
}
