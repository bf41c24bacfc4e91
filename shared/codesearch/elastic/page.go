package elastic

import (
	"context"
	"encoding/json"
	"net/url"
)

// pageSize is how many documents one page of a query has.
const pageSize = 500

// noQuery matches every document.
var noQuery = object{"match_all": object{}}

// selection is a query for documents of one alias, in an order.
type selection struct {
	alias  string
	query  any
	fields []string // of the documents that are read
	order  []string // fields that together are of one document only
	after  []json.RawMessage
	ended  bool
}

// next returns the next page of a selection; nothing after the last one.
func next[T any](ctx context.Context, x *Index, s *selection) ([]T, error) {
	if s.ended {
		return nil, nil
	}
	var sorted []object
	for _, field := range s.order {
		sorted = append(sorted, object{field: object{"order": "asc"}})
	}
	body := object{"size": pageSize, "query": s.query, "sort": sorted, "_source": s.fields, "track_total_hits": false}
	if s.after != nil {
		body["search_after"] = s.after
	}
	var answer struct {
		Shards shards `json:"_shards"`
		Hits   struct {
			Hits []struct {
				Source T                 `json:"_source"`
				Sort   []json.RawMessage `json:"sort"`
			} `json:"hits"`
		} `json:"hits"`
	}
	if err := x.post(ctx, s.alias, "_search", whole, body, &answer); err != nil {
		return nil, err
	}
	if err := answer.Shards.check("search of " + s.alias); err != nil {
		return nil, err
	}
	var page []T
	for _, h := range answer.Hits.Hits {
		page = append(page, h.Source)
		s.after = h.Sort
	}
	s.ended = len(page) < pageSize
	return page, nil
}

// whole makes a server refuse a query if a part of the index cannot answer.
var whole = url.Values{"allow_partial_search_results": {"false"}}

// count returns how many documents a query matches.
func (x *Index) count(ctx context.Context, alias string, query any) (int, error) {
	var answer struct {
		Count  int    `json:"count"`
		Shards shards `json:"_shards"`
	}
	if err := x.post(ctx, alias, "_count", nil, object{"query": query}, &answer); err != nil {
		return 0, err
	}
	return answer.Count, answer.Shards.check("count of " + alias)
}

// allOf is the query that matches what all of parts match; nil parts match everything.
func allOf(parts ...any) any {
	var filter []any
	for _, p := range parts {
		if p != nil {
			filter = append(filter, p)
		}
	}
	switch len(filter) {
	case 0:
		return noQuery
	case 1:
		return filter[0]
	}
	return object{"bool": object{"filter": filter}}
}
