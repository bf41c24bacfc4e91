package code_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
	"leasehold/shared/fault"
)

// text returns the node of a word.
func text(s string) code.Expr {
	p := code.Pattern{Source: s}
	return code.Or{Of: []code.Expr{code.Content{Pattern: p}, code.Path{Pattern: p}}}
}

func expression(s string) code.Expr {
	return code.Content{Pattern: code.Pattern{Source: s, Regexp: true}}
}

func TestAQueryIsReadAsWritten(t *testing.T) {
	t.Parallel()
	and := func(of ...code.Expr) code.Expr { return code.And{Of: of} }
	or := func(of ...code.Expr) code.Expr { return code.Or{Of: of} }
	not := func(e code.Expr) code.Expr { return code.Not{Of: e} }
	for query, want := range map[string]code.Expr{
		`foo`:                  text("foo"),
		"  foo\tbar ":          and(text("foo"), text("bar")),
		`foo bar or baz`:       or(and(text("foo"), text("bar")), text("baz")),
		`foo or bar or -baz`:   or(text("foo"), text("bar"), not(text("baz"))),
		`order for floor`:      and(text("order"), text("for"), text("floor")),
		`"or"`:                 text("or"),
		`(a or b) -(c d)`:      and(or(text("a"), text("b")), not(and(text("c"), text("d")))),
		`((a))`:                text("a"),
		`(main())`:             text("main()"),
		`f(x) (g(y) or h)`:     and(text("f(x)"), or(text("g(y)"), text("h"))),
		`a)`:                   text("a)"),
		`- -- -> a-b`:          and(text("-"), text("--"), not(text(">")), text("a-b")),
		`"a \"b\" \\ \n"`:      text(`a "b" \ \n`),
		`/a b/`:                expression("a b"),
		`/a\/b/c/`:             expression(`a\/b/c`),
		`/usr/bin`:             text("/usr/bin"),
		`/usr/bin/`:            expression("usr/bin"),
		`// x`:                 and(text("//"), text("x")),
		`(/a/ or /(b)/)`:       or(expression("a"), expression("(b)")),
		`file:\.go$`:           code.Filter{Field: code.FieldFile, Value: `\.go$`},
		`repo:"a b"`:           code.Filter{Field: code.FieldRepo, Value: `a b`},
		`-lang:C++`:            not(code.Filter{Field: code.FieldLang, Value: "C++"}),
		`sym:/^New/`:           code.Sym{Pattern: code.Pattern{Source: "^New", Regexp: true}},
		`sym:New`:              code.Sym{Pattern: code.Pattern{Source: "New"}},
		`"sym:New"`:            text("sym:New"),
		`http://x std::string`: and(text("http://x"), text("std::string")),
		`vendor:no`:            not(code.Vendor{}),
		`case:no foo`:          text("foo"),

		`a AND b OR NOT c`:     or(and(text("a"), text("b")), not(text("c"))),
		`NOT (a OR b) c`:       and(not(or(text("a"), text("b"))), text("c")),
		`a AND(b)NOT c`:        and(text("a"), text("b"), not(text("c"))),
		`a AND NOT -b`:         and(text("a"), not(not(text("b")))),
		`"AND" "OR" "NOT"`:     and(text("AND"), text("OR"), text("NOT")),
		`ANDY NOTE ORDER a,OR`: and(text("ANDY"), text("NOTE"), text("ORDER"), text("a,OR")),
		`and not`:              and(text("and"), text("not")),
		`content:x`:            code.Content{Pattern: code.Pattern{Source: "x"}},
		`content:"a b"`:        code.Content{Pattern: code.Pattern{Source: "a b"}},
		`content:/a b/`:        expression("a b"),
	} {
		q, err := code.Parse(query)
		require.NoError(t, err, query)
		require.Equal(t, want, q.Root, query)
		require.Equal(t, query, q.Text)
	}
}

