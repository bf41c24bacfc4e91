package archtest

import (
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

var wordsDir = flag.String("words.dir", "", "check and print the words of this folder and those below it only")

// A unit is one folder with its Go files, documents, scripts and pages.
type unit struct {
	words    int            // in comments of Go files, or in documents
	counted  map[string]int // occurrences of the words in limits, by word
	findings []string       // banned words: file:line, word, plain alternative
}

// A passage is one comment, string or document, with the line that it begins on.
type passage struct {
	file string
	line int
	text string
}

// readUnits returns all units by folder, with their findings.
func readUnits(t *testing.T) map[string]*unit {
	t.Helper()
	units := make(map[string]*unit)
	of := func(file string) *unit {
		dir := path.Dir(file)
		if before, _, ok := strings.Cut(dir, "/testdata"); ok {
			dir = before
		}
		if units[dir] == nil {
			units[dir] = &unit{counted: make(map[string]int)}
		}
		return units[dir]
	}
	for _, s := range tree(t) {
		if path.Dir(s.path) == "internal/archtest" { // its tables hold the banned words
			continue
		}
		u := of(s.path)
		u.checkFileName(s.path)
		for _, group := range s.ast.Comments {
			u.count(commentText(group))
			u.check(passage{s.path, s.line(group.Pos()), commentText(group)})
		}
		prose(s, func(line int, text string) { u.check(passage{s.path, line, text}) })
		declared(s.ast, func(name *ast.Ident) { u.checkName(s, name) })
	}
	for _, file := range documents(t) {
		text, err := os.ReadFile(filepath.Join("../..", file))
		require.NoError(t, err)
		u := of(file)
		if path.Ext(file) == ".md" {
			u.count(string(text))
		}
		u.check(passage{file, 1, string(text)})
	}
	return units
}

// commentText is group without its comment signs; it keeps the lines, so that a
// position in it gives the line in the file.
func commentText(group *ast.CommentGroup) string {
	var b strings.Builder
	for _, c := range group.List {
		b.WriteString(strings.TrimPrefix(c.Text, "//"))
		b.WriteByte('\n')
	}
	return b.String()
}

// prose calls visit with each string literal of s that holds a space: others are
// keys, paths and names of fields, which stay.
func prose(s source, visit func(line int, text string)) {
	ast.Inspect(s.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Tag != nil { // a type inside it is visited all the same
				ast.Inspect(n.Type, func(ast.Node) bool { return true })
				return false
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && strings.ContainsAny(text, " \n") {
				visit(s.line(n.Pos()), text)
			}
		}
		return true
	})
}

// declared calls visit with each identifier that file declares.
func declared(file *ast.File, visit func(*ast.Ident)) {
	names := func(all []*ast.Ident) {
		for _, name := range all {
			visit(name)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			visit(n.Name)
		case *ast.TypeSpec:
			visit(n.Name)
		case *ast.ValueSpec:
			names(n.Names)
		case *ast.Field:
			names(n.Names)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, left := range n.Lhs {
					if name, ok := left.(*ast.Ident); ok {
						visit(name)
					}
				}
			}
		}
		return true
	})
}

// documents lists the files that are not Go and that a person reads.
func documents(t *testing.T) []string {
	t.Helper()
	read := []string{".md", ".html", ".css", ".js", ".txtar", ".tup", ".map", ".sh", ".yaml"}
	var all []string
	for _, dir := range []string{"cmd", "coordinator", "docker", "docs", "examples", "internal", "manager", "models", "node", "shared", "tup4fun", "worker", ".ci"} {
		require.NoError(t, filepath.WalkDir(filepath.Join("../..", dir), func(file string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && (slices.Contains(read, path.Ext(file)) || dir == ".ci") {
				rel, _ := filepath.Rel("../..", file)
				all = append(all, filepath.ToSlash(rel))
			}
			return err
		}))
	}
	top, err := filepath.Glob("../../*.md")
	require.NoError(t, err)
	for _, file := range top {
		all = append(all, filepath.Base(file))
	}
	return append(all, "Makefile")
}

func (u *unit) count(text string) {
	for _, field := range strings.Fields(text) {
		if strings.ContainsFunc(field, unicode.IsLetter) {
			u.words++
		}
	}
	for _, l := range limits {
		u.counted[l.word] += len(l.match.FindAllString(text, -1))
	}
}

// contextAfter is how many bytes after a banned word may hold what excuses it.
const contextAfter = 40

func (u *unit) check(p passage) {
	for _, b := range phrases {
		for _, at := range b.match.FindAllStringIndex(p.text, -1) {
			around := p.text[at[0]:min(at[1]+contextAfter, len(p.text))]
			if b.except != nil && b.except.MatchString(around) || slices.Contains(exempt[p.file], strings.ToLower(p.text[at[0]:at[1]])) {
				continue
			}
			line := p.line + strings.Count(p.text[:at[0]], "\n")
			u.findings = append(u.findings, fmt.Sprintf("%s:%d: %q: %s", p.file, line, strings.Join(strings.Fields(p.text[at[0]:at[1]]), " "), b.plain))
		}
	}
}

// checkName compares the words of a declared identifier with bannedNames, and the
// whole of it with the names that were replaced. Names of tests are sentences that
// docs/testing.md quotes, so they are exempt.
func (u *unit) checkName(s source, name *ast.Ident) {
	if s.test() && strings.HasPrefix(name.Name, "Test") {
		return
	}
	at := fmt.Sprintf("%s:%d: name %s: ", s.path, s.line(name.Pos()), name.Name)
	for _, word := range camelWords(name.Name) {
		if plain, ok := bannedNames[word]; ok {
			u.findings = append(u.findings, at+plain)
		}
	}
	for _, plain := range replacements(replaced, s.path, name.Name) {
		u.findings = append(u.findings, at+plain)
	}
}

