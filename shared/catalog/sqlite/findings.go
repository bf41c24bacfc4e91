package sqlite

import (
	"context"

	"leasehold/models"
	"leasehold/shared/catalog"
)

// fromFindings joins a finding with its recordings, without what is gone.
const fromFindings = ` FROM finding f
	JOIN episode e ON e.number = f.episode
	JOIN clip k ON k.number = f.clip
	WHERE e.gone = 0 AND k.gone = 0`

// Findings is part of catalog.Catalog.
func (s *Store) Findings(ctx context.Context) (list []catalog.Found, err error) {
	err = s.use(ctx, "catalog.Findings", func(c *session) error {
		list, err = findings(c, filter{}, catalog.Part{Limit: -1})
		return err
	})
	return list, err
}

// FindingsOf is part of catalog.Catalog.
func (s *Store) FindingsOf(ctx context.Context, a catalog.About, p catalog.Part) (list []catalog.Found, total int, err error) {
	err = s.use(ctx, "catalog.FindingsOf", func(c *session) error {
		var f filter
		f.is("e.id", a.Episode)
		f.is("k.id", a.Clip)
		if total, err = f.count(c, fromFindings); err != nil {
			return err
		}
		list, err = findings(c, f, p)
		return err
	})
	return list, total, err
}

func findings(c *session, f filter, p catalog.Part) (list []catalog.Found, err error) {
	query, args := f.part(`SELECT e.id, e.title, e.uri, k.id, k.title, f.offset, f.duration, f.score`+fromFindings,
		` ORDER BY e.first_curated DESC, e.aired DESC, e.title, e.id, f.offset, k.title, k.id`, p)
	err = c.all(query, args, func(row scanner) error {
		var f catalog.Found
		err := row.Scan(&f.Episode, &f.EpisodeTitle, &f.EpisodeURI, &f.Clip, &f.ClipTitle,
			&f.Offset, &f.Duration, &f.Score)
		list = append(list, f)
		return err
	})
	return list, err
}

// replaceFindings makes list the findings of one clip in one episode.
func replaceFindings(c *session, episode, clip int64, list []models.Finding) error {
	if _, err := c.exec("DELETE FROM finding WHERE episode = ? AND clip = ?", episode, clip); err != nil {
		return err
	}
	for _, f := range list {
		if _, err := c.exec("INSERT OR REPLACE INTO finding (episode, clip, offset, duration, score) VALUES (?, ?, ?, ?, ?)",
			episode, clip, float64(f.Offset), float64(f.Duration), f.Score); err != nil {
			return err
		}
	}
	return nil
}
