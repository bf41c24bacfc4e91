package store

import (
	"context"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
)

// Ingest stores the whole result in one transaction, because it concerns at most one task. It fails with
// fault.ErrInvalid if the result is invalid. After an error nothing is stored.
func (s *Store) Ingest(ctx context.Context, r models.Researched, at time.Time) error {
	op := "catalog.Ingest " + r.Episode
	if err := validResearched(r); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return s.db.Write(ctx, op, func(c *sqldb.Conn) error {
		return ingestion{store: s, conn: c, result: r, at: at}.run()
	})
}

// ingestion is one result on its way into the store.
type ingestion struct {
	store  *Store
	conn   *sqldb.Conn
	result models.Researched
	at     time.Time
}

// run stores the result: a problem of the episode, of clips or of pairs, or the research of clips, perhaps with a
// problem of a part of the episode. Parts that are for other versions than the catalog's are dropped without an
// error, because the recording is researched again; a problem of a clip does not depend on the version of the
// episode.
func (i ingestion) run() error {
	episode, current, err := i.currentEpisode()
	if err != nil {
		return err
	}
	if current && i.result.Waveform != nil {
		if err := saveWaveform(i.conn, episode, *i.result.Waveform); err != nil {
			return err
		}
	}
	if i.result.Problem != "" && i.result.Scope == models.ScopeEpisode {
		if !current {
			return nil
		}
		if i.result.Retry != models.RetryNever {
			return i.noteUnfetched(episodes, episode)
		}
		if err := forgetFailures(i.conn, episodes, episode); err != nil {
			return err
		}
		if err := deleteOldFindings(i.conn, episode, allClips); err != nil {
			return err
		}
		return problem{scope: scopeEpisode, episode: episode, reason: i.result.Problem, at: i.at}.note(i.conn)
	}
	numbers, err := i.currentClips()
	if err != nil {
		return err
	}
	switch {
	case i.result.Problem != "" && i.result.Scope == models.ScopeClip:
		return i.noteClipProblems(numbers)
	case !current:
		return nil
	case i.result.Problem != "" && i.result.Scope == models.ScopePair:
		return i.notePairProblems(episode, numbers)
	case i.result.Problem != "": // of a part of the episode; the research of the rest is stored, too
		if err := (problem{scope: scopePart, episode: episode, reason: i.result.Problem, at: i.at}).note(i.conn); err != nil {
			return err
		}
	}
	return i.storeResearch(episode, numbers)
}

// currentEpisode returns the number of the episode if the catalog has it at the version that the result is for;
// then current is true. Otherwise it returns 0 and false, without an error. It stores the hash of the result if
// the catalog has none.
func (i ingestion) currentEpisode() (number int64, current bool, err error) {
	v, ok, err := versionOf(i.conn, episodes, i.result.Episode)
	if err != nil || !ok || v.version != i.result.EpisodeMedia.Version {
		return 0, false, err
	}
	if hash := storableHash(i.result.EpisodeMedia.Hash); v.hash == "" && hash != "" {
		err = i.conn.Exec("UPDATE episode SET hash = ? WHERE number = ?", hash, v.number)
	}
	return v.number, true, err
}

// currentClips returns, by id, the numbers of those clips that the catalog has at the version that the result is
// for; others are left out, without an error. It stores their hashes if the catalog has none.
func (i ingestion) currentClips() (map[string]int64, error) {
	numbers := make(map[string]int64, len(i.result.Clips))
	for _, id := range i.result.Clips {
		v, ok, err := versionOf(i.conn, clips, id)
		if err != nil {
			return nil, err
		}
		media := i.result.ClipMedia[id]
		if !ok || v.version != media.Version {
			continue
		}
		numbers[id] = v.number
		if hash := storableHash(media.Hash); v.hash == "" && hash != "" {
			if err := i.learnHash(id, v.number, hash); err != nil {
				return nil, err
			}
		}
	}
	return numbers, nil
}

// learnHash stores the hash of a clip that was not known. If the clip turns out to be a duplicate, or an
// original, the cached set of selectable clips is dropped; otherwise only its hash in the set changes, when the
// transaction commits. The epoch rises in both cases, so that a set read meanwhile is not kept.
func (i ingestion) learnHash(id string, number int64, hash string) error {
	if err := i.conn.Exec("UPDATE clip SET hash = ? WHERE number = ?", hash, number); err != nil {
		return err
	}
	changed, err := i.store.markDuplicates(i.conn, hash, number)
	if err != nil {
		return err
	}
	if changed {
		i.store.forgetClips(i.conn)
		return nil
	}
	i.conn.OnEnd(func(committed bool) {
		i.store.clipsEpoch++
		if set := i.store.clips; committed && set != nil {
			set.setHash(id, hash)
			set.epoch = i.store.clipsEpoch
		}
	})
	return nil
}

// noteClipProblems stores the problem for each of the clips, which are not selectable then, or not for a while.
func (i ingestion) noteClipProblems(numbers map[string]int64) error {
	i.store.forgetClips(i.conn)
	for _, n := range numbers {
		if i.result.Retry != models.RetryNever {
			if err := i.noteUnfetched(clips, n); err != nil {
				return err
			}
			continue
		}
		if err := forgetFailures(i.conn, clips, n); err != nil {
			return err
		}
		if err := (problem{scope: scopeClip, clip: n, reason: i.result.Problem, at: i.at}).note(i.conn); err != nil {
			return err
		}
	}
	return nil
}

// notePairProblems notes the problem for each pair that was not researched, and deletes the findings of earlier
// versions. A pair that was researched stays so, because another attempt succeeded. numbers are the numbers of
// the result's clips.
func (i ingestion) notePairProblems(episode int64, numbers map[string]int64) error {
	researched, err := loadResearched(i.conn, episode)
	if err != nil {
		return err
	}
	for _, n := range numbers {
		if researched.Contains(uint32(n)) {
			continue
		}
		p := problem{scope: scopePair, episode: episode, clip: n, reason: i.result.Problem, at: i.at}
		if err := p.note(i.conn); err != nil {
			return err
		}
		if err := deleteOldFindings(i.conn, episode, n); err != nil {
			return err
		}
	}
	return nil
}

// storeResearch marks the pairs of the episode and the clips in numbers as researched. The findings of the
// result, which may be none, replace theirs, and their problems are lifted. All is in the caller's transaction,
// so a repeated result changes nothing.
func (i ingestion) storeResearch(episode int64, numbers map[string]int64) error {
	researched, err := loadResearched(i.conn, episode)
	if err == nil {
		err = forgetFailures(i.conn, episodes, episode)
	}
	if err != nil {
		return err
	}
	findings := map[string][]models.Finding{}
	for _, f := range i.result.Findings {
		findings[f.Clip] = append(findings[f.Clip], f)
	}
	for id, n := range numbers {
		if err := replaceFindings(i.conn, episode, n, findings[id]); err != nil {
			return err
		}
		if err := i.conn.Exec("DELETE FROM problem WHERE episode = ? AND clip = ? AND scope = 'pair'", episode, n); err != nil {
			return err
		}
		if err := forgetFailures(i.conn, clips, n); err != nil {
			return err
		}
		researched.Add(uint32(n))
	}
	return saveResearched(i.conn, episode, researched)
}
