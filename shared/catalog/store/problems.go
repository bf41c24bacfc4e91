package store

import (
	"context"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/sqldb"
)

// The scopes of a row in the table of problems: those of research and six more.
const (
	scopeItem      = "item"      // an item of an origin that cannot be curated
	scopeVisit     = "visit"     // an origin whose last visit failed
	scopeMove      = "move"      // an origin that cannot move to its new address
	scopeDuplicate = "duplicate" // a clip whose content is researched under another name
	scopeFetch     = "fetch"     // a recording that could not be fetched
	scopeRest      = "rest"      // no problem, but when the pause after scopeFetch ends
	scopeEpisode   = string(models.ScopeEpisode)
	scopeClip      = string(models.ScopeClip)
	scopePair      = string(models.ScopePair)
	scopePart      = string(models.ScopePart)
)

// problem is one problem of research; a number of 0 stands for none.
type problem struct {
	scope         string
	episode, clip int64
	reason        string
	at            time.Time
}

// note stores a problem. It replaces one of the same scope, episode and clip. If the reason is the same, nothing
// changes, so that the date stays the first one.
func (p problem) note(c *sqldb.Conn) error {
	return c.Exec("INSERT INTO problem (scope, episode, clip, reason, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT "+uniqueProblem[p.scope]+
		" DO UPDATE SET reason = excluded.reason, at = excluded.at WHERE problem.reason <> excluded.reason",
		p.scope, orNull(p.episode), orNull(p.clip), shown(p.reason), stamp(p.at))
}

// uniqueProblem has the unique index that allows a recording one problem of a scope.
var uniqueProblem = map[string]string{
	scopeEpisode:   "(episode) WHERE scope = 'episode'",
	scopePart:      "(episode) WHERE scope = 'part'",
	scopePair:      "(episode, clip) WHERE scope = 'pair'",
	scopeClip:      "(clip, scope) WHERE scope IN ('clip', 'duplicate')",
	scopeDuplicate: "(clip, scope) WHERE scope IN ('clip', 'duplicate')",
}

// orNull returns a number for a column; NULL for 0.
func orNull(number int64) any {
	if number == 0 {
		return nil
	}
	return number
}

// replaceVisitProblem removes the problem of the last visit of an origin, and stores one if the visit that ended
// with o failed or found nothing at the origin's address.
func replaceVisitProblem(c *sqldb.Conn, origin int64, o models.Outcome) error {
	if err := c.Exec("DELETE FROM problem WHERE origin = ? AND scope = ?", origin, scopeVisit); err != nil {
		return err
	}
	if o.Status != models.Failed && o.Status != models.NotFound {
		return nil
	}
	return c.Exec("INSERT INTO problem (scope, origin, reason, at) VALUES (?, ?, ?, ?)", scopeVisit, origin, shown(o.Error), stamp(o.At))
}

// replaceMoveProblem makes a reason the only problem of an origin's move, or removes that if the reason is empty. One
// with the same reason stays, with its date.
func replaceMoveProblem(c *sqldb.Conn, origin int64, reason string, at time.Time) error {
	reason = shown(reason)
	if err := c.Exec("DELETE FROM problem WHERE origin = ? AND scope = ? AND reason <> ?", origin, scopeMove, reason); err != nil || reason == "" {
		return err
	}
	return c.Exec(`INSERT INTO problem (scope, origin, reason, at) SELECT ?1, ?2, ?3, ?4
		WHERE NOT EXISTS (SELECT 1 FROM problem WHERE origin = ?2 AND scope = ?1)`, scopeMove, origin, reason, stamp(at))
}

// fromProblems joins a problem with what it is about, without rests, those that are gone and those that their feed no
// longer lists. The origin is its own, or else the origin of its episode or clip.
const fromProblems = ` FROM problem p
	LEFT JOIN episode e ON e.number = p.episode
	LEFT JOIN clip k ON k.number = p.clip
	JOIN origin o ON o.number = coalesce(p.origin, e.origin, k.origin)
	WHERE p.scope <> 'rest' AND coalesce(e.gone, 0) = 0 AND coalesce(k.gone, 0) = 0 AND coalesce(e.unlisted, 0) = 0`

