package remote

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"leasehold/models"
	"leasehold/shared/apiclient"
	"leasehold/shared/catalog"
)

var _ catalog.Catalog = (*Client)(nil)

// AddOrigin is part of catalog.Catalog.
func (c *Client) AddOrigin(ctx context.Context, o models.Origin) (isNew bool, err error) {
	var added Added
	err = c.do(ctx, call{method: "POST", path: "catalog/origins", body: o, answer: &added})
	return added.New, err
}

// Origin is part of catalog.Catalog.
func (c *Client) Origin(ctx context.Context, id string) (o models.Origin, err error) {
	err = c.do(ctx, call{method: "GET", path: "origins/" + url.PathEscape(id), answer: &o})
	return o, err
}

// Origins is part of catalog.Catalog.
func (c *Client) Origins(ctx context.Context) ([]models.Origin, error) {
	return all[models.Origin](ctx, c, "origins")
}

// RemoveOrigin is part of catalog.Catalog.
func (c *Client) RemoveOrigin(ctx context.Context, id string) error {
	return c.do(ctx, call{method: "DELETE", path: "origins/" + url.PathEscape(id)})
}

// RecordOutcome is part of catalog.Catalog.
func (c *Client) RecordOutcome(ctx context.Context, o models.Outcome) error {
	return c.do(ctx, call{method: "POST", path: "catalog/outcomes", body: o})
}

// Curate is part of catalog.Catalog.
func (c *Client) Curate(ctx context.Context, origin string, at time.Time, l catalog.Listing) (catalog.Curated, error) {
	var n Curated
	err := c.do(ctx, call{
		method: "POST", path: "catalog/curate", answer: &n, timeout: bulkTimeout,
		body: Listing{Origin: origin, At: at, Episodes: l.Episodes, Clips: l.Clips, Problems: l.Problems, Complete: l.Complete},
	})
	return catalog.Curated(n), err
}

// Episodes is part of catalog.Catalog.
func (c *Client) Episodes(ctx context.Context) ([]models.Episode, error) {
	return all[models.Episode](ctx, c, "episodes")
}

// Episode is part of catalog.Catalog.
func (c *Client) Episode(ctx context.Context, id string) (e models.Episode, err error) {
	err = c.do(ctx, call{method: "GET", path: "episodes/" + url.PathEscape(id), answer: &e})
	return e, err
}

// Clip is part of catalog.Catalog.
func (c *Client) Clip(ctx context.Context, id string) (k models.Clip, err error) {
	err = c.do(ctx, call{method: "GET", path: "clips/" + url.PathEscape(id), answer: &k})
	return k, err
}

// Clips is part of catalog.Catalog.
func (c *Client) Clips(ctx context.Context) ([]models.Clip, error) {
	return all[models.Clip](ctx, c, "clips")
}

// Select is part of catalog.Catalog.
func (c *Client) Select(ctx context.Context, busy []catalog.Busy, limit int) (models.Research, int64, error) {
	q := Selection{Limit: limit}
	for _, b := range busy {
		q.Busy = append(q.Busy, Pairs(b))
	}
	var s Selected
	err := c.do(ctx, call{method: "POST", path: "catalog/select", body: q, answer: &s, timeout: bulkTimeout})
	return s.Research, s.Priority, err
}

// Ingest is part of catalog.Catalog.
func (c *Client) Ingest(ctx context.Context, r models.Researched, at time.Time) error {
	return c.do(ctx, call{method: "POST", path: "catalog/ingest", body: Ingestion{Result: r, At: at}})
}

// Lift is part of catalog.Catalog.
func (c *Client) Lift(ctx context.Context, episode string, clips []string) error {
	return c.do(ctx, call{method: "POST", path: "catalog/lift", body: Pairs{Episode: episode, Clips: clips}})
}

// Findings is part of catalog.Catalog.
func (c *Client) Findings(ctx context.Context) ([]catalog.Found, error) {
	list, err := all[Finding](ctx, c, "findings")
	return each(list, Finding.Found), err
}

// FindingsOf is part of catalog.Catalog.
func (c *Client) FindingsOf(ctx context.Context, a catalog.About, p catalog.Part) ([]catalog.Found, int, error) {
	a.Origin = ""
	list, total, err := some[Finding](ctx, c, "findings", a, p)
	return each(list, Finding.Found), total, err
}

// ProblemsOf is part of catalog.Catalog.
func (c *Client) ProblemsOf(ctx context.Context, a catalog.About, p catalog.Part) ([]catalog.Problem, int, error) {
	list, total, err := some[Problem](ctx, c, "problems", a, p)
	return each(list, Problem.Problem), total, err
}

// Problems is part of catalog.Catalog.
func (c *Client) Problems(ctx context.Context) ([]catalog.Problem, error) {
	list, err := all[Problem](ctx, c, "problems")
	return each(list, Problem.Problem), err
}

// Totals is part of catalog.Catalog.
func (c *Client) Totals(ctx context.Context) (catalog.Totals, error) {
	var t Totals
	err := c.do(ctx, call{method: "GET", path: "totals", answer: &t})
	return catalog.Totals(t), err
}

// all reads a list page by page.
func all[T any](ctx context.Context, c *Client, path string) ([]T, error) {
	page, err := apiclient.List[T](ctx, c.api, path, nil, apiclient.PageSize, -1)
	if err != nil {
		return nil, fmt.Errorf("catalog/remote: GET %s: %w", path, err)
	}
	return page.Items, nil
}

// some reads a part of a list, page by page.
func some[T any](ctx context.Context, c *Client, path string, a catalog.About, p catalog.Part) (list []T, total int, err error) {
	for first := true; first || p.Limit != 0 && p.Offset < total; first = false {
		want := apiclient.PageSize
		if p.Limit >= 0 {
			want = min(want, p.Limit)
		}
		q := url.Values{"offset": {strconv.Itoa(p.Offset)}, "limit": {strconv.Itoa(want)}}
		for name, id := range map[string]string{"origin": a.Origin, "episode": a.Episode, "clip": a.Clip} {
			if id != "" {
				q.Set(name, id)
			}
		}
		var page apiclient.Page[T]
		if err := c.do(ctx, call{method: "GET", path: path, query: q, answer: &page}); err != nil {
			return nil, 0, err
		}
		list, total = append(list, page.Items...), page.Total
		p.Offset += want
		if p.Limit > 0 {
			p.Limit -= want
		}
	}
	return list, total, nil
}

func each[S, T any](list []S, f func(S) T) []T {
	if list == nil {
		return nil
	}
	mapped := make([]T, len(list))
	for i, s := range list {
		mapped[i] = f(s)
	}
	return mapped
}
