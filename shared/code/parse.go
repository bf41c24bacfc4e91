package code

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"leasehold/shared/fault"
)

// Limits of a query.
const (
	MaxQueryBytes = 8 << 10
	maxNodes      = 1024
	maxDepth      = 64
)

// Parse reads a query:
//
//	foo bar          files that have both words, in their text or their path; a word is any text
//	                 without spaces
//	foo or bar       files that have one of them; binds weaker than and
//	-foo, -(a b)     files that do not have it
//	AND, OR, NOT     the same in words
//	(a or b) c       groups
//	"a b"            text with spaces; \" and \\ are a quote and a backslash
//	/fo+/            a regular expression; a slash inside needs no backslash
//	content:foo      only in the text; also content:"…"; a regular expression is always
//	repo: file: branch:    the name matches a regular expression
//	lang:go          the language, or an alias such as golang
//	sym:Name         defines a symbol with Name in its name; also sym:"…" and sym:/…/
//	vendor:yes|no    is vendored, or is not
//	case:yes|no|auto applies to the whole query
//
// It fails with fault.ErrInvalid and names the place, in bytes from 1.
func Parse(text string) (Query, error) {
	if len(text) > MaxQueryBytes {
		return Query{}, fmt.Errorf("query of %d bytes: want at most %d: %w", len(text), MaxQueryBytes, fault.ErrInvalid)
	}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return Query{}, fmt.Errorf("query %.80q: want UTF-8 text without NUL: %w", text, fault.ErrInvalid)
	}
	p := parser{lexer: lexer{text: text}}
	root, err := p.query()
	if err != nil {
		return Query{}, fmt.Errorf("query %.80q: %w", text, err)
	}
	return Query{Text: text, Case: p.letterCase, Root: root}, nil
}

type parser struct {
	lexer
	letterCase Case
	nodes      int
}

// query reads the whole text. At depth 0 only the end of the text ends a disjunction, so nothing is
// left.
func (p *parser) query() (Expr, error) {
	root, err := p.disjunction(0)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, fmt.Errorf("nothing to search for: want a word, a regular expression or a filter: %w", fault.ErrInvalid)
	}
	return root, nil
}

// disjunction reads one or more conjunctions with or between them, until the text or the group
// ends. It returns nil for a text without terms. depth is the number of groups around it. Groups
// that are too deep, and an or without a word on both sides, give fault.ErrInvalid.
func (p *parser) disjunction(depth int) (Expr, error) {
	if depth > maxDepth {
		return nil, p.errorAt("groups are nested deeper than %d", maxDepth)
	}
	var all []Expr
	for {
		e, err := p.conjunction(depth)
		if err != nil {
			return nil, err
		}
		isOr := p.acceptOr(depth)
		if e == nil && (isOr || len(all) > 0) {
			return nil, p.errorAt("want a word on both sides of or; quote it to search for it")
		}
		if e != nil {
			all = append(all, e)
		}
		if !isOr {
			return joined(all, func(of []Expr) Expr { return Or{of} }), nil
		}
	}
}

// conjunction reads terms until the operator or, the end of the group or the end of the text. It
// returns nil if there are none except case:.
func (p *parser) conjunction(depth int) (Expr, error) {
	var all []Expr
	and := false // AND was read, and no term behind it
	for {
		if p.acceptOperator("AND", depth) {
			if and || len(all) == 0 {
				return nil, p.errorAt("want a word on both sides of AND; quote it to search for it")
			}
			and = true
		}
		if !p.termFollows(depth) {
			break
		}
		e, err := p.term(depth)
		if err != nil {
			return nil, err
		}
		if e != nil {
			all, and = append(all, e), false
		}
	}
	if and {
		return nil, p.errorAt("want a word on both sides of AND; quote it to search for it")
	}
	return joined(all, func(of []Expr) Expr { return And{of} }), nil
}

// joined returns the node of all; if there is only one, that one itself; nil if there is none.
func joined(all []Expr, node func([]Expr) Expr) Expr {
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return node(all)
}

// term reads one word, group or filter, perhaps negated. It returns nil for case:, which sets
// p.letterCase and cannot be negated. A negation counts as a level of depth, because it is read
// recursively.
func (p *parser) term(depth int) (Expr, error) {
	if p.nodes++; p.nodes > maxNodes {
		return nil, p.errorAt("want at most %d words", maxNodes)
	}
	if p.acceptNot(depth) {
		if depth++; depth > maxDepth {
			return nil, p.errorAt("groups are nested deeper than %d", maxDepth)
		}
		if !p.termFollows(depth) {
			return nil, p.errorAt("want a word behind NOT; quote it to search for it")
		}
		e, err := p.term(depth)
		if err == nil && e == nil {
			return nil, p.errorAt("case: cannot be negated")
		}
		return Not{e}, err
	}
	if p.accept('(') {
		return p.group(depth)
	}
	at := p.at
	w, err := p.word(depth)
	if err != nil {
		return nil, err
	}
	e, err := p.node(w)
	if err != nil {
		return nil, fmt.Errorf("at %d: %w", at+1, err)
	}
	return e, nil
}

// group reads a group behind its opening parenthesis.
func (p *parser) group(depth int) (Expr, error) {
	opened := p.at // the place of the parenthesis, in bytes from 1
	e, err := p.disjunction(depth + 1)
	switch {
	case err != nil:
		return nil, err
	case !p.accept(')'):
		return nil, fmt.Errorf("at %d: ( is not closed; quote it to search for it: %w", opened, fault.ErrInvalid)
	case e == nil:
		return nil, fmt.Errorf("at %d: the group is empty; quote it to search for it: %w", opened, fault.ErrInvalid)
	}
	return e, nil
}

// node returns the node of a word, or nil for case:, which it keeps in p.letterCase.
func (p *parser) node(w word) (Expr, error) {
	switch w.field {
	case "":
		if !w.Regexp {
			return Or{[]Expr{Content{w.Pattern}, Path{w.Pattern}}}, w.Pattern.check()
		}
		return Content{w.Pattern}, w.Pattern.check()
	case "content":
		return Content{w.Pattern}, w.Pattern.check()
	case "sym":
		return Sym{w.Pattern}, w.Pattern.check()
	case "vendor":
		switch w.Source {
		case "yes":
			return Vendor{}, nil
		case "no":
			return Not{Vendor{}}, nil
		}
		return nil, fmt.Errorf("vendor:%s: want yes or no: %w", w.Source, fault.ErrInvalid)
	case "case":
		c, ok := map[string]Case{"yes": CaseYes, "no": CaseNo, "auto": CaseAuto}[w.Source]
		if !ok {
			return nil, fmt.Errorf("case:%s: want yes, no or auto: %w", w.Source, fault.ErrInvalid)
		}
		p.letterCase = c
		return nil, nil
	case "lang":
		return Filter{FieldLang, languageName(w.Source)}, Pattern{Source: w.Source}.check()
	}
	// repo, file and branch take an expression without slashes, so w.Regexp is false.
	return Filter{Field(w.field), w.Source}, Pattern{w.Source, true}.check()
}

// SymbolQuery returns the text of the query that finds definitions with name in their names, in
// all branches or, if branch is not empty, in that branch.
func SymbolQuery(name, branch string) string {
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace
	query := `case:auto sym:"` + quote(name) + `"`
	if branch != "" {
		query += ` branch:"` + quote("^"+regexp.QuoteMeta(branch)+"$") + `"`
	}
	return query
}
