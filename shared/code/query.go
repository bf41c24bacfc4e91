package code

import "unicode"

// A Query is a parsed query. It is immutable.
type Query struct {
	Text string // as it was written
	Case Case
	Root Expr
}

// Case is how letters of words, regular expressions and sym: are compared. The other
// filters ignore case always. Letters are folded as Unicode does it (simple folding).
type Case int

// The values of Case.
const (
	CaseYes  Case = iota // A and a differ; the default
	CaseNo               // A and a are the same
	CaseAuto             // as CaseNo, unless the query has an upper-case letter
)

// An Expr is a node of a query: And, Or, Not, Content, Path, Sym, Filter or Vendor.
type Expr interface{ expr() }

// The nodes of a query. Each holds for a file or not.
type (
	And struct{ Of []Expr } // of two or more
	Or  struct{ Of []Expr } // of two or more
	Not struct{ Of Expr }

	// Content holds if the file's text has the pattern.
	Content struct{ Pattern Pattern }
	// Path holds if the file's path has the pattern. A word is the Or of a Content and a Path.
	Path struct{ Pattern Pattern }
	// Sym holds if a symbol defined in the file has the pattern in its name.
	Sym struct{ Pattern Pattern }
	// Filter holds if a field of the file matches Value: a regular expression that ignores
	// case; for FieldLang, the whole name, ignoring case. A repository matches also with .git at
	// the end of Value, which its name does not have.
	Filter struct {
		Field Field
		Value string
	}
	// Vendor holds if the file is vendored.
	Vendor struct{}
)

func (And) expr()     {}
func (Or) expr()      {}
func (Not) expr()     {}
func (Content) expr() {}
func (Path) expr()    {}
func (Sym) expr()     {}
func (Filter) expr()  {}
func (Vendor) expr()  {}

// A Field is what a Filter compares.
type Field string

// The fields of filters.
const (
	FieldRepo   Field = "repo"
	FieldFile   Field = "file"
	FieldLang   Field = "lang"
	FieldBranch Field = "branch"
)

// Folds reports whether the query ignores case: by case:no, or by case:auto without an
// upper-case letter.
func (q Query) Folds() bool {
	return q.Case == CaseNo || q.Case == CaseAuto && !hasUpper(q.Root)
}

// hasUpper reports whether a word, regular expression or symbol of e has an upper-case
// letter, classes such as \W aside.
func hasUpper(e Expr) bool {
	switch e := e.(type) {
	case And:
		return anyUpper(e.Of)
	case Or:
		return anyUpper(e.Of)
	case Not:
		return hasUpper(e.Of)
	case Content:
		return e.Pattern.hasUpper()
	case Path:
		return e.Pattern.hasUpper()
	case Sym:
		return e.Pattern.hasUpper()
	}
	return false
}

// anyUpper reports whether one of the expressions has an upper-case letter (hasUpper).
func anyUpper(all []Expr) bool {
	for _, e := range all {
		if hasUpper(e) {
			return true
		}
	}
	return false
}

// hasUpper reports whether p has an upper-case letter. In a regular expression, a letter behind
// a backslash is a class or an escape, so it does not count.
func (p Pattern) hasUpper() bool {
	escaped := false
	for _, r := range p.Source {
		if unicode.IsUpper(r) && !escaped {
			return true
		}
		escaped = p.Regexp && r == '\\' && !escaped
	}
	return false
}
