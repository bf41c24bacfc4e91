package catalog

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"leasehold/models"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
)

var _ catalog.Catalog = (*Client)(nil)

// AddOrigin may report a new origin as known (package comment). It fails with fault.ErrInvalid if the origin is
// invalid.
func (c *Client) AddOrigin(ctx context.Context, o models.Origin) (isNew bool, err error) {
	added, err := post[types.Added](ctx, c, "catalog/origins", o, 0)
	return added.New, err
}

// SetOriginPriority sends one priority. It fails with fault.ErrNotFound if the id is unknown.
func (c *Client) SetOriginPriority(ctx context.Context, id string, priority int64) (models.Origin, error) {
	return setPriority[models.Origin](ctx, c, "origins/"+url.PathEscape(id), &priority)
}

// Origin requests one origin. It fails with fault.ErrNotFound if the id is unknown.
func (c *Client) Origin(ctx context.Context, id string) (models.Origin, error) {
	return get[models.Origin](ctx, c, "catalog/origins/"+url.PathEscape(id))
}

// Origins reads the list in pages.
func (c *Client) Origins(ctx context.Context) ([]models.Origin, error) {
	return all[models.Origin](ctx, c, "origins")
}

// RemoveOrigin may return fault.ErrNotFound for an origin that it removed (package comment).
func (c *Client) RemoveOrigin(ctx context.Context, id string) error {
	return c.do(ctx, client.Call{Method: "DELETE", Path: "origins/" + url.PathEscape(id)})
}

// RecordOutcome sends one outcome. It fails with fault.ErrNotFound for an unknown origin.
func (c *Client) RecordOutcome(ctx context.Context, o models.Outcome) error {
	_, err := post[struct{}](ctx, c, "catalog/outcomes", o, 0)
	return err
}

// Curate sends the listing in one request, which the coordinator limits to 64 MiB. A larger one fails with
// fault.ErrTooLarge.
func (c *Client) Curate(ctx context.Context, origin string, at time.Time, l catalog.Listing) (catalog.Curated, error) {
	return post[catalog.Curated](ctx, c, "catalog/curate", types.Listing{Origin: origin, At: at, Listing: l}, bulkTimeout)
}

// AudioToCheck requests one list; it has at most limit items, so it needs no pages.
func (c *Client) AudioToCheck(ctx context.Context, origin string, limit int) ([]models.Audio, error) {
	var audio types.Audio
	q := url.Values{"origin": {origin}, "limit": {strconv.Itoa(limit)}}
	err := c.do(ctx, client.Call{Method: "GET", Path: "catalog/audio", Query: q, Answer: &audio})
	return audio.Items, err
}

// AudioChecked sends all checks in one request.
func (c *Client) AudioChecked(ctx context.Context, at time.Time, checked []models.Audio) (int, error) {
	r, err := post[types.Replaced](ctx, c, "catalog/audio", types.Audio{At: at, Items: checked}, 0)
	return r.Replaced, err
}

// Episodes reads the list in pages.
func (c *Client) Episodes(ctx context.Context) ([]models.Episode, error) {
	return all[models.Episode](ctx, c, "episodes")
}

// EpisodesOf reads the part in pages.
func (c *Client) EpisodesOf(ctx context.Context, f catalog.EpisodeFilter, p catalog.Part) ([]catalog.EpisodeProgress, int, error) {
	return readPart[catalog.EpisodeProgress](ctx, c, "episodes", map[string]string{"origin": f.Origin, "title": f.Title}, p)
}

// Episode requests one episode. It fails with fault.ErrNotFound if the id is unknown.
func (c *Client) Episode(ctx context.Context, id string) (models.Episode, error) {
	return get[models.Episode](ctx, c, "episodes/"+url.PathEscape(id))
}

// Waveform requests one waveform. It fails with fault.ErrNotFound if there is none.
func (c *Client) Waveform(ctx context.Context, episode string) (models.Waveform, error) {
	return get[models.Waveform](ctx, c, "episodes/"+url.PathEscape(episode)+"/waveform")
}

// Clip requests one clip. It fails with fault.ErrNotFound if the id is unknown.
func (c *Client) Clip(ctx context.Context, id string) (models.Clip, error) {
	return get[models.Clip](ctx, c, "clips/"+url.PathEscape(id))
}

// SetEpisodePriority sends one priority.
func (c *Client) SetEpisodePriority(ctx context.Context, id string, priority *int64) (models.Episode, error) {
	return setPriority[models.Episode](ctx, c, "episodes/"+url.PathEscape(id), priority)
}

// SetClipPriority sends one priority.
func (c *Client) SetClipPriority(ctx context.Context, id string, priority *int64) (models.Clip, error) {
	return setPriority[models.Clip](ctx, c, "clips/"+url.PathEscape(id), priority)
}

