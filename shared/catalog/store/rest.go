package store

import (
	"context"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/sqldb"
)

// A recording that could not be fetched has a problem of scope fetch, whose date is the first failure. While it is
// not to be fetched again, it also has a row of scope rest, whose date is the end of the pause; then Select leaves
// it out. Both go when its content has been read, or when it is another one.

// The pauses after failures to fetch a recording. A pause lasts as long as it has failed before, within these
// bounds, so each is twice the one before.
const (
	minRest = time.Minute
	maxRest = 48 * time.Hour
)

// forever is the end of a rest that only a visit or an operator ends.
var forever = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// restOf returns the end of the pause after a failure at a time, of a recording that failed first at first.
func restOf(r models.Researched, first, at time.Time) time.Time {
	if r.Retry == models.RetryChanged {
		return forever
	}
	pause := min(max(at.Sub(first), minRest), maxRest)
	return at.Add(max(pause, min(r.RetryAfter.Duration(), maxRest)))
}

// noteUnfetched stores that a recording could not be fetched, in place of the last such failure, and lets it rest.
// After the first failure, any answer of the server at the next check is news.
func (i ingestion) noteUnfetched(t table, number int64) error {
	first := i.at
	var since int64
	failedBefore, err := i.conn.One("SELECT at FROM problem WHERE "+string(t)+" = ? AND scope = 'fetch'", []any{number}, sqldb.Into(&since))
	if err != nil {
		return err
	}
	if failedBefore {
		first = moment(since)
	} else if t == episodes {
		if err := i.conn.Exec("UPDATE episode SET audio_uri = '' WHERE number = ?", number); err != nil {
			return err
		}
	}
	if err := forgetFailures(i.conn, t, number); err != nil {
		return err
	}
	end := restOf(i.result, first, i.at)
	for _, row := range []struct {
		scope, reason string
		at            time.Time
	}{{scopeFetch, i.result.Problem, first}, {scopeRest, "", end}} {
		if err := i.conn.Exec("INSERT INTO problem (scope, "+string(t)+", reason, at) VALUES (?, ?, ?, ?)",
			row.scope, number, shown(row.reason), stamp(row.at)); err != nil {
			return err
		}
	}
	i.conn.OnEnd(func(bool) { i.store.expectRest(end) })
	return nil
}

// forgetFailures forgets that a recording could not be fetched.
func forgetFailures(c *sqldb.Conn, t table, number int64) error {
	return c.Exec("DELETE FROM problem WHERE "+string(t)+" = ? AND scope IN ('fetch', 'rest')", number)
}

// expectRest makes Select look for rests that are over at a time, or earlier if another one ends earlier.
func (s *Store) expectRest(end time.Time) {
	for next := s.nextRest.Load(); stamp(end) < next; next = s.nextRest.Load() {
		if s.nextRest.CompareAndSwap(next, stamp(end)) {
			return
		}
	}
}

// endRest lets an episode be selected again, and reports whether it rested.
func endRest(c *sqldb.Conn, number int64, id string) (rested bool, err error) {
	n, err := c.Affect("DELETE FROM problem WHERE episode = ? AND scope = 'rest'", number)
	if err != nil || n == 0 {
		return false, err
	}
	return true, openEpisode(c, id)
}

// openAgain makes an episode, or for a clip all episodes, candidates again.
func openAgain(c *sqldb.Conn, t table, id string) error {
	if t == clips {
		return reopenEpisodes(c)
	}
	return openEpisode(c, id)
}

// listedRecording is a recording with a problem.
type listedRecording struct {
	table  table
	number int64
	id     string
}

// troubled returns the recordings that have a problem of one of the scopes, in SQL, and for which f holds. each is
// called with the latest date of these problems.
func troubled(c *sqldb.Conn, scopes string, f filter, each func(r listedRecording, at time.Time)) error {
	return c.All(`SELECT max(p.at), p.episode IS NULL, coalesce(p.episode, p.clip), min(coalesce(e.id, k.id)) FROM problem p
		LEFT JOIN episode e ON e.number = p.episode LEFT JOIN clip k ON k.number = p.clip AND p.episode IS NULL
		JOIN origin o ON o.number = coalesce(e.origin, k.origin)
		WHERE p.scope IN (`+scopes+`) AND coalesce(e.gone, k.gone) = 0`+f.sql+` GROUP BY 2, 3`, f.args, func(row sqldb.Row) error {
		var at int64
		var isClip bool
		r := listedRecording{table: episodes}
		err := row.Scan(&at, &isClip, &r.number, &r.id)
		if isClip {
			r.table = clips
		}
		each(r, moment(at))
		return err
	})
}

// endRests ends the rests that are over. It reads all problems for that, so it does so only when the earliest end
// has come, and once after the file was opened. After an error the next call goes on.
func (s *Store) endRests(ctx context.Context, op string) error {
	now := time.Now()
	if stamp(now) < s.nextRest.Load() {
		return nil
	}
	s.nextRest.Store(stamp(forever)) // before it reads, so that a rest that begins meanwhile counts
	var over []listedRecording
	err := s.db.Read(ctx, op, func(c *sqldb.Conn) error {
		over = nil
		return troubled(c, "'rest'", filter{}, func(r listedRecording, end time.Time) {
			if end.After(now) {
				s.expectRest(end)
			} else {
				over = append(over, r)
			}
		})
	})
	if err == nil {
		_, err = s.removeProblems(ctx, op, over, "'rest'")
	}
	if err != nil {
		s.expectRest(now)
	}
	return err
}

// removeProblems removes the problems of these scopes, in SQL, of each recording, makes it selectable again, and
// returns how many had one.
func (s *Store) removeProblems(ctx context.Context, op string, list []listedRecording, scopes string) (removed int, err error) {
	if len(list) == 0 {
		return 0, nil
	}
	err = s.db.Steps(ctx, op, func(c *sqldb.Conn) (done bool, err error) {
		r := list[0]
		n, err := c.Affect("DELETE FROM problem WHERE "+string(r.table)+" = ? AND scope IN ("+scopes+")", r.number)
		if err != nil {
			return false, err
		}
		if n > 0 {
			removed++
			if r.table == clips {
				s.forgetClips(c)
			}
			err = openAgain(c, r.table, r.id)
		}
		if err == nil {
			list = list[1:]
		}
		return len(list) == 0, err
	})
	return removed, err
}

// Retry makes the recordings with problems that a selects be tried again now (see catalog.Catalog). It takes
// several transactions; after an error a repeated call completes it.
func (s *Store) Retry(ctx context.Context, a catalog.About, lasting bool) (recordings int, err error) {
	const op = "catalog.Retry"
	scopes := "'rest'"
	if lasting {
		scopes = "'rest', 'episode', 'clip', 'pair'"
	}
	var list []listedRecording
	err = s.db.Read(ctx, op, func(c *sqldb.Conn) error {
		list = nil
		for t, id := range map[table]string{episodes: a.Episode, clips: a.Clip} {
			if id == "" {
				continue
			}
			if _, ok, err := versionOf(c, t, id); err != nil || !ok {
				return found(ok, err)
			}
		}
		var f filter
		f.require("o.id", a.Origin)
		f.require("e.id", a.Episode)
		f.require("k.id", a.Clip)
		return troubled(c, scopes, f, func(r listedRecording, _ time.Time) { list = append(list, r) })
	})
	if err != nil {
		return 0, err
	}
	return s.removeProblems(ctx, op, list, scopes)
}
