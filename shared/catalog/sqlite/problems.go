package sqlite

import (
	"context"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
)

// The scopes of a problem in the store: those of research and two more.
const (
	scopeItem      = "item"      // an item of an origin that cannot be curated
	scopeVisit     = "visit"     // an origin whose last visit failed
	scopeDuplicate = "duplicate" // a clip whose content is researched under another name
	scopeEpisode   = string(models.ScopeEpisode)
	scopeClip      = string(models.ScopeClip)
	scopePair      = string(models.ScopePair)
)

// trouble is one problem of research; a number of 0 stands for none.
type trouble struct {
	scope         string
	episode, clip int64
	reason        string
	at            time.Time
}

// note stores a problem. Of the same episode, clip or pair there is one at a
// time: it keeps its date unless the reason is another.
func (p trouble) note(c *session) error {
	err := c.Exec(`INSERT INTO problem (scope, episode, clip, reason, at)
		VALUES (?, nullif(?, 0), nullif(?, 0), ?, ?)
		ON CONFLICT DO UPDATE SET reason = excluded.reason, at = excluded.at WHERE reason <> excluded.reason`,
		p.scope, p.episode, p.clip, p.reason, stamp(p.at))
	return err
}

// replaceItemProblems makes list the item problems of an origin. One that was
// there before keeps its date.
func replaceItemProblems(c *session, origin int64, list []models.Problem, at time.Time) error {
	type what struct{ item, reason string }
	since := map[what]int64{}
	err := c.All("SELECT item, reason, at FROM problem WHERE origin = ? AND scope = ? ORDER BY at DESC", []any{origin, scopeItem}, func(row scanner) error {
		var w what
		var us int64
		err := row.Scan(&w.item, &w.reason, &us)
		since[w] = us
		return err
	})
	if err != nil {
		return err
	}
	if err := c.Exec("DELETE FROM problem WHERE origin = ? AND scope = ?", origin, scopeItem); err != nil {
		return err
	}
	for _, p := range list {
		us, known := since[what{p.Item, p.Reason}]
		if !known {
			us = stamp(at)
		}
		if err := c.Exec("INSERT INTO problem (scope, origin, item, reason, at) VALUES (?, ?, ?, ?, ?)",
			scopeItem, origin, p.Item, p.Reason, us); err != nil {
			return err
		}
	}
	return nil
}

// replaceVisitProblem notes that the last visit of an origin failed, or that it no
// longer does.
func replaceVisitProblem(c *session, origin int64, o models.Outcome) error {
	if err := c.Exec("DELETE FROM problem WHERE origin = ? AND scope = ?", origin, scopeVisit); err != nil {
		return err
	}
	if o.Status != models.Failed && o.Status != models.NotFound {
		return nil
	}
	err := c.Exec("INSERT INTO problem (scope, origin, reason, at) VALUES (?, ?, ?, ?)", scopeVisit, origin, o.Error, stamp(o.At))
	return err
}

// fromProblems joins a problem with what it is about, without what is gone. The
// origin is its own, or that of its episode, or that of its clip.
const fromProblems = ` FROM problem p
	LEFT JOIN episode e ON e.number = p.episode
	LEFT JOIN clip k ON k.number = p.clip
	JOIN origin o ON o.number = coalesce(p.origin, e.origin, k.origin)
	WHERE coalesce(e.gone, 0) = 0 AND coalesce(k.gone, 0) = 0`

// Problems is part of catalog.Catalog.
func (s *Store) Problems(ctx context.Context) (list []catalog.Problem, err error) {
	err = s.use(ctx, "catalog.Problems", func(c *session) error {
		list, err = problems(c, filter{}, catalog.Part{Limit: -1})
		return err
	})
	return list, err
}

// ProblemsOf is part of catalog.Catalog.
func (s *Store) ProblemsOf(ctx context.Context, a catalog.About, p catalog.Part) (list []catalog.Problem, total int, err error) {
	err = s.use(ctx, "catalog.ProblemsOf", func(c *session) error {
		var f filter
		f.is("o.id", a.Origin)
		f.is("e.id", a.Episode)
		f.is("k.id", a.Clip)
		if total, err = f.count(c, fromProblems); err != nil {
			return err
		}
		list, err = problems(c, f, p)
		return err
	})
	return list, total, err
}

func problems(c *session, f filter, p catalog.Part) (list []catalog.Problem, err error) {
	query, args := f.part(`SELECT o.id, o.uri, coalesce(e.name, k.name, p.item), coalesce(e.id, ''), coalesce(e.title, ''),
		coalesce(k.id, ''), coalesce(k.title, ''), p.reason, p.at`+fromProblems, ` ORDER BY p.at, p.number`, p)
	err = c.All(query, args, func(row scanner) error {
		var p catalog.Problem
		var at int64
		err := row.Scan(&p.OriginID, &p.OriginURI, &p.Item, &p.EpisodeID, &p.EpisodeTitle,
			&p.ClipID, &p.ClipTitle, &p.Reason, &at)
		p.At = moment(at)
		list = append(list, p)
		return err
	})
	return list, err
}
