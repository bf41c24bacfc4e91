package match_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/code"
	"leasehold/shared/code/match"
)

// show prints a need: and is &, or is |, nothing known is *.
func show(n match.Need) string {
	switch n.Op {
	case match.Literal:
		return string(n.Text)
	case match.And, match.Or:
		var parts []string
		for _, sub := range n.Of {
			parts = append(parts, show(sub))
		}
		return "(" + strings.Join(parts, map[match.Op]string{match.And: "&", match.Or: "|"}[n.Op]) + ")"
	}
	return "*"
}

func TestANeedHasWhatEachMatchHas(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		`abc`:                        "abc",
		`ABC`:                        "abc",
		`(raft|Raft)[A-Z]\w+Error`:   "((raft|raft)&error)",
		`class \w+Exception extends`: "(class &exception extends)",
		`a.*b.*c`:                    "(a&b&c)",
		`(foo|ba[rz])qux`:            "(fooqux|barqux|bazqux)",
		`(foo|.*)`:                   "*",
		`(foo.|bar.*baz)+`:           "(foo|(bar&baz))",
		`x?abc`:                      "(xabc|abc)",
		`(ab)*`:                      "*",
		`(ab){3}c`:                   "abababc",
		`(ab){2,}c`:                  "(abab&c)",
		`^abc$|^$`:                   "*",
		`\bfoo\b`:                    "foo",
		`caf\x{fffd}e`:               "(caf&e)",
		`one\ntwo`:                   "(one&two)",
		`(?i)Kelvin`:                 "kelvin",
		"\u212aelvin":                "kelvin",
		`[a-l]bc`:                    "((abc|bbc|cbc|dbc|ebc|fbc|gbc|hbc|ibc|jbc|kbc|lbc)&bc)",
		`[ab]c`:                      "(ac|bc)",
		`[ab][cd]e`:                  "(ace|ade|bce|bde)",
		`x[^0-9]{2,}`:                "x",
		`.*`:                         "*",
		`(a*)*b`:                     "b",
	} {
		m, err := match.New(code.Pattern{Source: expression, Regexp: true}, false)
		require.NoError(t, err)
		require.Equal(t, want, show(m.Need()), expression)
	}
}

// TestLinesAreThoseThatMatchByThemselves compares Lines with a regular expression on each
// line, on random texts and patterns of few letters.
func TestLinesAreThoseThatMatchByThemselves(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("aAbkK\u212asſ\nßéÉ \r\ufffd")), 0, 60, -1).Draw(t, "text")
		text = strings.ReplaceAll(text, "\ufffd", "\xff")
		pattern := code.Pattern{Source: rapid.SampledFrom([]string{
			"a", "ab", "K", "ſ", "éa", `a+`, `^a`, `b$`, `\Aa`, `k\z`, `[^a]b`, `a\s+b`, `(a|b)k`, `(?i:a)b`, `(?i)és`, `.*`, `^$`, `\bk`, `\x{fffd}`, `a\x{fffd}`, `(a*)*b`, `[\s\S]b`, `\x0ab`, `[[:^alpha:]]a`, `b?$`, `a{2}|kb`,
		}).Draw(t, "pattern")}
		pattern.Regexp = rapid.Bool().Draw(t, "regexp")
		fold := rapid.Bool().Draw(t, "fold")
		re, err := pattern.Compile(fold)
		require.NoError(t, err)
		var want, got []string
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			if (i < len(lines)-1 || line != "") && re.MatchString(line) {
				want = append(want, fmt.Sprint(i+1, line))
			}
		}
		m, err := match.New(pattern, fold)
		require.NoError(t, err)
		var s match.Scratch
		m.Lines(t.Context(), []byte(text), &s, func(start, end int) bool {
			require.False(t, pattern.Multiline())
			got = append(got, fmt.Sprint(strings.Count(text[:start], "\n")+1, text[start:end]))
			for _, r := range m.Ranges([]byte(text[start:end])) {
				require.True(t, re.MatchString(text[start:end][r.Start:r.End]) || strings.ContainsAny(pattern.Source, `^$\`), "range of the match")
			}
			return true
		})
		require.Equal(t, want, got, "%q in %q", pattern.Source, text)
		for _, line := range want {
			folded, _ := code.Fold(nil, []byte(line))
			requireNeed(t, m.Need(), folded)
		}
	})
}

// requireNeed fails if a matching line does not have what the matcher said it needs.
func requireNeed(t require.TestingT, n match.Need, line []byte) {
	require.True(t, has(n, line), "need %s of line %q", show(n), line)
}

func has(n match.Need, line []byte) bool {
	switch n.Op {
	case match.Literal:
		return bytes.Contains(line, n.Text)
	case match.And:
		for _, sub := range n.Of {
			if !has(sub, line) {
				return false
			}
		}
	case match.Or:
		for _, sub := range n.Of {
			if has(sub, line) {
				return true
			}
		}
		return false
	}
	return true
}
