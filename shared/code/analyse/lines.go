package analyse

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// A syntax is how a language writes comments and texts.
type syntax struct {
	line   []string    // beginnings of comments that end with the line
	block  [][2]string // beginnings and ends of other comments
	quotes string      // bytes that begin and end a text in one line
	long   []string    // quotes of texts of several lines
	nested bool        // block comments nest
}

var (
	slashes = [][2]string{{"/*", "*/"}}
	likeC   = syntax{line: []string{"//"}, block: slashes, quotes: `"'`}
	likeJS  = syntax{line: []string{"//"}, block: slashes, quotes: `"'`, long: []string{"`"}}
	hashes  = syntax{line: []string{"#"}, quotes: `"'`}
	likeSQL = syntax{line: []string{"--"}, block: slashes, quotes: `"'`}
	markup  = syntax{block: [][2]string{{"<!--", "-->"}}}
)

// syntaxes are the languages whose comments are known.
var syntaxes = map[string]syntax{
	"Go": {line: []string{"//"}, block: slashes, quotes: `"'`, long: []string{"`"}},
	"C":  likeC, "C++": likeC, "C#": likeC, "Objective-C": likeC, "Objective-C++": likeC, "Java": likeC, "Groovy": likeC, "Dart": likeC,
	"CUDA": likeC, "GLSL": likeC, "HLSL": likeC, "Protocol Buffer": likeC, "Thrift": likeC, "Solidity": likeC, "Zig": {line: []string{"//"}, quotes: `"'`},
	"Kotlin": {line: []string{"//"}, block: slashes, quotes: `"'`, long: []string{`"""`}, nested: true},
	"Scala":  {line: []string{"//"}, block: slashes, quotes: `"`, long: []string{`"""`}, nested: true},
	"Swift":  {line: []string{"//"}, block: slashes, quotes: `"`, long: []string{`"""`}, nested: true},
	"Rust":   {line: []string{"//"}, block: slashes, quotes: `"`, nested: true}, // ' begins lifetimes too
	"D":      likeC, "JavaScript": likeJS, "TypeScript": likeJS, "JSX": likeJS, "TSX": likeJS, "Vue": likeJS, "Svelte": likeJS,
	"CSS": {block: slashes, quotes: `"'`}, "SCSS": likeC, "Less": likeC, "JSON with Comments": likeC, "JSON5": likeC,
	"PHP":    {line: []string{"//", "#"}, block: slashes, quotes: `"'`},
	"Python": {line: []string{"#"}, quotes: `"'`, long: []string{`"""`, `'''`}}, "Starlark": {line: []string{"#"}, quotes: `"'`, long: []string{`"""`}},
	"Ruby":  {line: []string{"#"}, block: [][2]string{{"=begin", "=end"}}, quotes: `"'`},
	"Shell": hashes, "Perl": hashes, "R": hashes, "Makefile": {line: []string{"#"}}, "Dockerfile": {line: []string{"#"}}, "CMake": hashes,
	"YAML": {line: []string{"#"}}, "TOML": hashes, "INI": {line: []string{";", "#"}}, "Tcl": hashes, "Nix": hashes, "GraphQL": hashes, "Elixir": hashes,
	"PowerShell": {line: []string{"#"}, block: [][2]string{{"<#", "#>"}}, quotes: `"'`}, "HCL": {line: []string{"#", "//"}, block: slashes, quotes: `"`},
	"SQL": likeSQL, "PLpgSQL": likeSQL, "TSQL": likeSQL, "PLSQL": likeSQL,
	"Lua":     {line: []string{"--"}, block: [][2]string{{"--[[", "]]"}}, quotes: `"'`},
	"Haskell": {line: []string{"--"}, block: [][2]string{{"{-", "-}"}}, quotes: `"`, nested: true},
	"Erlang":  {line: []string{"%"}, quotes: `"`}, "TeX": {line: []string{"%"}}, "MATLAB": {line: []string{"%"}},
	"Clojure": {line: []string{";"}, quotes: `"`}, "Common Lisp": {line: []string{";"}, quotes: `"`}, "Emacs Lisp": {line: []string{";"}, quotes: `"`},
	"Scheme": {line: []string{";"}, quotes: `"`}, "Assembly": {line: []string{";", "#"}, block: slashes}, "Unix Assembly": {line: []string{"#"}, block: slashes},
	"Vim Script": {}, "OCaml": {block: [][2]string{{"(*", "*)"}}, quotes: `"`, nested: true}, "Pascal": {line: []string{"//"}, block: [][2]string{{"{", "}"}}, quotes: `'`},
	"HTML": markup, "XML": markup, "SVG": markup, "Markdown": {}, "Showcase": hashes,
}

