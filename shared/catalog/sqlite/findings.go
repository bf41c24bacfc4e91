package sqlite

import (
	"context"

	"leasehold/models"
	"leasehold/shared/catalog"
)

// fromFindings joins a finding with its recordings, without what is gone.
const fromFindings = ` FROM finding f
	JOIN episode e ON e.number = f.episode AND e.gone = 0
	JOIN clip k ON k.number = f.clip AND k.gone = 0`

// Findings is part of catalog.Catalog.
func (s *Store) Findings(ctx context.Context) (list []catalog.Found, err error) {
	err = s.use(ctx, "catalog.Findings", func(c *session) error {
		const query = `SELECT e.id, e.title, e.uri, k.id, k.title, f.offset, f.duration, f.score` + fromFindings + `
			ORDER BY e.first_curated DESC, e.aired DESC, e.title, e.id, f.offset, k.title, k.id`
		return c.all(query, nil, func(row scanner) error {
			var f catalog.Found
			err := row.Scan(&f.Episode, &f.EpisodeTitle, &f.EpisodeURI, &f.Clip, &f.ClipTitle,
				&f.Offset, &f.Duration, &f.Score)
			list = append(list, f)
			return err
		})
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
