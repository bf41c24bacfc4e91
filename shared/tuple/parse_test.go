package tuple_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/tuple"
)

func TestAWordIsReadAsTheFieldThatItLooksLike(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]any{
		"42": int64(42), "-7": int64(-7), "+1": int64(1), "007": int64(7),
		"4.2": 4.2, ".5": 0.5, "1.5e3": 1500.0, "-2.": -2.0,
		"1e3": "1e3", "12e4f": "12e4f", "-": "-", "1,2": "1,2", "0x1f": "0x1f",
		"true": true, "false": false, "nil": nil, "True": "True",
		"word": "word", "a:b": "a:b", "http://x/y?z": "http://x/y?z", "a b": "a b", "": "",
		"'42'": "42", `"42"`: "42", "'it''": nil, `'it\'s'`: "it's", `'a\n\x00\u00e9'`: "a\n\x00é", "'a\nb'": "a\nb", `'"'`: `"`,
		"'...'": "...", "''": "",
		"int:1": 1, "int32:-1": int32(-1), "int64:1": int64(1), "float32:1.5": float32(1.5), "float64:1": 1.0,
		"float64:+Inf": math.Inf(1), "bool:true": true, "string:42": "42", "string:": "", "bytes:00ff": []byte{0, 255},
		"(a 1 (b) 'c )')": tuple.New("a", int64(1), tuple.New("b"), "c )"), "()": tuple.New(), "(a)": tuple.New("a"),
	} {
		got, err := tuple.ParseTuple([]string{word})
		if word == "'it''" {
			require.ErrorIs(t, err, tuple.ErrFormat)
			continue
		}
		require.NoError(t, err, word)
		require.True(t, got.Equal(tuple.New(want)), "%s: got %v, want %v", word, got, want)
	}
}

func TestAWordThatIsNoFieldIsRefused(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]error{
		"99999999999999999999": tuple.ErrFormat, "int32:9999999999": tuple.ErrFormat, "int:x": tuple.ErrFormat,
		"bytes:0": tuple.ErrFormat, "bool:maybe": tuple.ErrFormat, "float32:1e99": tuple.ErrFormat,
		"'open": tuple.ErrFormat, `'\q'`: tuple.ErrFormat, "'a'b": tuple.ErrFormat, "(open": tuple.ErrFormat, "(a)b": tuple.ErrFormat,
		"?string": tuple.ErrFormat, "...": tuple.ErrFormat, "(?string)": tuple.ErrFormat,
		strings.Repeat("(", 9) + strings.Repeat(")", 9): tuple.ErrBounds,
	} {
		_, err := tuple.ParseTuple([]string{word})
		require.ErrorIs(t, err, want, word)
		require.Less(t, len(err.Error()), 300)
	}
	_, err := tuple.ParseTuple(make([]string, tuple.MaxArity+1))
	require.ErrorIs(t, err, tuple.ErrBounds)
}

func TestATemplateHasFormalsAndMayBeOpen(t *testing.T) {
	t.Parallel()
	p, open, err := tuple.ParseTemplate([]string{"task", "?string", "?int64", "..."})
	require.NoError(t, err)
	require.True(t, open)
	require.Equal(t, tuple.Match("task", tuple.AnyString, tuple.AnyInt64), p)
	require.True(t, p.Begins(tuple.New("task", "a", int64(1), 2.0)))
	require.True(t, p.Begins(tuple.New("task", "a", int64(1))))
	require.False(t, p.Begins(tuple.New("task", "a")))
	require.False(t, p.Begins(tuple.New("task", "a", 1, 2.0)))

	p, open, err = tuple.ParseTemplate([]string{"..."})
	require.NoError(t, err)
	require.True(t, open)
	require.Empty(t, p)

	for _, words := range [][]string{{"...", "a"}, {"?"}, {"?word"}, {"?formal"}} {
		_, _, err := tuple.ParseTemplate(words)
		require.Error(t, err, words)
	}
}

func TestALineIsSplitOutsideOfQuotesAndParentheses(t *testing.T) {
	t.Parallel()
	words, err := tuple.Words("  task 'a b' \"c'd\" ( x (y) ')' )\tlast) \n")
	require.NoError(t, err)
	require.Equal(t, []string{"task", "'a b'", `"c'd"`, "( x (y) ')' )", "last)"}, words)
	for _, line := range []string{"'", "(", "'a'b", "(a)b"} {
		_, err := tuple.Words(line)
		require.ErrorIs(t, err, tuple.ErrFormat, line)
	}
}

func TestALineIsReadAsTheTupleThatWroteIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := tuples(3).Filter(transparent).Draw(t, "tuple")
		requireSame(t, want, want.Line())
	})
	for _, s := range []string{"", "\xff", "�", "'", `\`, "a'b\"c", "?string", "...", "true", "1", "1.5", "int:1", "(", "x y", "é", "\u2028"} {
		requireSame(t, tuple.New(s), tuple.New(s).Line())
	}
}

// transparent reports whether t has no opaque field, which has no notation.
func transparent(t tuple.Tuple) bool {
	for _, f := range t {
		if _, opaque := f.(tuple.Opaque); opaque {
			return false
		}
		if nested, ok := f.(tuple.Tuple); ok && !transparent(nested) {
			return false
		}
	}
	return true
}

type failer interface {
	Fatalf(format string, args ...any)
}

// requireSame requires that a line is read as a tuple.
func requireSame(t failer, want tuple.Tuple, line string) {
	words, err := tuple.Words(line)
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	got, err := tuple.ParseTuple(words)
	if err != nil || !got.Equal(want) {
		t.Fatalf("%v was written as %q and read as %v (%v)", want, line, got, err)
	}
}

func FuzzParseTemplate(f *testing.F) {
	for _, s := range []string{"task research ...", "?string 'a b' 4.2 int:1", `("a" (b nil)) bytes:00ff`, `'\x'`, "((((((((("} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, err := tuple.Words(line)
		if err != nil {
			return
		}
		p, _, err := tuple.ParseTemplate(words)
		if err != nil {
			return
		}
		again, err := tuple.Words(p.Line())
		require.NoError(t, err)
		q, open, err := tuple.ParseTemplate(again)
		require.NoError(t, err)
		require.False(t, open)
		require.Equal(t, p.Line(), q.Line())
		require.True(t, tuple.Tuple(p).Equal(tuple.Tuple(q)), "%s", p)
	})
}

func ExampleParseTemplate() {
	words, _ := tuple.Words("task research ?string ...")
	p, open, _ := tuple.ParseTemplate(words)
	fmt.Println(p, open)
	// Output: ("task", "research", ?string) true
}
