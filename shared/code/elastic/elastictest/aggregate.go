package elastictest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// composite is an aggregation: the numbers of documents with the same values of several keywords.
type composite struct {
	Size    int                          `json:"size"`
	Sources []map[string]compositeSource `json:"sources"`
	After   map[string]string            `json:"after"`
}

type compositeSource struct {
	Terms struct {
		Field string `json:"field"`
	} `json:"terms"`
}

// maxBuckets is search.max_buckets.
const maxBuckets = 65_535

// aggregate counts documents by the values of keywords, in the order of these: at most size combinations behind after. A
// document without one of the values is left out. It refuses other fields.
func (i *index) aggregate(body searchBody, of []*document) (map[string]any, *refusal) {
	all := map[string]any{}
	for name, a := range body.Aggregations {
		if a.Composite.Size < 1 || a.Composite.Size > maxBuckets || len(a.Composite.Sources) == 0 {
			return nil, refuse(http.StatusBadRequest, "illegal_argument_exception", "composite of %d sources, size %d", len(a.Composite.Sources), a.Composite.Size)
		}
		buckets, err := i.buckets(a.Composite, of)
		if err != nil {
			return nil, err
		}
		all[name] = map[string]any{"buckets": buckets}
	}
	return all, nil
}

// buckets returns the combinations of one aggregation.
func (i *index) buckets(a composite, of []*document) ([]any, *refusal) {
	var names, fields, after []string
	for _, source := range a.Sources {
		for name, s := range source {
			if i.mapping.Properties[s.Terms.Field].Type != "keyword" {
				return nil, refuse(http.StatusBadRequest, "illegal_argument_exception", "terms of field [%s]", s.Terms.Field)
			}
			names, fields, after = append(names, name), append(fields, s.Terms.Field), append(after, a.After[name])
		}
	}
	counts, values := map[string]int{}, map[string][]string{}
	for _, d := range of {
		var of []string
		for _, field := range fields {
			of = append(of, d.values[field]...)
		}
		if len(of) != len(fields) || a.After != nil && slices.Compare(of, after) <= 0 {
			continue
		}
		key := fmt.Sprintf("%q", of)
		counts[key]++
		values[key] = of
	}
	order := make([]string, 0, len(counts))
	for key := range counts {
		order = append(order, key)
	}
	slices.SortFunc(order, func(x, y string) int { return slices.CompareFunc(values[x], values[y], strings.Compare) })
	buckets := []any{}
	for _, key := range order[:min(len(order), a.Size)] {
		of := map[string]any{}
		for n, name := range names {
			of[name] = values[key][n]
		}
		buckets = append(buckets, map[string]any{"key": of, "doc_count": counts[key]})
	}
	return buckets, nil
}