func (u *unit) checkFileName(file string) {
	name := strings.TrimSuffix(strings.TrimSuffix(path.Base(file), ".go"), "_test")
	if plain, ok := bannedNames[name]; ok {
		u.findings = append(u.findings, fmt.Sprintf("%s: file name: %s", file, plain))
	}
	for _, plain := range replacements(replacedFiles, file, name) {
		u.findings = append(u.findings, fmt.Sprintf("%s: file name: %s", file, plain))
	}
}

// replacements returns the plain names that table has for name in file.
func replacements(table []renames, file, name string) []string {
	var plain []string
	for _, r := range table {
		if i := slices.Index(strings.Fields(r.names), name); i >= 0 && within(path.Dir(file), r.dir) {
			plain = append(plain, strings.Fields(r.plain)[i])
		}
	}
	return plain
}

// camelWords splits an identifier into lower-case words.
func camelWords(name string) []string {
	var words []string
	start := 0
	for i, r := range name {
		// The last capital of a row begins a word: HTTPRoom is http and room.
		begins := unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(rune(name[i-1])) || i+1 < len(name) && unicode.IsLower(rune(name[i+1])))
		if begins || r == '_' {
			words, start = append(words, strings.ToLower(strings.Trim(name[start:i], "_"))), i
		}
	}
	return append(words, strings.ToLower(strings.Trim(name[start:], "_")))
}

// allowance is how many occurrences of a word a unit of so many words may have:
// the limit per 10,000 words, rounded up, because one use is never a habit.
func (l limit) allowance(words int) int { return (words*l.per10000 + 9999) / 10000 }

func TestWordsArePlain(t *testing.T) {
	t.Parallel()
	units := readUnits(t)
	all := unit{counted: make(map[string]int)}
	docs := unit{counted: make(map[string]int)}
	for _, dir := range slices.Sorted(maps.Keys(units)) {
		if !within(dir, *wordsDir) {
			continue
		}
		u := units[dir]
		sum := &all
		if dir == "docs" || dir == "." {
			sum = &docs
		}
		sum.words += u.words
		var over, counts []string
		for _, l := range limits {
			n := u.counted[l.word]
			sum.counted[l.word] += n
			if n > 0 {
				counts = append(counts, fmt.Sprintf("%s %d", l.word, n))
			}
			if l.per10000 > 0 && n > l.allowance(u.words) {
				over = append(over, fmt.Sprintf("%s: %q %d times in %d words of comments, at most %d: %s", dir, l.word, n, u.words, l.allowance(u.words), l.plain))
			}
		}
		found := slices.Concat(u.findings, over)
		if !testing.Verbose() && isUnclean(dir) {
			continue
		}
		if testing.Verbose() {
			t.Logf("%s: %d to change; %d words: %s", dir, len(found), u.words, strings.Join(counts, ", "))
		}
		for _, f := range found {
			if isUnclean(dir) {
				t.Log("    " + f)
			} else {
				t.Error(f)
			}
		}
	}
	if testing.Verbose() {
		all.logRates(t, "comments")
		docs.logRates(t, "documents")
	}
	if len(unclean) > 0 || *wordsDir != "" {
		return
	}
	for _, l := range limits {
		if n := all.counted[l.word]; l.per10000 > 0 && n*10000 > l.per10000*all.words {
			t.Errorf("%q: %d times in %d words of comments, over %d per 10,000: %s", l.word, n, all.words, l.per10000, l.plain)
		}
	}
}

func isUnclean(dir string) bool {
	return slices.ContainsFunc(unclean, func(name string) bool {
		only, exact := strings.CutSuffix(name, "!")
		return dir == only || !exact && within(dir, name)
	})
}

func (u *unit) logRates(t *testing.T, what string) {
	t.Helper()
	t.Logf("%s: %d words; per 10,000:", what, u.words)
	for _, l := range limits {
		t.Logf("    %-10s %6.1f (%d)", l.word, float64(u.counted[l.word])*1e4/float64(max(u.words, 1)), u.counted[l.word])
	}
}

func TestWordsAreFoundInTheirContext(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"%q is no id":                        true,
		"if there is no such task":           false,
		"it is no longer held":               false,
		"the worker hands the task back":     false,
		"main hands over to cmd":             true,
		"is told of each":                    true,
		"the number of\nwhat was put":        true,
		"a template is wanted":               true,
		"ErrConflict: the lease was revoked": false,
	} {
		var u unit
		u.check(passage{"f.go", 1, text})
		require.Equal(t, want, len(u.findings) > 0, "%q: %v", text, u.findings)
	}
	require.Equal(t, []string{"disk", "room", "left"}, camelWords("diskRoomLeft"))
	require.Equal(t, []string{"is", "a", "new", "http", "room"}, camelWords("isANewHTTPRoom"))
	for _, b := range phrases {
		require.NotEmpty(t, b.plain, "%s has no plain alternative", b.match)
	}
	for _, r := range slices.Concat(replaced, replacedFiles) {
		require.Len(t, strings.Fields(r.plain), len(strings.Fields(r.names)), "%s: names and plain are in pairs", r.dir)
	}
}

func word(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:` + strings.ReplaceAll(pattern, " ", `\s+`) + `)\b`)
}