// oneCause groups the problems of pairs of one episode with one reason, because an episode
// that cannot be fetched fails for each of its clips: they are one problem for people.
const (
	cause    = `CASE WHEN p.scope = 'pair' THEN p.episode || ' ' || p.reason ELSE '' || p.number END`
	oneCause = ` GROUP BY ` + cause
)

// restEnd is when the recording of a problem is fetched again, 0 unless it rests.
const restEnd = `CASE WHEN p.scope = 'fetch' THEN coalesce((SELECT r.at FROM problem r
	WHERE r.scope = 'rest' AND (r.episode = p.episode OR r.clip = p.clip)), 0) ELSE 0 END`

// harmless is catalog.Problem.Harmless.
const harmless = `p.scope = 'duplicate' OR (p.scope = 'fetch' AND NOT EXISTS (SELECT 1 FROM problem r
	WHERE r.scope = 'rest' AND (r.episode = p.episode OR r.clip = p.clip)))`

// noClip is catalog.Problem.NoClip. A clip that is listed may have a problem too, which is advice.
const noClip = `p.scope = 'item' AND o.kind = 'clips' AND coalesce(p.item, '') <> '' AND
	NOT EXISTS (SELECT 1 FROM clip c WHERE c.origin = p.origin AND c.name = p.item AND c.gone = 0)`

// countProblems counts the problems that f selects; those with one cause are one.
func countProblems(c *sqldb.Conn, f filter) (n int, err error) {
	_, err = c.One("SELECT count(*) FROM (SELECT 1"+fromProblems+f.sql+oneCause+") AS causes", f.args, sqldb.Into(&n))
	return n, err
}

// Problems reads one snapshot, however long the list is.
func (s *Store) Problems(ctx context.Context) (list []catalog.Problem, err error) {
	err = s.db.Read(ctx, "catalog.Problems", func(c *sqldb.Conn) error {
		list, err = problems(c, filter{}, catalog.Part{Limit: -1})
		return err
	})
	return list, err
}

// ProblemsOf counts and lists in one snapshot, so that the total fits the page. Unknown ids have no problems;
// they are not an error.
func (s *Store) ProblemsOf(ctx context.Context, a catalog.About, p catalog.Part) (list []catalog.Problem, total int, err error) {
	err = s.db.Read(ctx, "catalog.ProblemsOf", func(c *sqldb.Conn) error {
		var f filter
		f.require("o.id", a.Origin)
		f.require("e.id", a.Episode)
		f.require("k.id", a.Clip)
		if total, err = countProblems(c, f); err != nil {
			return err
		}
		list, err = problems(c, f, p)
		return err
	})
	return list, total, err
}

// problems lists part p of the problems that f selects, oldest first. Those with one cause are one row, with the
// number of clips instead of a clip.
func problems(c *sqldb.Conn, f filter, p catalog.Part) (list []catalog.Problem, err error) {
	// Several problems with one cause are those of pairs. They differ in the clip and the time only.
	query, args := f.part(`SELECT min(o.id), min(o.uri), min(coalesce(e.name, k.name, p.item)), min(coalesce(e.id, '')), min(coalesce(e.title, '')),
		CASE WHEN count(*) > 1 THEN '' ELSE min(coalesce(k.id, '')) END, CASE WHEN count(*) > 1 THEN '' ELSE min(coalesce(k.title, '')) END,
		CASE WHEN count(*) > 1 THEN count(*) ELSE 0 END, min(p.reason), min(p.at), min(`+restEnd+`),
		min(CASE WHEN `+harmless+` THEN 1 ELSE 0 END), min(CASE WHEN `+noClip+` THEN 1 ELSE 0 END)`+
		fromProblems, oneCause+` ORDER BY min(p.at), min(p.number)`, p)
	err = c.All(query, args, func(row sqldb.Row) error {
		var p catalog.Problem
		var at, retryAt int64
		err := row.Scan(&p.OriginID, &p.OriginURI, &p.Item, &p.EpisodeID, &p.EpisodeTitle,
			&p.ClipID, &p.ClipTitle, &p.Clips, &p.Reason, &at, &retryAt, &p.Harmless, &p.NoClip)
		p.At = moment(at)
		if retryAt != 0 && retryAt != stamp(forever) {
			p.RetryAt = moment(retryAt)
		}
		list = append(list, p)
		return err
	})
	return list, err
}
