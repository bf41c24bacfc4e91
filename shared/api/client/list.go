package client

import (
	"context"
	"maps"
	"net/url"
	"strconv"

	"leasehold/shared/api/types"
)

// The maximum number of items that the API returns in one response.
const (
	PageSize   = 10_000
	TuplesPage = 1_000 // of lists whose items may be large: tuples, tasks, dead letters
)

// All is a maximum that lists everything.
const All = -1

// List reads a list in pages of at most size items until it has most items, and returns
// one page with Items in the order of the list, Omitted (too large to send) and Total. A
// most of 0 only counts them, and a negative most, such as All, reads all. Omitted items
// count towards most. Items that are added or removed meanwhile may be missing or twice.
func List[T any](ctx context.Context, c *Client, path string, query url.Values, size, most int) (types.Page[T], error) {
	var all types.Page[T]
	for offset := 0; ; {
		want := size
		if most >= 0 {
			want = min(size, most-offset)
		}
		q := url.Values{}
		maps.Copy(q, query)
		q.Set("offset", strconv.Itoa(offset))
		q.Set("limit", strconv.Itoa(want))
		var page types.Page[T]
		if _, err := c.Do(ctx, Call{Method: "GET", Path: path, Query: q, Answer: &page, Repeat: true}); err != nil {
			return types.Page[T]{}, err
		}
		all.Items = append(all.Items, page.Items...)
		all.Omitted += page.Omitted
		all.Total = page.Total
		read := len(page.Items) + page.Omitted
		offset += read
		if read == 0 || offset >= page.Total || most >= 0 && offset >= most {
			return all, nil
		}
	}
}