// branchWords are the words that count to the complexity, outside of comments and texts.
var branchWords = map[string]bool{
	"if": true, "elif": true, "elsif": true, "for": true, "foreach": true, "while": true, "until": true, "unless": true,
	"case": true, "when": true, "catch": true, "except": true, "rescue": true, "and": true, "or": true,
}

// andLanguages are those in which the words and and or are operators.
var andLanguages = map[string]bool{"Python": true, "Ruby": true, "Lua": true, "Perl": true, "PHP": true, "SQL": true, "Starlark": true}

// branchless are the languages of markup and data.
var branchless = map[string]bool{"HTML": true, "XML": true, "SVG": true, "YAML": true, "TOML": true, "INI": true}

// counted is the numbers of lines of a file, and its complexity.
type counted struct{ lines, code, comment, complexity int }

// A counter reads a file from its begin to its end, and remembers what the current line
// has so far.
type counter struct {
	syntax
	counted
	text        []byte
	starts      [256]bool // bytes with which a comment, a text, a branch word or an operator may begin
	andBranches bool      // the words "and" and "or" are operators of the language, so they branch
	hasCode     bool      // of the current line, up to here
	hasComment  bool
}

// countLines counts the lines of a file in a language. Without a known syntax, each non-blank line
// is code, and the complexity is 0.
func countLines(lang string, content []byte) counted {
	s, known := syntaxes[lang]
	c := counter{syntax: s, text: content, andBranches: andLanguages[lang]}
	hasComments := len(s.line) > 0 || len(s.block) > 0
	hasBranches := known && hasComments && !branchless[lang] // a language without comments is not a program's
	c.prepare(hasBranches)
	for at := 0; at < len(content); {
		at = c.step(at)
	}
	if len(content) > 0 && content[len(content)-1] != '\n' { // the last line has no line feed
		c.endLine()
	}
	if hasBranches && c.code > 0 { // one path exists without branches
		c.complexity++
	} else {
		c.complexity = 0
	}
	return c.counted
}

// prepare sets c.starts: the bytes at which a comment, a text, a word or an operator of interest
// may begin; step passes over all others quickly. Branch words and operators count only if
// branches is true.
func (c *counter) prepare(branches bool) {
	for _, l := range c.line {
		c.starts[l[0]] = true
	}
	for _, b := range c.block {
		c.starts[b[0][0]] = true
	}
	for _, q := range []byte(c.quotes) {
		c.starts[q] = true
	}
	for _, q := range c.long {
		c.starts[q[0]] = true
	}
	if branches {
		for word := range branchWords {
			c.starts[word[0]] = true
		}
		c.starts['&'], c.starts['|'], c.starts['?'] = true, true, true
	}
}

// step reads one byte, word, operator, comment or text at byte at, and returns where the next one
// begins, which is always later. It notes in c what the current line has, and counts branches and
// the lines that end. Comments come before texts and operators, because / begins both.
func (c *counter) step(at int) int {
	b := c.text[at]
	switch {
	case b == '\n':
		c.endLine()
		return at + 1
	case b == ' ' || b == '\t' || b == '\r' || b == '\v' || b == '\f':
		return at + 1
	case !c.starts[b]:
		c.hasCode = true
		if isWordByte(b) {
			return c.skipWord(at)
		}
		return at + 1
	}
	if end, ok := c.skipComment(at); ok {
		return end
	}
	c.hasCode = true
	if end, ok := c.skipQuote(at); ok {
		return end
	}
	switch {
	case isWordByte(b):
		return c.skipWord(at)
	case (b == '&' || b == '|') && at+1 < len(c.text) && c.text[at+1] == b:
		c.complexity++
		return at + 2
	case b == '?' && at+1 < len(c.text) && c.text[at+1] == ' ':
		c.complexity++
	}
	return at + 1
}

