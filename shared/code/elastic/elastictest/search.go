package elastictest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Limits of a server.
const (
	maxWindow   = 10_000 // index.max_result_window
	defaultSize = 10
	maxClauses  = 1024   // of a query
	maxDepth    = 20     // of bool queries in one another; Elasticsearch 7 refuses more
	maxTerms    = 65_536 // of a query "terms"
)

// matcher reports whether a document matches a query.
type matcher func(*document) bool

// compiler compiles a query.
type compiler struct {
	*index
	clauses int // so far
	depth   int // bool queries around the part
}

func parsing(format string, args ...any) *refusal {
	return refuse(http.StatusBadRequest, "parsing_exception", format, args...)
}

// oneKey returns the key and the value of an object that has exactly one, and refuses others.
func oneKey(data json.RawMessage) (string, json.RawMessage, *refusal) {
	var of map[string]json.RawMessage
	if err := json.Unmarshal(data, &of); err != nil || len(of) != 1 {
		return "", nil, parsing("want an object with one key: %.100s", data)
	}
	for key, value := range of {
		return key, value, nil
	}
	return "", nil, nil // not reached: the object has one key
}

// compile compiles one query, and counts its clauses with those around it. The matcher holds only
// while no document changes, which documents never do. It refuses unknown kinds and fields, and
// more than maxClauses clauses in all.
func (c *compiler) compile(data json.RawMessage) (matcher, *refusal) {
	kind, body, err := oneKey(data)
	if err != nil {
		return nil, err
	}
	if c.clauses++; c.clauses > maxClauses {
		return nil, refuse(http.StatusBadRequest, "search_phase_execution_exception", "maxClauseCount is set to %d", maxClauses)
	}
	switch kind {
	case "match_all":
		return func(*document) bool { return true }, nil
	case "bool":
		return c.compileBool(body)
	case "exists":
		var of struct {
			Field string `json:"field"`
		}
		if err := (request{body: body}).decode(&of); err != nil {
			return nil, err
		}
		_, err := c.field(of.Field)
		return func(d *document) bool { return len(d.values[of.Field]) > 0 }, err
	}
	name, value, err := oneKey(body)
	if err != nil {
		return nil, err
	}
	if _, err := c.field(name); err != nil {
		return nil, err
	}
	switch kind {
	case "term":
		return c.compileTerms(name, []byte("["+string(value)+"]"))
	case "terms":
		return c.compileTerms(name, value)
	case "range":
		return compileRange(name, value)
	}
	return nil, parsing("unknown query [%s]", kind)
}

// field returns an indexed field, and refuses others, for which a real server would find nothing
// without a word.
func (c *compiler) field(name string) (field, *refusal) {
	f, ok := c.mapping.Properties[name]
	if !ok || f.isDisabled() || f.Type == "" {
		return f, parsing("No mapping found for [%s]", name)
	}
	return f, nil
}

// compileTerms compiles a query for documents that have one of some values. Terms of text are
// looked up in order, because documents keep them sorted. More than maxTerms values are refused.
func (c *compiler) compileTerms(name string, value json.RawMessage) (matcher, *refusal) {
	var values []any
	if err := json.Unmarshal(value, &values); err != nil || len(values) > maxTerms {
		return nil, parsing("[terms] of field [%s] wants at most %d values", name, maxTerms)
	}
	wanted := map[string]bool{}
	for _, v := range values {
		wanted[fmt.Sprint(v)] = true
	}
	analysed := c.mapping.Properties[name].Type == "text"
	return func(d *document) bool {
		if analysed {
			for v := range wanted {
				if _, ok := slices.BinarySearch(d.values[name], v); ok {
					return true
				}
			}
			return false
		}
		return slices.ContainsFunc(d.values[name], func(v string) bool { return wanted[v] })
	}, nil
}

// compileRange compiles a range; the server has one of "lt" and "gte" of whole numbers, and refuses others.
func compileRange(name string, value json.RawMessage) (matcher, *refusal) {
	var of struct {
		Less    *int64 `json:"lt"`
		AtLeast *int64 `json:"gte"`
	}
	if err := (request{body: value}).decode(&of); err != nil || (of.Less == nil) == (of.AtLeast == nil) {
		return nil, parsing("[range] query of [%s]: %.100s", name, value)
	}
	return func(d *document) bool {
		return slices.ContainsFunc(d.values[name], func(v string) bool {
			n, err := json.Number(v).Int64()
			return err == nil && (of.Less == nil || n < *of.Less) && (of.AtLeast == nil || n >= *of.AtLeast)
		})
	}, nil
}

