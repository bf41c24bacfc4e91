package elastic

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"leasehold/shared/code"
	"leasehold/shared/fault"
)

// pageSize is how many documents one page of a query has.
const pageSize = 1000

// everyDocument matches every document.
var everyDocument = object{"match_all": object{}}

// selection is a query for documents of one alias, in an order.
type selection struct {
	alias string
	query any
	order []string          // by these fields; no two documents have the same values in all of them
	after []json.RawMessage // these values of the last document read; nil before the first page
	ended bool              // the last page was read
}

// searchAnswer is the answer to _search, which has documents of type T.
type searchAnswer[T any] struct {
	Shards shards `json:"_shards"`
	Hits   struct {
		Hits []document[T] `json:"hits"`
	} `json:"hits"`
	Aggregations map[string]filesCounts `json:"aggregations"`
}

// document is one that a search has found. It has its source, or the fields of a blob that
// a server reads from doc values, which is ten times as fast as reading documents with texts.
type document[T any] struct {
	ID     string            `json:"_id"`
	Source T                 `json:"_source"`
	Fields blobFields        `json:"fields"`
	Sort   []json.RawMessage `json:"sort"`
}

// blobFields are fields of a blob; servers send each as a list of one.
type blobFields struct {
	OID  []code.OID `json:"oid"`
	Size []int64    `json:"size"`
}

// blobSize is a blob that may match.
type blobSize struct {
	OID  code.OID
	Size int64
}

// idsOf returns the ids of blobs, in their order.
func idsOf(some []blobSize) []code.OID {
	ids := make([]code.OID, len(some))
	for i, b := range some {
		ids[i] = b.OID
	}
	return ids
}

// filesCounts is how many files there are for each combination of values.
type filesCounts struct {
	Buckets []struct {
		Key struct {
			RepoID     string `json:"repo_id,omitempty"`
			Repository string `json:"repository,omitempty"`
			Generation string `json:"generation,omitempty"`
			Skipped    string `json:"skipped,omitempty"`
		} `json:"key"`
		Count int `json:"doc_count"`
	} `json:"buckets"`
}

// nextPage returns the documents of the next page of a selection, and moves s behind it. After the
// last page it returns nil.
func nextPage[T any](ctx context.Context, x *Index, s *selection) ([]T, error) {
	hits, err := nextHits[T](ctx, x, s, nil)
	var page []T
	for _, h := range hits {
		page = append(page, h.Source)
	}
	return page, err
}

// nextBlobs returns the next page of a selection of blobs, like nextPage, without their documents.
func nextBlobs(ctx context.Context, x *Index, s *selection) ([]blobSize, error) {
	hits, err := nextHits[struct{}](ctx, x, s, []string{"oid", "size"})
	var page []blobSize
	for _, h := range hits {
		if len(h.Fields.OID) != 1 || len(h.Fields.Size) != 1 {
			return nil, fmt.Errorf("blob %.100q: %w: the answer of the search server lacks its fields oid and size", h.ID, fault.ErrUnavailable)
		}
		page = append(page, blobSize{h.Fields.OID[0], h.Fields.Size[0]})
	}
	return page, err
}

// nextHits returns the next page of a selection: whole documents or, if values names fields, the
// doc values of these. It goes on behind the sort values of the last document, so these must differ from
// document to document.
func nextHits[T any](ctx context.Context, x *Index, s *selection, values []string) ([]document[T], error) {
	if s.ended {
		return nil, nil
	}
	var sorted []object
	for _, field := range s.order {
		sorted = append(sorted, object{field: object{"order": "asc"}})
	}
	body := object{"size": pageSize, "query": s.query, "sort": sorted, "track_total_hits": false}
	if values != nil {
		body["_source"], body["docvalue_fields"] = false, values
	}
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
	page := answer.Hits.Hits
	s.ended = len(page) < pageSize
	if !s.ended {
		s.after = page[len(page)-1].Sort
	}
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

// anyOf returns the query that matches what at least one of parts matches. There must be a part.
func anyOf(parts []any) any {
	if len(parts) == 1 {
		return parts[0]
	}
	return object{"bool": object{"should": parts, "minimum_should_match": 1}}
}
