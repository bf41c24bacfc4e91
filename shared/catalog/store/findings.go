package store

import (
	"context"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/sqldb"
)

// fromFindings joins a finding with its recordings, without those that are gone.
const fromFindings = ` FROM finding f
	JOIN episode e ON e.number = f.episode
	JOIN clip k ON k.number = f.clip
	WHERE e.gone = 0 AND k.gone = 0`

// Findings reads one snapshot, however long the list is.
func (s *Store) Findings(ctx context.Context) (list []catalog.Finding, err error) {
	err = s.db.Read(ctx, "catalog.Findings", func(c *sqldb.Conn) error {
		list, err = findings(c, filter{}, catalog.Part{Limit: -1})
		return err
	})
	return list, err
}

// FindingsOf counts and lists in one snapshot, so that the total fits the page. Unknown ids have no findings;
// they are not an error.
func (s *Store) FindingsOf(ctx context.Context, a catalog.About, p catalog.Part) (list []catalog.Finding, total int, err error) {
	err = s.db.Read(ctx, "catalog.FindingsOf", func(c *sqldb.Conn) error {
		var f filter
		f.require("e.id", a.Episode)
		f.require("k.id", a.Clip)
		if total, err = f.count(c, fromFindings); err != nil {
			return err
		}
		list, err = findings(c, f, p)
		return err
	})
	return list, total, err
}

// pageSQL selects one page of findings; withinSQL adds the clip that each lies within: of
// those found around it in the same episode that last longer, the shortest.
const (
	pageSQL = `SELECT f.episode AS number, e.id AS episode, e.title AS episode_title, e.uri AS episode_uri,
	k.id AS clip, k.title AS clip_title, f.offset, f.duration, f.score, f.part_from, f.part_to, f.coverage, f.speed, e.first_curated, e.aired` + fromFindings
	inOrder   = ` ORDER BY e.first_curated DESC, e.aired DESC, e.title, e.id, f.offset, k.title, k.id`
	withinSQL = `SELECT p.episode, p.episode_title, p.episode_uri, p.aired, p.clip, p.clip_title, p.offset, p.duration, p.score, p.part_from, p.part_to, p.coverage, p.speed,
	coalesce(w.id, ''), coalesce(w.title, '')
	FROM p LEFT JOIN clip w ON w.number = (SELECT f.clip` + fromFindings + `
		AND f.episode = p.number AND f.offset BETWEEN p.offset - ? AND p.offset + ?
		AND f.offset + f.duration >= p.offset + p.duration - ? AND f.duration > p.duration + ?
		ORDER BY f.duration, k.title, k.id LIMIT 1)
	ORDER BY p.first_curated DESC, p.aired DESC, p.episode_title, p.episode, p.offset, p.clip_title, p.clip`
)

// findings lists part p of the findings that f selects, in the order of catalog.Findings. It reads the page first
// and then looks for a clip around each finding of it, because this search is expensive.
func findings(c *sqldb.Conn, f filter, p catalog.Part) (list []catalog.Finding, err error) {
	part, args := f.part(pageSQL, inOrder, p)
	longest, tolerance := catalog.MaxFindingLength.Seconds(), catalog.WithinTolerance.Seconds()
	args = append(args, longest, tolerance, tolerance, 2*tolerance) // of withinSQL
	err = c.All("WITH p AS MATERIALIZED ("+part+") "+withinSQL, args, func(row sqldb.Row) error {
		var f catalog.Finding
		var aired int64
		err := row.Scan(&f.EpisodeID, &f.EpisodeTitle, &f.EpisodeURI, &aired, &f.ClipID, &f.ClipTitle,
			&f.Offset, &f.Duration, &f.Score, &f.PartFrom, &f.PartTo, &f.Coverage, &f.Speed, &f.WithinID, &f.WithinTitle)
		f.Aired = moment(aired)
		list = append(list, f)
		return err
	})
	return list, err
}

// replaceFindings makes list the only findings of one clip in one episode. Of two at the same offset the last is
// kept, because the offset is a part of the key. The caller's transaction makes it one change.
func replaceFindings(c *sqldb.Conn, episode, clip int64, list []models.Finding) error {
	if err := c.Exec("DELETE FROM finding WHERE episode = ? AND clip = ?", episode, clip); err != nil {
		return err
	}
	for _, f := range list {
		if err := c.Exec(`INSERT INTO finding (episode, clip, "offset", duration, score, part_from, part_to, coverage, speed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (episode, clip, "offset") DO UPDATE SET duration = excluded.duration, score = excluded.score, part_from = excluded.part_from,
			part_to = excluded.part_to, coverage = excluded.coverage, speed = excluded.speed`,
			episode, clip, float64(f.Offset), float64(f.Duration), f.Score, float64(f.PartFrom), float64(f.PartTo), f.Coverage, f.Speed); err != nil {
			return err
		}
	}
	return nil
}
