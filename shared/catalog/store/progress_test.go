package store

import (
	"strings"
	"testing"

	"leasehold/shared/catalog"
	"leasehold/shared/catalog/sqldb"
)

func TestAPageOfEpisodesIsChosenFromAnIndex(t *testing.T) {
	t.Parallel()
	s := openStore(t, newPath(t))
	fill(t, s, 200, 10)
	for name, of := range map[string]catalog.EpisodeFilter{"all": {}, "title": {Title: "many"}} {
		query, args := episodesQuery(episodeFilter(of), catalog.Part{Offset: 100, Limit: 50})
		var plan []string
		err := s.db.Read(t.Context(), "plan", func(c *sqldb.Conn) error {
			return c.All("EXPLAIN QUERY PLAN "+query, args, func(row sqldb.Row) error {
				var id, parent, unused int
				var detail string
				err := row.Scan(&id, &parent, &unused, &detail)
				plan = append(plan, detail)
				return err
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(plan, "\n")
		page, rest, _ := strings.Cut(text, "SCAN page")
		if !strings.Contains(page, "SCAN r USING COVERING INDEX episode_order") || strings.Contains(page, "TEMP B-TREE") {
			t.Errorf("%s: the page is not chosen from the index:\n%s", name, text)
		}
		if strings.Contains(rest, "SCAN") {
			t.Errorf("%s: the progress of an episode reads a whole table:\n%s", name, text)
		}
	}
}
