package elastic

import (
	"fmt"

	"leasehold/shared/code"
	"leasehold/shared/code/match"
)

// plan is a compiled query.
type plan struct {
	code.Query
	words     []string
	matchers  map[code.Expr]*match.Matcher           // of Content, Path, Sym, and Filter of paths
	filters   map[code.Filter]func(name string) bool // of Filter
	needs     map[code.Expr]match.Need               // by leaf: what a matching text, name or path has
	readsText bool                                   // whether texts must be read
	mayShow   []code.Expr                            // each Content and Sym without a Not around it
	paths     []code.Expr                            // each Path without a Not around it
}

// newPlan compiles q.
func newPlan(q code.Query) (*plan, error) {
	p := &plan{Query: q, words: q.Words(), matchers: map[code.Expr]*match.Matcher{}, filters: map[code.Filter]func(string) bool{}, needs: map[code.Expr]match.Need{}}
	return p, p.compile(q.Root, true)
}

// compile compiles the leaves of e. shown is false below a negation.
func (p *plan) compile(e code.Expr, shown bool) (err error) {
	switch e := e.(type) {
	case code.And:
		return p.compileAll(e.Of, shown)
	case code.Or:
		return p.compileAll(e.Of, shown)
	case code.Not:
		return p.compile(e.Of, false)
	case code.Content:
		p.readsText = true
		if shown {
			p.mayShow = append(p.mayShow, e)
		}
		return p.compilePattern(e, e.Pattern, p.Folds())
	case code.Path:
		if shown {
			p.paths = append(p.paths, e)
		}
		return p.compilePattern(e, e.Pattern, p.Folds())
	case code.Sym:
		p.readsText = true
		if shown {
			p.mayShow = append(p.mayShow, e)
		}
		return p.compilePattern(e, e.Pattern, p.Folds())
	case code.Filter:
		if p.filters[e], err = e.Compile(); err != nil || e.Field != code.FieldFile {
			return err
		}
		return p.compilePattern(e, code.Pattern{Source: e.Value, Regexp: true}, true)
	case code.Vendor:
		return nil
	}
	return fmt.Errorf("query node %T is unknown", e)
}

// compileAll compiles the leaves of several expressions, and returns the first error.
func (p *plan) compileAll(of []code.Expr, shown bool) error {
	for _, e := range of {
		if err := p.compile(e, shown); err != nil {
			return err
		}
	}
	return nil
}

// compilePattern keeps the matcher of a leaf, which ignores case if fold is true, and the texts
// that it needs.
func (p *plan) compilePattern(e code.Expr, pattern code.Pattern, fold bool) error {
	m, err := match.New(pattern, fold)
	if err != nil {
		return err
	}
	p.matchers[e], p.needs[e] = m, m.Need()
	return nil
}

// Bounds of a query. What is past them excludes no document, and verify decides.
const (
	maxClauses = 512 // trigrams; a server accepts 1,024 clauses
	maxDepth   = 15  // combinations in one another; a server accepts 20, and others are around a query
)

// candidates builds the query for documents of one side that may match.
type candidates struct {
	*plan
	leaf    func(c *candidates, e code.Expr) (query any, exact bool) // blobLeaf or fileLeaf
	clauses int                                                      // so far
	depth   int                                                      // combinations around the part
	noPaths bool                                                     // no Path that is not negated holds
	negated bool                                                     // the part is below a negation
}

