package store

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/sqldb"
)

const (
	fromEpisodes = ` FROM episode r WHERE r.gone = 0`
	// progressSQL reads what the episodes of a page p have led to.
	progressSQL = `SELECT ` + recordingColumns + `, r.aired, r.number, coalesce(s.clips, ''),
	(SELECT count(*)` + fromFindings + ` AND f.episode = r.number),
	(SELECT count(DISTINCT ` + cause + `)` + fromProblems + ` AND p.episode = r.number)
	FROM page JOIN episode r ON r.number = page.number
	JOIN origin o ON o.number = r.origin
	LEFT JOIN researched s ON s.episode = r.number` + episodeOrder
)

// EpisodesOf counts and lists in one snapshot, so that the total fits the page. An unknown origin has no episodes;
// it is not an error.
func (s *Store) EpisodesOf(ctx context.Context, of catalog.EpisodeFilter, p catalog.Part) (list []catalog.EpisodeProgress, total int, err error) {
	err = s.db.Read(ctx, "catalog.EpisodesOf", func(c *sqldb.Conn) error {
		f := episodeFilter(of)
		if total, err = f.count(c, fromEpisodes); err != nil {
			return err
		}
		list, err = episodesOf(c, f, p)
		return err
	})
	return list, total, err
}

func episodeFilter(of catalog.EpisodeFilter) (f filter) {
	if of.Origin != "" {
		f.sql += " AND r.origin = (SELECT number FROM origin WHERE id = ?)"
		f.args = append(f.args, of.Origin)
	}
	if of.Title != "" {
		f.sql += " AND replace(lower(r.title), lower(?), '') <> lower(r.title)"
		f.args = append(f.args, of.Title)
	}
	return f
}

// episodesQuery chooses the page from the index alone, because a later page skips many rows, and then reads the
// progress of its episodes.
func episodesQuery(f filter, p catalog.Part) (string, []any) {
	page, args := f.part("SELECT r.number"+fromEpisodes, episodeOrder, p)
	return "WITH page AS MATERIALIZED (" + page + ") " + progressSQL, args
}

// episodesOf lists part p of the episodes that f selects.
func episodesOf(c *sqldb.Conn, f filter, p catalog.Part) (list []catalog.EpisodeProgress, err error) {
	present, err := presentClips(c)
	if err != nil {
		return nil, err
	}
	query, args := episodesQuery(f, p)
	err = c.All(query, args, func(row sqldb.Row) error {
		e, err := scanProgress(row, present)
		list = append(list, e)
		return err
	})
	return list, err
}

// scanProgress reads a row of progressSQL. Of the researched clips it counts those that are present.
func scanProgress(row sqldb.Row, present *roaring.Bitmap) (e catalog.EpisodeProgress, err error) {
	var aired, number int64
	var blob []byte
	recording, err := scanRecording(row, &aired, &number, &blob, &e.Findings, &e.Problems)
	if err != nil {
		return e, err
	}
	e.Episode = models.Episode{Recording: recording, Aired: moment(aired)}
	set, err := decodeResearched(number, blob)
	if err == nil {
		e.Researched = int(set.AndCardinality(present))
	}
	return e, err
}
