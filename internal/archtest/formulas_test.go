package archtest

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// formulas are turns of phrase that a reader tires of, with how often each may occur in 10,000 words of
// comments. The models of shared/STYLE.md have 0 to 1 of most.
var formulas = []struct {
	match    *regexp.Regexp
	per10000 int
}{
	{regexp.MustCompile(`(?i)\berror is that\b`), 0},
	{regexp.MustCompile(`(?i)\bis fault\b`), 1},
	{regexp.MustCompile(`(?i)\bare those of\b`), 1},
	{regexp.MustCompile(`(?i)\bthat of\b`), 3},
	{regexp.MustCompile(`(?i)\bthat is\b`), 8},
}

func TestCommentsHaveFewFormulas(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, s := range tree(t) {
		for _, c := range s.ast.Comments {
			text.WriteString(strings.Join(strings.Fields(c.Text()), " ") + "\n")
		}
	}
	words := len(strings.Fields(text.String()))
	for _, f := range formulas {
		if n := len(f.match.FindAllString(text.String(), -1)); n*10000 > f.per10000*words {
			t.Errorf("%s: %d times in %d words of comments, over %d per 10,000: use a verb, or repeat the noun", f.match, n, words, f.per10000)
		}
	}
}

// maxReassigning is how many `if x = y; cond` the tree may have, because an assignment to a variable that
// exists before is easily overlooked there. Checks of errors do not count.
const maxReassigning = 10

func TestFewConditionsReassign(t *testing.T) {
	t.Parallel()
	var found []string
	for _, s := range tree(t) {
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if i, ok := n.(*ast.IfStmt); ok && reassigns(i) {
				found = append(found, files.Position(i.Pos()).String())
			}
			return true
		})
	}
	if len(found) > maxReassigning {
		t.Errorf("%d conditions begin with an assignment, over %d; write it on a line of its own:\n%s", len(found), maxReassigning, strings.Join(found, "\n"))
	}
}

// reassigns reports whether i begins with an assignment to variables that exist before, and does not
// check an error.
func reassigns(i *ast.IfStmt) bool {
	a, ok := i.Init.(*ast.AssignStmt)
	if !ok || a.Tok == token.DEFINE {
		return false
	}
	checksError := false
	ast.Inspect(i.Cond, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok && (name.Name == "nil" || strings.HasPrefix(name.Name, "err")) {
			checksError = true
		}
		return true
	})
	return !checksError
}
