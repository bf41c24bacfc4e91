package store

import (
	"context"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/process/wording"
)

// unfetchedShare is how many times limit AudioToCheck returns of episodes that could not be fetched.
const unfetchedShare = 4

// AudioToCheck returns at most limit episodes whose audio was checked longest ago, with the headers of the last
// check unless the address has changed since, and then unfetchedShare times as many that could not be fetched. It
// reads all episodes of the origin, because an index by the time of the check would have to be written at each
// check. A limit below 0 is 0. fault.ErrNotFound: the origin is unknown.
func (s *Store) AudioToCheck(ctx context.Context, origin string, limit int) (list []models.Audio, err error) {
	limit = max(limit, 0)
	err = s.db.Read(ctx, "catalog.AudioToCheck "+origin, func(c *sqldb.Conn) error {
		list = nil
		number, err := originNumber(c, origin)
		if err != nil {
			return err
		}
		if list, err = audioToCheck(c, list, number, "NOT EXISTS", limit); err != nil {
			return err
		}
		list, err = audioToCheck(c, list, number, "EXISTS", limit*unfetchedShare)
		return err
	})
	return list, err
}

// audioToCheck appends at most limit episodes of an origin to list. exists, EXISTS or NOT EXISTS, selects those
// that could not be fetched or the others.
func audioToCheck(c *sqldb.Conn, list []models.Audio, origin int64, exists string, limit int) ([]models.Audio, error) {
	err := c.All(`SELECT id, uri, CASE WHEN audio_uri = uri THEN audio_etag ELSE '' END, CASE WHEN audio_uri = uri THEN audio_modified ELSE '' END,
			CASE WHEN audio_uri = uri THEN audio_bytes ELSE 0 END
		FROM episode WHERE origin = ? AND gone = 0 AND unlisted = 0 AND (lower(uri) LIKE 'http://%' OR lower(uri) LIKE 'https://%')
			AND `+exists+` (SELECT 1 FROM problem p WHERE p.episode = episode.number AND p.scope = 'fetch')
		ORDER BY audio_checked, first_curated DESC, id LIMIT ?`, []any{origin, limit}, func(row sqldb.Row) error {
		var a models.Audio
		err := row.Scan(&a.Episode, &a.URI, &a.ETag, &a.Modified, &a.Bytes)
		list = append(list, a)
		return err
	})
	return list, err
}

// AudioChecked records checks at the time at, and returns how many episodes are to be researched
// again. It works in transactions of a few episodes each; after an error the checks of the
// earlier ones are recorded, and recording them again changes nothing.
func (s *Store) AudioChecked(ctx context.Context, at time.Time, checked []models.Audio) (replaced int, err error) {
	err = s.db.Steps(ctx, "catalog.AudioChecked", func(c *sqldb.Conn) (done bool, err error) {
		if len(checked) == 0 {
			return true, nil
		}
		check := checked[0]
		check.ETag, check.Modified = wording.Storable(check.ETag), wording.Storable(check.Modified)
		stored, again, err := storeCheck(c, at, check)
		if err != nil {
			return false, err
		}
		if again {
			replaced++
		}
		if stored {
			checked = checked[1:]
		}
		return len(checked) == 0, nil
	})
	return replaced, err
}

// storeCheck records one check. stored is true once it is recorded. It is false if storeCheck must be called
// again in another transaction, because there is much to delete. again is true if the episode is to be researched
// again: its audio was replaced, or it could not be fetched and now the server answers, or reports something else
// than at the last check. If the episode is unknown, gone or has another URI, there is nothing to record: stored
// is true and again false. Replaced audio is a new version, so the episode is a candidate again.
func storeCheck(c *sqldb.Conn, at time.Time, a models.Audio) (stored, again bool, err error) {
	old, known, err := versionOf(c, episodes, a.Episode)
	if err != nil || !known || old.gone {
		return true, false, err
	}
	last := models.Audio{Episode: a.Episode}
	var uri string
	if _, err := c.One("SELECT uri, audio_uri, audio_etag, audio_modified, audio_bytes FROM episode WHERE number = ?", []any{old.number},
		sqldb.Into(&uri, &last.URI, &last.ETag, &last.Modified, &last.Bytes)); err != nil || uri != a.URI {
		return true, false, err
	}
	if a.Silent {
		// Of an episode that could not be fetched, the next answer is news.
		return true, false, c.Exec(`UPDATE episode SET audio_checked = ?1, audio_uri = CASE WHEN EXISTS
			(SELECT 1 FROM problem p WHERE p.episode = ?2 AND p.scope = 'fetch') THEN '' ELSE audio_uri END WHERE number = ?2`, stamp(at), old.number)
	}
	version := models.NewID(old.listed, a.ETag, a.Modified, fmt.Sprint(a.Bytes))
	again = a.Replaced && version != old.version
	if again { // an equal version was recorded by an earlier call
		if cleared, err := clearResearch(c, old.number); err != nil || !cleared {
			return false, false, err
		}
		if err := c.Exec("UPDATE episode SET version = ?, listed_version = ?, hash = '' WHERE number = ?", version, old.listed, old.number); err != nil {
			return false, false, err
		}
		if err := openEpisode(c, a.Episode); err != nil {
			return false, false, err
		}
	}
	if last.Replaced = a.Replaced; last != a && !again {
		if again, err = endRest(c, old.number, a.Episode); err != nil {
			return false, false, err
		}
	}
	return true, again, c.Exec("UPDATE episode SET audio_checked = ?, audio_uri = ?, audio_etag = ?, audio_modified = ?, audio_bytes = ? WHERE number = ?",
		stamp(at), a.URI, a.ETag, a.Modified, a.Bytes, old.number)
}

// clearResearch deletes the research of an episode except its findings, because its audio is another one now: at
// most 100 of its problems, or if fewer are left all of them, the set of researched clips and the waveform. It returns false if
// problems may be left: call it again in another transaction. The findings stay until results of the new research
// replace them.
func clearResearch(c *sqldb.Conn, episode int64) (cleared bool, err error) {
	const rows = 100
	n, err := c.Affect("DELETE FROM problem WHERE number IN (SELECT number FROM problem WHERE episode = ? LIMIT ?)", episode, rows)
	if err != nil || n == rows {
		return false, err
	}
	if err := c.Exec("DELETE FROM waveform WHERE episode = ?", episode); err != nil {
		return false, err
	}
	return true, c.Exec("DELETE FROM researched WHERE episode = ?", episode)
}

// allClips stands for each clip of an episode, in place of the number of one.
const allClips = 0

// deleteOldFindings deletes the findings of an episode, or of one of its clips unless clip is allClips, that were
// not found in the current version of the episode: those of clips that are not marked as researched.
func deleteOldFindings(c *sqldb.Conn, episode, clip int64) error {
	researched, err := loadResearched(c, episode)
	if err != nil {
		return err
	}
	var old []int64
	query, args := "SELECT DISTINCT clip FROM finding WHERE episode = ?", []any{episode}
	if clip != allClips {
		query, args = query+" AND clip = ?", append(args, clip)
	}
	err = c.All(query, args, func(row sqldb.Row) error {
		var n int64
		err := row.Scan(&n)
		if !researched.Contains(uint32(n)) {
			old = append(old, n)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, n := range old {
		if err := c.Exec("DELETE FROM finding WHERE episode = ? AND clip = ?", episode, n); err != nil {
			return err
		}
	}
	return nil
}
