package sqlite

// openEpisode says that there may be something to select in an episode.
func openEpisode(c *session, id string) error {
	err := c.Exec(openAny+` WHERE id = ?`, id)
	return err
}

// openEveryEpisode says so of all.
func openEveryEpisode(c *session) error {
	err := c.Exec(openAny + ` WHERE gone = 0`)
	return err
}

const openAny = `INSERT OR REPLACE INTO candidate (episode, priority, first_curated, id)
	SELECT number, priority, first_curated, id FROM episode`

// closeEpisodes says that there is nothing to select in some episodes.
func closeEpisodes(c *session, numbers []int64) error {
	if len(numbers) == 0 {
		return nil
	}
	return c.Note(func() error {
		for _, n := range numbers {
			if err := c.Exec("DELETE FROM candidate WHERE episode = ?", n); err != nil {
				return err
			}
		}
		return nil
	})
}
