package code

import (
	"fmt"
	"slices"
	"strings"

	"leasehold/shared/fault"
)

// lexer reads the words of a query.
type lexer struct {
	text string
	at   int
}

// A word is a pattern with the field before its colon; the field is empty if it has none.
type word struct {
	field string
	Pattern
}

var fields = []string{"repo", "file", "content", "lang", "sym", "case", "branch", "vendor"}

// Fields returns the names that filter in a query, such as lang in lang:go. Another name with a
// colon is text.
func Fields() []string { return slices.Clone(fields) }

// errorAt returns fault.ErrInvalid with the text and the place, in bytes from 1, that is read next.
func (l *lexer) errorAt(format string, arguments ...any) error {
	return fmt.Errorf("at %d: %s: %w", l.at+1, fmt.Sprintf(format, arguments...), fault.ErrInvalid)
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

// rest skips white space, and returns the text from the next word on; empty at the end.
func (l *lexer) rest() string {
	for l.at < len(l.text) && isSpace(l.text[l.at]) {
		l.at++
	}
	return l.text[l.at:]
}

// termFollows reports whether a term follows, and not an operator between terms, the end of the text,
// or the end of a group. depth is the number of groups around; at 0 a closing parenthesis is text.
func (l *lexer) termFollows(depth int) bool {
	r := l.rest()
	return r != "" && !l.isOperator("or", depth) && !l.isOperator("OR", depth) && !l.isOperator("AND", depth) && (r[0] != ')' || depth == 0)
}

// isOperator reports whether an operator is next: its letters as a word of their own. An operator in
// upper case is one also before the parenthesis that closes a group, where it lacks a word.
func (l *lexer) isOperator(name string, depth int) bool {
	r, ok := strings.CutPrefix(l.rest(), name)
	return ok && (r == "" || isSpace(r[0]) || r[0] == '(' || r[0] == ')' && depth > 0 && name != "or")
}

// acceptOperator reads an operator. It returns false, and reads nothing, if something else is next.
func (l *lexer) acceptOperator(name string, depth int) bool {
	if !l.isOperator(name, depth) {
		return false
	}
	l.at += len(name)
	return true
}

// acceptOr reads the operator or, which may be in upper case.
func (l *lexer) acceptOr(depth int) bool {
	return l.acceptOperator("or", depth) || l.acceptOperator("OR", depth)
}

// accept reads b. It returns false, and reads no text, if something else is next.
func (l *lexer) accept(b byte) bool {
	if r := l.rest(); r == "" || r[0] != b {
		return false
	}
	l.at++
	return true
}

// acceptNot reads NOT, or a minus sign that negates the term behind it, and reports whether there is
// one. A minus sign before white space, a closing parenthesis or another minus sign, or at the
// end, is text.
func (l *lexer) acceptNot(depth int) bool {
	if l.acceptOperator("NOT", depth) {
		return true
	}
	r := l.rest()
	if len(r) < 2 || r[0] != '-' || r[1] == '-' || r[1] == ')' || isSpace(r[1]) {
		return false
	}
	l.at++
	return true
}

// word reads a word, "text" or /regexp/, perhaps behind FIELD:. depth is the number of groups
// around it. Only words, content: and sym: take /regexp/, because the value of other fields is one without
// slashes. A slash that does not begin a regular expression is text.
func (l *lexer) word(depth int) (word, error) {
	var w word
	if name, _, ok := strings.Cut(l.rest(), ":"); ok && slices.Contains(fields, name) {
		w.field = name
		l.at += len(name) + 1
	}
	r := l.text[l.at:]
	switch {
	case strings.HasPrefix(r, `"`):
		text, err := l.quoted()
		w.Pattern = Pattern{Source: text}
		return w, err
	case strings.HasPrefix(r, "/") && (w.field == "" || w.field == "sym" || w.field == "content"):
		if end := l.closingSlash(r, depth); end > 0 {
			w.Pattern = Pattern{Source: r[1:end], Regexp: true}
			l.at += end + 1
			return w, nil
		}
	}
	end := plainEnd(r, depth)
	w.Pattern = Pattern{Source: r[:end]}
	l.at += end
	return w, nil
}

// plainEnd returns where a word without quotes ends: at white space, or at the parenthesis
// that closes the group around it. Parentheses that the word opens itself, as f(x) does, belong
// to it. At depth 0 no group is open, so all parentheses belong to the word.
func plainEnd(r string, depth int) int {
	open := 0
	for i := range len(r) {
		switch {
		case isSpace(r[i]):
			return i
		case r[i] == '(':
			open++
		case r[i] == ')':
			if open == 0 && depth > 0 {
				return i
			}
			open--
		}
	}
	return len(r)
}

// closingSlash returns the place of the slash that ends a regular expression: the first
// without a backslash that a space, the end, or the end of a group follows. It returns 0 if
// there is none; then the slash is text, as in /usr/bin.
func (l *lexer) closingSlash(r string, depth int) int {
	escaped := false
	for i := 2; i < len(r); i++ { // an empty one is text too, because // is common in code
		if r[i] == '/' && !escaped && (i+1 == len(r) || isSpace(r[i+1]) || r[i+1] == ')' && depth > 0) {
			return i
		}
		escaped = r[i] == '\\' && !escaped
	}
	return 0
}

// quoted reads text between quotes; \" and \\ in it are a quote and a backslash.
func (l *lexer) quoted() (string, error) {
	var b strings.Builder
	for i := l.at + 1; i < len(l.text); i++ {
		switch c := l.text[i]; {
		case c == '"':
			l.at = i + 1
			return b.String(), nil
		case c == '\\' && i+1 < len(l.text) && (l.text[i+1] == '"' || l.text[i+1] == '\\'):
			i++
			b.WriteByte(l.text[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", l.errorAt(`the quote is not closed; write "\"" to search for a quote`)
}
