package code

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"leasehold/shared/fault"
)

// A Pattern is text to find: as it is, or a regular expression of RE2.
type Pattern struct {
	Source string
	Regexp bool
}

// Expression returns p as a regular expression.
func (p Pattern) Expression() string {
	if p.Regexp {
		return p.Source
	}
	return regexp.QuoteMeta(p.Source)
}

// Multiline reports whether p is matched against the whole file instead of line by line:
// if it has a line feed, the escape \n, or a dot that matches line feeds.
func (p Pattern) Multiline() bool {
	if strings.Contains(p.Source, "\n") {
		return true
	}
	if !p.Regexp {
		return false
	}
	for s := p.Source; ; {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			break
		}
		if s[i+1] == 'n' {
			return true
		}
		s = s[i+2:] // behind the escape, so that \\n is a backslash and n
	}
	re, err := syntax.Parse(p.Source, syntax.Perl)
	return err == nil && hasAnyChar(re)
}

// hasAnyChar reports whether re has a dot that matches line feeds too, as (?s) causes it.
func hasAnyChar(re *syntax.Regexp) bool {
	if re.Op == syntax.OpAnyChar {
		return true
	}
	for _, sub := range re.Sub {
		if hasAnyChar(sub) {
			return true
		}
	}
	return false
}

// Compile returns the regular expression that finds p in a line, or in a whole file if p is
// Multiline; then ^ and $ match at each line. ^ matches also behind a byte order mark, and $
// before CRLF (AtEdges). If fold is true, it ignores case. It fails with
// fault.ErrInvalid if p does not compile.
func (p Pattern) Compile(fold bool) (*regexp.Regexp, error) {
	flags := ""
	if fold {
		flags += "i"
	}
	if p.Multiline() {
		flags += "m"
	}
	expression := p.Expression()
	if flags != "" {
		expression = "(?" + flags + ")" + expression // no group, because \Q without \E would take its end for text
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, fault.ErrInvalid)
	}
	if !p.Regexp {
		return re, nil
	}
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, fault.ErrInvalid)
	}
	if edged, changed := AtEdges(tree); changed {
		re, err = regexp.Compile(edged.String())
	}
	return re, err
}

// maxStates is how many states a regular expression may have, about: repetitions multiply.
const maxStates = 20_000

// check returns fault.ErrInvalid if p is empty or, as a regular expression, does not parse or has
// too many states.
func (p Pattern) check() error {
	if p.Source == "" {
		return fmt.Errorf("want at least one character: %w", fault.ErrInvalid)
	}
	if !p.Regexp {
		return nil
	}
	re, err := syntax.Parse(p.Source, syntax.Perl)
	if err != nil {
		return fmt.Errorf("%w: %w", err, fault.ErrInvalid)
	}
	if n := States(re); n > maxStates {
		return fmt.Errorf("the regular expression has about %d states: want at most %d: %w", n, maxStates, fault.ErrInvalid)
	}
	return nil
}

// States estimates the number of states of re's program. Repetitions multiply those of their
// part; the result is at most 1<<30, because nested ones would overflow.
func States(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n += States(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return min(n, 1<<30)
}