// queryFor returns a query that every document which matches e satisfies, or nil if every
// document may match. exact is true if also every document that satisfies the query matches e;
// only such a query can be negated. An alternative with a part that every document may match has
// no query.
func (c *candidates) queryFor(e code.Expr) (query any, exact bool) {
	if c.depth == maxDepth {
		return nil, false
	}
	c.depth++
	defer func() { c.depth-- }()
	switch e := e.(type) {
	case code.And:
		var filter []any
		exact = true
		for _, sub := range e.Of {
			q, ok := c.queryFor(sub)
			exact = exact && ok
			if q != nil {
				filter = append(filter, q)
			}
		}
		if len(filter) == 0 {
			return nil, exact
		}
		return allOf(filter...), exact
	case code.Or:
		var should []any
		exact = true
		for _, sub := range e.Of {
			if _, isPath := sub.(code.Path); isPath && c.noPaths && !c.negated {
				exact = false
				continue // each Path is in an Or with a Content
			}
			q, ok := c.queryFor(sub)
			if q == nil {
				return nil, false
			}
			should, exact = append(should, q), exact && ok
		}
		return object{"bool": object{"should": should, "minimum_should_match": 1}}, exact
	case code.Not:
		defer func(before bool) { c.negated = before }(c.negated)
		c.negated = true
		if q, ok := c.queryFor(e.Of); ok && q != nil {
			return object{"bool": object{"must_not": []any{q}}}, true
		}
		return nil, false
	}
	return c.leaf(c, e)
}

// blobLeaf is candidates.leaf for blobs: the query of a text, a symbol and lang:, and whether it
// is exact. Trigrams only bound the matches, and a language those of blobs with text. A Sym without known trigrams requires that the blob
// defines any symbol.
func blobLeaf(c *candidates, e code.Expr) (query any, exact bool) {
	switch e := e.(type) {
	case code.Content:
		return c.hasTrigrams("tri", c.needs[e]), false
	case code.Sym:
		if q := c.hasTrigrams("symbol_tri", c.needs[e]); q != nil {
			return q, false
		}
		return object{"exists": object{"field": "defines"}}, false
	}
	q, exact := languageLeaf(e)
	if q != nil { // the language of an empty blob is that of the file's name
		q, exact = object{"bool": object{"should": []any{q, object{"term": object{"size": 0}}}, "minimum_should_match": 1}}, false
	}
	return q, exact
}

// fileLeaf is candidates.leaf for files: the query of vendor:, file:, lang: and the path of a word,
// nil for all others, and whether it is exact.
func fileLeaf(c *candidates, e code.Expr) (query any, exact bool) {
	switch e := e.(type) {
	case code.Vendor:
		return object{"term": object{"vendored": true}}, true
	case code.Path:
		return c.hasTrigrams("path_tri", c.needs[e]), false
	case code.Filter:
		if e.Field == code.FieldFile {
			return c.hasTrigrams("path_tri", c.needs[e]), false
		}
	}
	return languageLeaf(e)
}

// languageLeaf returns the query of lang:, which files and blobs both have and which is exact;
// nil for other leaves.
func languageLeaf(e code.Expr) (query any, exact bool) {
	if f, ok := e.(code.Filter); ok && f.Field == code.FieldLang {
		return object{"term": object{"lang": fold(f.Value)}}, true
	}
	return nil, false
}

// hasTrigrams returns the query for documents whose field has the trigrams of a need; nil, which
// excludes no document, if they are not known or too many.
func (c *candidates) hasTrigrams(field string, n match.Need) any {
	if c.depth == maxDepth {
		return nil
	}
	c.depth++
	defer func() { c.depth-- }()
	switch n.Op {
	case match.Literal:
		return c.hasLiteral(field, n.Text)
	case match.And:
		var filter []any
		for _, sub := range n.Of {
			if q := c.hasTrigrams(field, sub); q != nil {
				filter = append(filter, q)
			}
		}
		if len(filter) > 0 {
			return allOf(filter...)
		}
	case match.Or:
		return c.hasOneOf(field, n.Of)
	}
	return nil
}

// hasOneOf returns the query for documents that have at least one of needs; nil if one of them
// excludes no document. Needs of one trigram are one clause together, because there may be
// hundreds of them.
func (c *candidates) hasOneOf(field string, needs []match.Need) any {
	var short []string
	var should []any
	for _, sub := range needs {
		if sub.Op == match.Literal && len(sub.Text) == 3 {
			short = append(short, term(trigramOf(sub.Text)))
			continue
		}
		q := c.hasTrigrams(field, sub)
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

// hasLiteral returns the query for documents with the trigrams of a text, at most maxOfLiteral at
// even distances. It returns nil, which excludes no document, if the text is shorter than a
// trigram or the query has maxClauses already.
func (c *candidates) hasLiteral(field string, text []byte) any {
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