func TestABadQueryIsRefusedWithThePlace(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		``:                                     "nothing to search for",
		`  `:                                   "nothing to search for",
		`case:yes`:                             "nothing to search for",
		`foo or`:                               "both sides of or",
		`or foo`:                               "both sides of or",
		`foo AND`:                              "both sides of AND",
		`AND foo`:                              "both sides of AND",
		`foo AND AND bar`:                      "both sides of AND",
		`foo AND OR bar`:                       "both sides of AND",
		`(foo OR) bar`:                         "both sides of or",
		`foo NOT`:                              "at 8: want a word behind NOT",
		`(a NOT) b`:                            "want a word behind NOT",
		`NOT OR a`:                             "want a word behind NOT",
		`foo (bar`:                             "at 5: ( is not closed",
		`()`:                                   "at 1: the group is empty",
		`"foo`:                                 "at 1: the quote is not closed",
		`foo /(a/`:                             "at 5: error parsing regexp: missing closing ): `(a`",
		`/a**/`:                                "invalid nested repetition operator",
		`/(abcdefghijklmnopqrstuvwxyz){1000}/`: "states",
		`/(a{1001})/`:                          "invalid repeat count",
		`file:(`:                               "missing closing )",
		`repo:`:                                "want at least one character",
		`""`:                                   "want at least one character",
		`vendor:maybe`:                         "vendor:maybe: want yes or no",
		`case:lower`:                           "want yes, no or auto",
		`-case:no a`:                           "cannot be negated",
		"a\x00b":                               "UTF-8 text without NUL",
		"\xff":                                 "UTF-8 text without NUL",
		strings.Repeat("(", 99) + "a" + strings.Repeat(")", 99): "nested deeper",
		strings.Repeat("a ", 2000):                              "at most 1024 words",
		strings.Repeat("x", 10<<10):                             "query of 10240 bytes: want at most 8192",
	} {
		_, err := code.Parse(query)
		require.ErrorIs(t, err, fault.ErrInvalid, "%.40q", query)
		require.ErrorContains(t, err, want, "%.40q", query)
		require.Less(t, len(err.Error()), 400, "%.40q", query)
	}
}

func TestAutoCaseFoldsUnlessALetterIsUpperCase(t *testing.T) {
	t.Parallel()
	for query, folds := range map[string]bool{
		`Foo`: false, `foo`: false, `Foo case:no`: true, `foo case:yes`: false,
		`foo case:auto`: true, `fOo case:auto`: false, `case:auto a or (b -Éc)`: false,
		`/\W\Sfoo/ case:auto`: true, `/\\Wfoo/ case:auto`: false, `sym:foo case:auto`: true, `sym:F case:auto`: false,
		`file:README foo case:auto`: true,
	} {
		q, err := code.Parse(query)
		require.NoError(t, err)
		require.Equal(t, folds, q.Folds(), query)
	}
}

func TestEvaluateStopsWhenTheResultIsCertain(t *testing.T) {
	t.Parallel()
	values := map[string]code.Truth{"t": code.True, "f": code.False, "u": code.Unknown}
	for query, want := range map[string]code.Truth{
		"t": code.True, "-t": code.False, "u": code.Unknown, "-u": code.Unknown,
		"t u": code.Unknown, "f x": code.False, "t or x": code.True, "f or u": code.Unknown,
		"-(f or u) t": code.Unknown, "-(f x)": code.True,
	} {
		q, err := code.Parse(query)
		require.NoError(t, err)
		require.Equal(t, want, code.Evaluate(q.Root, func(e code.Expr) code.Truth {
			var name string
			switch e := e.(type) {
			case code.Content:
				name = e.Pattern.Source
			case code.Path:
				name = e.Pattern.Source
			}
			require.Contains(t, values, name, "%s: x is not evaluated", query)
			return values[name]
		}), query)
	}
}

// FuzzParse checks that each query is refused with an error of the input, or read into
// patterns that compile, within bounds.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`foo -(bar or "x y") /a.*b/ sym:New file:\.go$ case:auto`, `((((`, `/(a*)*b/`, `a)(b`, `-"`, `vendor:no or`, "/(?s).*\\n/", `file:\Q repo:\Qx.git`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		began := time.Now()
		q, err := code.Parse(query)
		if err != nil {
			require.ErrorIs(t, err, fault.ErrInvalid)
			return
		}
		require.Less(t, time.Since(began), 10*time.Second, "the states of a regular expression are bounded")
		leaves := 0
		code.Evaluate(q.Root, func(e code.Expr) code.Truth {
			leaves++
			switch e := e.(type) {
			case code.Content:
				_, err = e.Pattern.Compile(q.Folds())
			case code.Sym:
				_, err = e.Pattern.Compile(q.Folds())
			case code.Filter:
				_, err = e.Compile()
			}
			require.NoError(t, err)
			return code.Unknown
		})
		require.LessOrEqual(t, leaves, 2048, "a word has two")
	})
}

func ExampleParse() {
	q, err := code.Parse(`ErrClosed -file:_test\.go$ (lang:go or lang:rust)`)
	fmt.Println(q.Root, err)
	_, err = code.Parse(`ErrClosed (lang:go`)
	fmt.Println(err)
	// Output:
	// {[{[{{ErrClosed false}} {{ErrClosed false}}]} {{file _test\.go$}} {[{lang Go} {lang Rust}]}]} <nil>
	// query "ErrClosed (lang:go": at 11: ( is not closed; quote it to search for it: invalid
}