// skipWord returns the end of the word that begins at byte at, and counts it in the complexity if
// it branches. Branch words have 2 to 7 bytes.
func (c *counter) skipWord(at int) int {
	end := at + 1
	for end < len(c.text) && isWordByte(c.text[end]) {
		end++
	}
	if n := end - at; n >= 2 && n <= 7 && c.starts[c.text[at]] {
		if w := string(c.text[at:end]); branchWords[w] && (c.andBranches || w != "and" && w != "or") {
			c.complexity++
		}
	}
	return end
}

func isWordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '$' || b >= utf8.RuneSelf
}

// skipComment returns the end of the comment that begins at byte at. ok is false if none begins
// there. Blocks are tried first, because -- begins --[[ too. The line feed after a line comment
// is not part of it, so that step ends the line.
func (c *counter) skipComment(at int) (end int, ok bool) {
	rest := c.text[at:]
	for _, b := range c.block {
		if bytes.HasPrefix(rest, []byte(b[0])) {
			return c.skipBlock(at, b), true
		}
	}
	for _, l := range c.line {
		if bytes.HasPrefix(rest, []byte(l)) {
			c.hasComment = true
			if i := bytes.IndexByte(rest, '\n'); i >= 0 {
				return at + i, true
			}
			return len(c.text), true
		}
	}
	return at, false
}

// skipBlock returns the end of the block comment that begins at byte at with b[0] and ends with
// b[1], and counts its lines. It nests if the language nests comments. Without an end, the
// comment ends with the text.
func (c *counter) skipBlock(at int, b [2]string) int {
	depth := 0
	for at < len(c.text) {
		switch rest := c.text[at:]; {
		case rest[0] == '\n':
			c.endLine()
			at++
		case bytes.HasPrefix(rest, []byte(b[1])) && depth > 0:
			c.hasComment = true
			at += len(b[1])
			if depth--; depth == 0 {
				return at
			}
		case bytes.HasPrefix(rest, []byte(b[0])) && (depth == 0 || c.nested):
			c.hasComment = true
			depth++
			at += len(b[0])
		default:
			c.hasComment = c.hasComment || !isBlank(rest[0])
			at++
		}
	}
	return at
}

func isBlank(b byte) bool { return b < utf8.RuneSelf && unicode.IsSpace(rune(b)) }

// skipQuote skips a text in quotes that begins at a place, and returns where it ends; ok is false
// if none begins there. Long quotes are tried first, because """ begins with ". A text in one line
// ends with its line at the latest, so that a quote in another language does not hide the rest of
// the file.
func (c *counter) skipQuote(at int) (end int, ok bool) {
	rest := c.text[at:]
	for _, q := range c.long {
		if bytes.HasPrefix(rest, []byte(q)) {
			return c.skipLong(at+len(q), q), true
		}
	}
	if bytes.IndexByte([]byte(c.quotes), rest[0]) < 0 {
		return at, false
	}
	for end = at + 1; end < len(c.text); end++ {
		switch c.text[end] {
		case '\\':
			end++
			if end < len(c.text) && c.text[end] == '\n' {
				return end, true
			}
		case '\n':
			return end, true
		case rest[0]:
			return end + 1, true
		}
	}
	return len(c.text), true
}

// skipLong returns the end of a text of several lines, whose first byte is at, and which quote
// ends. Its lines count as code; blank ones count as blank.
func (c *counter) skipLong(at int, quote string) int {
	for at < len(c.text) {
		switch rest := c.text[at:]; {
		case bytes.HasPrefix(rest, []byte(quote)):
			c.hasCode = true
			return at + len(quote)
		case rest[0] == '\n':
			c.endLine()
		case !isBlank(rest[0]):
			c.hasCode = true
		}
		at++
	}
	return at
}

// endLine counts the current line and begins the next one. A line with code and a comment is code.
func (c *counter) endLine() {
	c.lines++
	switch {
	case c.hasCode:
		c.code++
	case c.hasComment:
		c.comment++
	}
	c.hasCode, c.hasComment = false, false
}
