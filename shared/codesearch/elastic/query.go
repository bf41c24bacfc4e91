package elastic

import (
	"fmt"

	"leasehold/shared/codesearch"
	"leasehold/shared/codesearch/match"
)

// plan is a compiled query.
type plan struct {
	codesearch.Query
	words    []string
	matchers map[codesearch.Expr]*match.Matcher           // of Content and Sym
	filters  map[codesearch.Filter]func(name string) bool // of Filter
	needs    map[codesearch.Expr]match.Need               // of both: what a text, a name or a path has
	reads    bool                                         // whether texts must be read
	defined  []string                                     // words that are looked for as names of symbols first
}

func newPlan(q codesearch.Query) (*plan, error) {
	p := &plan{Query: q, words: q.Words(), matchers: map[codesearch.Expr]*match.Matcher{}, filters: map[codesearch.Filter]func(string) bool{}, needs: map[codesearch.Expr]match.Need{}}
	return p, p.compile(q.Root, true)
}

// compile compiles the leaves of e. Shown is false below a negation.
func (p *plan) compile(e codesearch.Expr, shown bool) (err error) {
	switch e := e.(type) {
	case codesearch.And:
		return p.compileAll(e.Of, shown)
	case codesearch.Or:
		return p.compileAll(e.Of, shown)
	case codesearch.Not:
		return p.compile(e.Of, false)
	case codesearch.Content:
		p.reads = true
		if shown && !e.Pattern.Regexp && !p.Folds() {
			p.defined = append(p.defined, e.Pattern.Source)
		}
		return p.compilePattern(e, e.Pattern, p.Folds())
	case codesearch.Sym:
		p.reads = true
		return p.compilePattern(e, e.Pattern, p.Folds())
	case codesearch.Filter:
		if p.filters[e], err = e.Compile(); err != nil || e.Field != codesearch.FieldFile {
			return err
		}
		return p.compilePattern(e, codesearch.Pattern{Source: e.Value, Regexp: true}, true)
	case codesearch.Vendor:
		return nil
	}
	return fmt.Errorf("query node %T is unknown", e)
}

func (p *plan) compileAll(of []codesearch.Expr, shown bool) error {
	for _, e := range of {
		if err := p.compile(e, shown); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) compilePattern(e codesearch.Expr, pattern codesearch.Pattern, fold bool) error {
	m, err := match.New(pattern, fold)
	if err != nil {
		return err
	}
	p.matchers[e], p.needs[e] = m, m.Need()
	return nil
}

// maxClauses is how many trigrams a query asks for. A server accepts 1,024 clauses.
const maxClauses = 512

// candidates builds the query for documents of one side that may match.
type candidates struct {
	*plan
	leaf    func(c *candidates, e codesearch.Expr) (query any, exact bool)
	clauses int
}

// of returns a query that every match of e satisfies; nil if that is every document. If exact,
// every document that satisfies it matches e.
func (c *candidates) of(e codesearch.Expr) (query any, exact bool) {
	switch e := e.(type) {
	case codesearch.And:
		var filter []any
		exact = true
		for _, sub := range e.Of {
			q, ok := c.of(sub)
			if exact = exact && ok; q != nil {
				filter = append(filter, q)
			}
		}
		if len(filter) == 0 {
			return nil, exact
		}
		return allOf(filter...), exact
	case codesearch.Or:
		var should []any
		exact = true
		for _, sub := range e.Of {
			q, ok := c.of(sub)
			if q == nil {
				return nil, false
			}
			should, exact = append(should, q), exact && ok
		}
		return object{"bool": object{"should": should, "minimum_should_match": 1}}, exact
	case codesearch.Not:
		if q, ok := c.of(e.Of); ok && q != nil {
			return object{"bool": object{"must_not": []any{q}}}, true
		}
		return nil, false
	}
	return c.leaf(c, e)
}

// ofBlob is the leaf of queries for blobs.
func ofBlob(c *candidates, e codesearch.Expr) (query any, exact bool) {
	switch e := e.(type) {
	case codesearch.Content:
		return c.has("tri", c.needs[e]), false
	case codesearch.Sym:
		if q := c.has("symbol_tri", c.needs[e]); q != nil {
			return q, false
		}
		return object{"exists": object{"field": "defines"}}, false
	}
	return ofLanguage(e)
}

// ofFile is the leaf of queries for files.
func ofFile(c *candidates, e codesearch.Expr) (query any, exact bool) {
	switch e := e.(type) {
	case codesearch.Vendor:
		return object{"term": object{"vendored": true}}, true
	case codesearch.Filter:
		if e.Field == codesearch.FieldFile {
			return c.has("path_tri", c.needs[e]), false
		}
	}
	return ofLanguage(e)
}

func ofLanguage(e codesearch.Expr) (query any, exact bool) {
	if f, ok := e.(codesearch.Filter); ok && f.Field == codesearch.FieldLang {
		return object{"term": object{"lang": fold(f.Value)}}, true
	}
	return nil, false
}

// has returns the query for documents whose field has the trigrams of a need; nil if they are
// not known, or too many.
func (c *candidates) has(field string, n match.Need) any {
	switch n.Op {
	case match.Literal:
		return c.literal(field, n.Text)
	case match.And:
		var filter []any
		for _, sub := range n.Of {
			if q := c.has(field, sub); q != nil {
				filter = append(filter, q)
			}
		}
		if len(filter) > 0 {
			return allOf(filter...)
		}
	case match.Or:
		return c.oneOf(field, n.Of)
	}
	return nil
}

// oneOf returns the query for documents that have one of needs. Those that are one trigram
// are one clause together.
func (c *candidates) oneOf(field string, needs []match.Need) any {
	var short []string
	var should []any
	for _, sub := range needs {
		if sub.Op == match.Literal && len(sub.Text) == 3 {
			short = append(short, term(trigramOf(sub.Text)))
			continue
		}
		q := c.has(field, sub)
		if q == nil {
			return nil
		}
		should = append(should, q)
	}
	if len(short) > 0 {
		should = append(should, object{"terms": object{field: short}})
	}
	return object{"bool": object{"should": should, "minimum_should_match": 1}}
}

// maxOfLiteral is how many trigrams of one literal are asked for; more exclude few documents.
const maxOfLiteral = 24

// literal returns the query for documents with the trigrams of a text.
func (c *candidates) literal(field string, text []byte) any {
	if len(text) < 3 || c.clauses >= maxClauses {
		return nil
	}
	step := max(1, (len(text)-2)/maxOfLiteral)
	var filter []any
	for i := 0; i+3 <= len(text) && len(filter) < maxOfLiteral; i += step {
		filter = append(filter, object{"term": object{field: term(trigramOf(text[i:]))}})
	}
	c.clauses += len(filter)
	return allOf(filter...)
}

func trigramOf(text []byte) uint32 {
	return uint32(text[0])<<16 | uint32(text[1])<<8 | uint32(text[2])
}
