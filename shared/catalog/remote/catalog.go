package remote

import (
	"context"
	"fmt"
	"net/url"
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