// setPriority sends the priority of the origin or recording at path, or deletes the one that was set if priority
// is nil, and returns the item.
func setPriority[T any](ctx context.Context, c *Client, path string, priority *int64) (item T, err error) {
	x := client.Call{Method: "DELETE", Path: path + "/priority", Answer: &item}
	if priority != nil {
		x = client.Call{Method: "PATCH", Path: path, Body: types.Priority{Priority: priority}, Answer: &item}
	}
	return item, c.do(ctx, x)
}

// Clips reads the list in pages.
func (c *Client) Clips(ctx context.Context) ([]models.Clip, error) {
	return all[models.Clip](ctx, c, "clips")
}

// Select waits longer than other calls, because it may read the whole catalog. It returns fault.ErrNotFound if
// nothing is left.
func (c *Client) Select(ctx context.Context, busy []catalog.Busy, l catalog.Limits) (models.Research, int64, error) {
	s, err := post[types.Selected](ctx, c, "catalog/select", types.Selection{Busy: busy, Limits: l}, bulkTimeout)
	return s.Research, s.Priority, err
}

// Ingest sends one result. It fails with fault.ErrInvalid if the result is invalid.
func (c *Client) Ingest(ctx context.Context, r models.Researched, at time.Time) error {
	_, err := post[struct{}](ctx, c, "catalog/ingest", types.Ingestion{Result: r, At: at}, 0)
	return err
}

// Lift sends the pairs in one request.
func (c *Client) Lift(ctx context.Context, episode string, clips []string) error {
	_, err := post[struct{}](ctx, c, "catalog/lift", catalog.Busy{Episode: episode, Clips: clips}, 0)
	return err
}

// Retry sends one request. Repeated after a lost answer, it may count fewer recordings.
func (c *Client) Retry(ctx context.Context, a catalog.About, lasting bool) (int, error) {
	r, err := post[types.Retried](ctx, c, "problems/retry", types.Retry{Origin: a.Origin, Episode: a.Episode, Clip: a.Clip, Lasting: lasting}, bulkTimeout)
	return r.Recordings, err
}

// Findings reads the list in pages.
func (c *Client) Findings(ctx context.Context) ([]catalog.Finding, error) {
	return all[catalog.Finding](ctx, c, "findings")
}

// FindingsOf reads the part in pages.
func (c *Client) FindingsOf(ctx context.Context, a catalog.About, p catalog.Part) ([]catalog.Finding, int, error) {
	// The API refuses an origin, and it does not select findings.
	return readPart[catalog.Finding](ctx, c, "findings", map[string]string{"episode": a.Episode, "clip": a.Clip}, p)
}

// ProblemsOf reads the part in pages.
func (c *Client) ProblemsOf(ctx context.Context, a catalog.About, p catalog.Part) ([]catalog.Problem, int, error) {
	return readPart[catalog.Problem](ctx, c, "problems", map[string]string{"origin": a.Origin, "episode": a.Episode, "clip": a.Clip}, p)
}

// Problems reads the list in pages.
func (c *Client) Problems(ctx context.Context) ([]catalog.Problem, error) {
	return all[catalog.Problem](ctx, c, "problems")
}

// Totals requests the counts.
func (c *Client) Totals(ctx context.Context) (catalog.Totals, error) {
	return get[catalog.Totals](ctx, c, "totals")
}

// all reads a whole list in pages. If a page cannot be read, it returns that error and no rows.
func all[T any](ctx context.Context, c *Client, path string) ([]T, error) {
	page, err := client.List[T](ctx, c.api, path, nil, client.PageSize, client.All)
	if err != nil {
		return nil, fmt.Errorf("catalog/remote: GET %s: %w", path, err)
	}
	return page.Items, nil
}

// readPart reads part p of the items that the parameters of filter select, in pages, and returns how many they select
// in all. An empty parameter is left out. A negative p.Limit reads all from p.Offset on. It sends at least one request, because a limit of 0 still counts.
func readPart[T any](ctx context.Context, c *Client, path string, filter map[string]string, p catalog.Part) (list []T, total int, err error) {
	for first := true; first || p.Limit != 0 && p.Offset < total; first = false {
		want := client.PageSize
		if p.Limit >= 0 {
			want = min(want, p.Limit)
		}
		q := url.Values{"offset": {strconv.Itoa(p.Offset)}, "limit": {strconv.Itoa(want)}}
		for name, value := range filter {
			if value != "" {
				q.Set(name, value)
			}
		}
		var page types.Page[T]
		if err := c.do(ctx, client.Call{Method: "GET", Path: path, Query: q, Answer: &page}); err != nil {
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
