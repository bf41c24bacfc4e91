package store

import (
	"cmp"
	"context"
	"slices"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
)

// table is one of the two tables of recordings.
type table string

const (
	episodes table = "episode"
	clips    table = "clip"
)

const recordingColumns = `r.id, o.id, r.name, r.title, r.priority,
	r.uri, r.type, r.version, r.hash, r.first_curated, r.last_curated, r.listed_priority IS NOT NULL`

// scanRecording reads the columns that episodes and clips share, and then those of more.
func scanRecording(row sqldb.Row, more ...any) (models.Recording, error) {
	var r models.Recording
	var first, last int64
	err := row.Scan(append([]any{&r.ID, &r.Origin, &r.Name, &r.Title, &r.Priority,
		&r.Media.URI, &r.Media.Type, &r.Media.Version, &r.Media.Hash, &first, &last, &r.PrioritySet}, more...)...)
	r.FirstCurated, r.LastCurated = moment(first), moment(last)
	return r, err
}

const (
	episodeOrder  = ` ORDER BY r.first_curated DESC, r.aired DESC, r.title, r.id`
	selectEpisode = `SELECT ` + recordingColumns + `, r.aired FROM episode r JOIN origin o ON o.number = r.origin WHERE r.gone = 0`
	selectClip    = `SELECT ` + recordingColumns + ` FROM clip r JOIN origin o ON o.number = r.origin WHERE r.gone = 0`
)

func scanEpisode(row sqldb.Row) (models.Episode, error) {
	var aired int64
	r, err := scanRecording(row, &aired)
	return models.Episode{Recording: r, Aired: moment(aired)}, err
}

// Episodes reads one snapshot, however long the list is.
func (s *Store) Episodes(ctx context.Context) (list []models.Episode, err error) {
	err = s.db.Read(ctx, "catalog.Episodes", func(c *sqldb.Conn) error {
		return c.All(selectEpisode+episodeOrder, nil, func(row sqldb.Row) error {
			e, err := scanEpisode(row)
			list = append(list, e)
			return err
		})
	})
	return list, err
}

// Episode returns fault.ErrNotFound also for a gone episode.
func (s *Store) Episode(ctx context.Context, id string) (e models.Episode, err error) {
	err = s.db.Read(ctx, "catalog.Episode "+id, func(c *sqldb.Conn) error {
		ok, err := c.One(selectEpisode+` AND r.id = ?`, []any{id}, func(row sqldb.Row) (err error) {
			e, err = scanEpisode(row)
			return err
		})
		return found(ok, err)
	})
	return e, err
}

// Clips reads one snapshot, however long the list is.
func (s *Store) Clips(ctx context.Context) (list []models.Clip, err error) {
	err = s.db.Read(ctx, "catalog.Clips", func(c *sqldb.Conn) error {
		return c.All(selectClip+` ORDER BY r.priority DESC, r.first_curated DESC, r.id`, nil, func(row sqldb.Row) error {
			r, err := scanRecording(row)
			list = append(list, models.Clip{Recording: r})
			return err
		})
	})
	return list, err
}

// Clip returns fault.ErrNotFound also for a gone clip.
func (s *Store) Clip(ctx context.Context, id string) (k models.Clip, err error) {
	err = s.db.Read(ctx, "catalog.Clip "+id, func(c *sqldb.Conn) error {
		ok, err := c.One(selectClip+` AND r.id = ?`, []any{id}, func(row sqldb.Row) (err error) {
			k.Recording, err = scanRecording(row)
			return err
		})
		return found(ok, err)
	})
	return k, err
}

// version has the columns of a stored recording by which Curate decides whether a listed one is
// the same, and what to keep.
type version struct {
	number        int64
	version, hash string
	listed        string // the version that its origin lists; version differs after AudioChecked
	priority      int64
	first, last   int64
	gone          bool
	prioritySet   bool // by an operator
}

// versionOf reads the version of a recording, also of a gone one; ok is false for an unknown id. listed is the
// version that the origin lists, which differs if the audio was replaced.
func versionOf(c *sqldb.Conn, t table, id string) (v version, ok bool, err error) {
	ok, err = c.One(`SELECT number, version, coalesce(listed_version, version), hash, priority, first_curated, last_curated, gone, listed_priority IS NOT NULL FROM `+string(t)+
		` WHERE id = ?`, []any{id}, func(row sqldb.Row) error {
		return row.Scan(&v.number, &v.version, &v.listed, &v.hash, &v.priority, &v.first, &v.last, &v.gone, &v.prioritySet)
	})
	return v, ok, err
}

// insertRecording inserts a recording, and returns its number, which no recording had before.
func insertRecording(c *sqldb.Conn, t table, origin int64, r models.Recording) (int64, error) {
	return c.Insert(`INSERT INTO `+string(t)+` (id, origin, name, title, priority,
		uri, type, version, hash, first_curated, last_curated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number`,
		r.ID, origin, r.Name, r.Title, r.Priority,
		r.Media.URI, r.Media.Type, r.Media.Version, r.Media.Hash, stamp(r.FirstCurated), stamp(r.LastCurated))
}

// updateRecording stores the listed values of a recording whose version stays, and makes it present again. If an
// operator set its priority, that stays, and the listed one is noted beside it.
func updateRecording(c *sqldb.Conn, t table, number int64, r models.Recording) error {
	return c.Exec(`UPDATE `+string(t)+` SET title = ?1, uri = ?3, type = ?4, hash = ?5, last_curated = ?6, gone = 0, unlisted = 0,
		priority = CASE WHEN listed_priority IS NULL THEN ?2 ELSE priority END,
		listed_priority = CASE WHEN listed_priority IS NULL THEN NULL ELSE ?2 END WHERE number = ?7`,
		r.Title, r.Priority, r.Media.URI, r.Media.Type, r.Media.Hash, stamp(r.LastCurated), number)
}

// missing returns the recordings of an origin that are not in list, among those for which a condition in SQL
// holds. list must be in the order of ids. Of each it sets number and hash only.
func missing(c *sqldb.Conn, t table, origin int64, list []listed, condition string) (gone []version, err error) {
	err = c.All(`SELECT id, number, hash FROM `+string(t)+` WHERE origin = ? AND `+condition, []any{origin},
		func(row sqldb.Row) error {
			var id string
			var v version
			if err := row.Scan(&id, &v.number, &v.hash); err != nil {
				return err
			}
			if _, found := slices.BinarySearchFunc(list, id, func(l listed, id string) int { return cmp.Compare(l.ID, id) }); !found {
				gone = append(gone, v)
			}
			return nil
		})
	return gone, err
}
