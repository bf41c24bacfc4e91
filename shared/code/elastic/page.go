package elastic

import (
	"context"
	"encoding/json"
	"net/url"
)

// pageSize is how many documents one page of a query has.
const pageSize = 500

// everyDocument matches every document.
var everyDocument = object{"match_all": object{}}

// selection is a query for documents of one alias, in an order.
type selection struct {
	alias  string
	query  any
	fields []string          // of the documents that are read
	order  []string          // by these fields; no two documents have the same values in all of them
	after  []json.RawMessage // these values of the last document read; nil before the first page
	ended  bool              // the last page was read
}

// searchAnswer is the answer to _search.
type searchAnswer[T any] struct {
	Shards shards `json:"_shards"`
	Hits   struct {
		Hits []struct {
			ID     string            `json:"_id"`
			Source T                 `json:"_source"`
			Sort   []json.RawMessage `json:"sort"`
		} `json:"hits"`
	} `json:"hits"`
}

// nextPage returns the next page of a selection, and moves s behind it. After the last page it
// returns nil. It goes on behind the sort values of the last document, so these must differ from
// document to document.
func nextPage[T any](ctx context.Context, x *Index, s *selection) ([]T, error) {
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
	var answer searchAnswer[T]
	if err := x.post(ctx, s.alias, "_search", noPartialResults, body, &answer); err != nil {
		return nil, err
	}
	if err := answer.Shards.requireAll("search of " + s.alias); err != nil {
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

// noPartialResults makes a server refuse a query if a part of the index cannot answer.
var noPartialResults = url.Values{"allow_partial_search_results": {"false"}}

// count returns how many documents a query matches.
func (x *Index) count(ctx context.Context, alias string, query any) (int, error) {
	var answer struct {
		Count  int    `json:"count"`
		Shards shards `json:"_shards"`
	}
	if err := x.post(ctx, alias, "_count", nil, object{"query": query}, &answer); err != nil {
		return 0, err
	}
	return answer.Count, answer.Shards.requireAll("count of " + alias)
}

// allOf returns the query that matches what all of parts match; a nil part matches every document.
func allOf(parts ...any) any {
	var filter []any
	for _, p := range parts {
		if p != nil {
			filter = append(filter, p)
		}
	}
	switch len(filter) {
	case 0:
		return everyDocument
	case 1:
		return filter[0]
	}
	return object{"bool": object{"filter": filter}}
}