// compileBool compiles a combination: all of filter, at least one of should if there are any, and
// none of must_not. It refuses should without minimum_should_match 1, because the default depends
// on filter.
func (c *compiler) compileBool(body json.RawMessage) (matcher, *refusal) {
	var of struct {
		Filter  []json.RawMessage `json:"filter"`
		Should  []json.RawMessage `json:"should"`
		Minimum int               `json:"minimum_should_match"`
		MustNot []json.RawMessage `json:"must_not"`
	}
	if err := (request{body: body}).decode(&of); err != nil {
		return nil, err
	}
	if (len(of.Should) > 0) != (of.Minimum == 1) {
		return nil, parsing("want minimum_should_match 1 with should")
	}
	if c.depth++; c.depth > maxDepth {
		return nil, refuse(http.StatusBadRequest, "illegal_argument_exception", "The nested depth of the query exceeds the maximum nested depth for bool queries set in [%d]", maxDepth)
	}
	defer func() { c.depth-- }()
	filter, err := c.compileAll(of.Filter)
	if err != nil {
		return nil, err
	}
	should, err := c.compileAll(of.Should)
	if err != nil {
		return nil, err
	}
	not, err := c.compileAll(of.MustNot)
	if err != nil {
		return nil, err
	}
	return func(d *document) bool {
		matches := func(m matcher) bool { return m(d) }
		return !slices.ContainsFunc(filter, func(m matcher) bool { return !m(d) }) && (len(should) == 0 || slices.ContainsFunc(should, matches)) && !slices.ContainsFunc(not, matches)
	}, nil
}

