package apiclient

import (
	"context"
	"maps"
	"net/url"
	"strconv"
)

// The largest parts of a list that the API answers at once.
const (
	PageSize   = 10_000
	TuplesPage = 1_000 // of what may be large: tuples, tasks, dead letters
)

// A Page is some of a list.
type Page[T any] struct {
	Items   []T `json:"items"`
	Total   int `json:"total"`   // of all, not only of these
	Omitted int `json:"omitted"` // of these, too large to be shown
}

// List reads a list, size at a time, until it has most of it; most 0 only counts,
// and below 0 is all.
func List[T any](ctx context.Context, c *Client, path string, query url.Values, size, most int) (Page[T], error) {
	var all Page[T]
	for offset := 0; ; {
		want := size
		if most >= 0 {
			want = min(size, most-offset)
		}
		q := url.Values{"offset": {strconv.Itoa(offset)}, "limit": {strconv.Itoa(want)}}
		maps.Copy(q, query)
		var page Page[T]
		if _, err := c.Do(ctx, Call{Method: "GET", Path: path, Query: q, Answer: &page, Repeat: true}); err != nil {
			return Page[T]{}, err
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