// compileAll compiles queries; the first refusal ends it.
func (c *compiler) compileAll(of []json.RawMessage) (all []matcher, err *refusal) {
	for _, q := range of {
		m, err := c.compile(q)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// selected returns the documents of an index or alias that a query and the filter of the alias
// match, of those that searches see. It refuses an unknown index and what compile refuses.
func (s *Server) selected(name string, query json.RawMessage) (*index, []*document, *refusal) {
	i, filter, err := s.find(name)
	if err != nil {
		return nil, nil, err
	}
	matches, err := (&compiler{index: i}).compile(query)
	if err != nil {
		return nil, nil, err
	}
	var found []*document
	for _, d := range i.visible {
		if matches(d) && (filter == nil || filter(d)) {
			found = append(found, d)
		}
	}
	return i, found, nil
}

var answered = map[string]any{"total": 1, "successful": 1, "failed": 0}

// count is POST /INDEX/_count. It refuses what selected refuses.
func (s *Server) count(r request) (any, *refusal) {
	var body struct {
		Query json.RawMessage `json:"query"`
	}
	if err := r.decode(&body); err != nil {
		return nil, err
	}
	_, found, err := s.selected(r.name, body.Query)
	return map[string]any{"count": len(found), "_shards": answered}, err
}

// searchBody is the body of a search.
type searchBody struct {
	Size     int                                 `json:"size"`
	Query    json.RawMessage                     `json:"query"`
	Sort     []map[string]struct{ Order string } `json:"sort"`
	After    []any                               `json:"search_after"`
	Source   sourceFilter                        `json:"_source"`
	Track    *bool                               `json:"track_total_hits"`
	Values   []string                            `json:"docvalue_fields"`
	Collapse *struct {
		Field string `json:"field"`
	} `json:"collapse"`
	Aggregations map[string]struct {
		Composite composite `json:"composite"`
	} `json:"aggs"`
}

// sourceFilter is which fields of documents a search returns: false for none, names, or all.
type sourceFilter struct {
	none   bool
	fields []string // nil: all
}

func (f *sourceFilter) UnmarshalJSON(data []byte) error {
	f.none = string(data) == "false"
	if f.none {
		return nil
	}
	return json.Unmarshal(data, &f.fields)
}

// search is POST /INDEX/_search, in the order of a real server: it selects, sorts, skips those
// before search_after, collapses and cuts to size. It refuses a size above maxWindow, and what
// selected and order refuse.
func (s *Server) search(r request) (any, *refusal) {
	body := searchBody{Size: defaultSize}
	if err := r.decode(&body); err != nil {
		return nil, err
	}
	i, found, err := s.selected(r.name, body.Query)
	if err != nil {
		return nil, err
	}
	if body.Size < 0 || body.Size > maxWindow {
		return nil, refuse(http.StatusBadRequest, "illegal_argument_exception", "Result window is too large, from + size must be less than or equal to: [%d] but was [%d]", maxWindow, body.Size)
	}
	order, err := i.order(body)
	if err != nil {
		return nil, err
	}
	key := func(d *document) []any {
		var values []any
		for _, name := range order {
			var v any = strings.Join(d.values[name], "")
			if i.mapping.Properties[name].Type == "long" {
				v = json.Number(strings.Join(d.values[name], ""))
			}
			values = append(values, v)
		}
		return values
	}
	if len(order) > 0 {
		slices.SortStableFunc(found, func(a, b *document) int { return slices.CompareFunc(key(a), key(b), compareValues) })
	}
	if body.After != nil {
		found = slices.DeleteFunc(found, func(d *document) bool { return slices.CompareFunc(key(d), body.After, compareValues) <= 0 })
	}
	hits, seen := []any{}, map[string]bool{}
	for _, d := range found {
		if body.Collapse != nil {
			v := strings.Join(d.values[body.Collapse.Field], "")
			if seen[v] {
				continue
			}
			seen[v] = true
		}
		if len(hits) == body.Size {
			break
		}
		hit := map[string]any{"_id": d.id}
		if !body.Source.none {
			hit["_source"] = d.only(body.Source.fields)
		}
		if len(order) > 0 {
			hit["sort"] = key(d)
		}
		if len(body.Values) > 0 {
			if hit["fields"], err = i.docValues(d, body.Values); err != nil {
				return nil, err
			}
		}
		hits = append(hits, hit)
	}
	answer := map[string]any{"timed_out": false, "_shards": answered, "hits": map[string]any{"hits": hits}}
	if body.Aggregations != nil {
		answer["aggregations"], err = i.aggregate(body, found)
	}
	return answer, err
}

// compareValues compares two values of a field, both texts or both whole numbers.
func compareValues(a, b any) int {
	m, err := json.Number(fmt.Sprint(a)).Int64()
	n, err2 := json.Number(fmt.Sprint(b)).Int64()
	if _, isNumber := a.(json.Number); isNumber && err == nil && err2 == nil {
		return cmp.Compare(m, n)
	}
	return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

// docValues returns the values of fields of a document. It refuses fields that keep none.
func (i *index) docValues(d *document, fields []string) (map[string]any, *refusal) {
	all := map[string]any{}
	for _, name := range fields {
		kind := i.mapping.Properties[name].Type
		if kind != "keyword" && kind != "long" {
			return nil, refuse(http.StatusBadRequest, "illegal_argument_exception", "field [%s] has no doc values", name)
		}
		var values []any
		for _, v := range d.values[name] {
			if kind == "long" {
				values = append(values, json.Number(v))
			} else {
				values = append(values, v)
			}
		}
		if values != nil {
			all[name] = values
		}
	}
	return all, nil
}

// order returns the fields that a search sorts by. Sort and collapse accept only keywords and whole
// numbers in ascending order, and search_after wants one value for each field of sort; it refuses all else.
func (i *index) order(body searchBody) (order []string, err *refusal) {
	fields := slices.Clone(body.Sort)
	if body.Collapse != nil {
		fields = append(fields, map[string]struct{ Order string }{body.Collapse.Field: {"asc"}})
	}
	for n, one := range fields {
		for name, o := range one {
			if kind := i.mapping.Properties[name].Type; kind != "keyword" && kind != "long" || o.Order != "asc" {
				return nil, refuse(http.StatusBadRequest, "illegal_argument_exception", "field [%s] cannot be sorted", name)
			}
			if n < len(body.Sort) {
				order = append(order, name)
			}
		}
	}
	if body.After != nil && len(body.After) != len(order) {
		return nil, refuse(http.StatusBadRequest, "illegal_argument_exception", "search_after has %d value(s) but sort has %d.", len(body.After), len(order))
	}
	return order, nil
}
