package analyse

import (
	"bytes"
	"regexp"

	"leasehold/shared/code"
)

// A rule finds definitions of one kind by their first line.
type rule struct {
	kind  string         // empty: the first group is the kind, and the second the name
	match *regexp.Regexp // anchored, of a line without its indent; the last group is the name
	top   bool           // the line must not be indented
}

// newRule returns a rule for lines at any indent.
func newRule(kind, pattern string) rule {
	return rule{kind: kind, match: regexp.MustCompile(`^(?:` + pattern + `)`)}
}
func newTopRule(kind, pattern string) rule { r := newRule(kind, pattern); r.top = true; return r }

const (
	javaWords = `(?:(?:public|protected|private|internal|static|final|abstract|sealed|partial|readonly|synchronized|native|default|override|virtual|async|unsafe|extern|new)\s+)`
	jsExport  = `(?:export\s+)?(?:default\s+)?(?:declare\s+)?`
)

var (
	javascript = []rule{
		newRule("function", jsExport+`(?:async\s+)?function\s*\*?\s*([\w$]+)`),
		newRule("class", jsExport+`(?:abstract\s+)?class\s+([\w$]+)`),
		newRule("function", jsExport+`(?:const|let|var)\s+([\w$]+)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*(?::[^=]+)?=>|[\w$]+\s*=>)`),
	}
	typescript = append(javascript[:len(javascript):len(javascript)],
		newRule("", jsExport+`(?:const\s+)?(interface|enum|type|namespace)\s+([\w$]+)`))
	c = []rule{
		newTopRule("macro", `#\s*define\s+(\w+)`),
		newTopRule("", `(?:typedef\s+)?(?:static\s+)?(struct|union|enum)\s+(\w+)\s*(?:\{|$)`),
		newTopRule("function", `[A-Za-z_][\w\s*]*?[\s*](\w+)\s*\([^;={}]*(?:\{.*)?$`),
	}
	// rules find symbols in the ten commonest languages, in shells, and in Go files that do not
	// parse.
	rules = map[string][]rule{
		"Go":         {newTopRule("func", `func\s+(\w+)`), newTopRule("method", `func\s+\([^)]*\)\s*(\w+)`), newTopRule("type", `type\s+(\w+)`)},
		"Python":     {newRule("function", `(?:async\s+)?def\s+(\w+)`), newRule("class", `class\s+(\w+)`)},
		"JavaScript": javascript, "JSX": javascript, "TypeScript": typescript, "TSX": typescript,
		"Java": {
			newRule("", javaWords+`*(class|interface|enum|record|@interface)\s+(\w+)`),
			newRule("method", javaWords+`+(?:<[^>]+>\s+)?(?:[\w<>\[\],.?]+\s+)*(\w+)\s*\([^;=]*$`),
		},
		"C#": {
			newRule("", javaWords+`*(class|interface|enum|record|struct|namespace)\s+([\w.]+)`),
			newRule("method", javaWords+`+(?:[\w<>\[\],.?]+\s+)*(\w+)\s*(?:<[^>]+>)?\([^;=]*$`),
		},
		"C": c,
		"C++": append([]rule{
			newRule("", `(?:template\s*<[^>]*>\s*)?(class|namespace)\s+(\w+)\s*(?:final\s*)?(?::[^:].*)?(?:\{.*)?$`),
			newTopRule("method", `[\w:<>~*&,\s]*?(\w+::~?\w+)\s*\([^;]*$`),
		}, c...),
		"Ruby": {newRule("method", `def\s+(?:self\.)?([\w?!=]+)`), newRule("", `(class|module)\s+([\w:]+)`)},
		"PHP": {
			newRule("function", `(?:(?:public|protected|private|static|final|abstract)\s+)*function\s+&?(\w+)`),
			newRule("", `(?:(?:final|abstract|readonly)\s+)*(class|interface|trait|enum)\s+(\w+)`),
		},
		"Rust": {
			newRule("function", `(?:pub(?:\([^)]*\))?\s+)?(?:(?:const|async|unsafe|default|extern(?:\s+"[^"]*")?)\s+)*fn\s+(\w+)`),
			newRule("", `(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+)?(struct|enum|trait|mod|type|union)\s+(\w+)`),
			newRule("macro", `macro_rules!\s*(\w+)`),
		},
		"Shell": {newRule("function", `(?:function\s+)?([A-Za-z_][\w:-]*)\s*\(\)`), newRule("function", `function\s+([A-Za-z_][\w:-]*)`)},
	}
)

// notNames are words that look like names to a rule.
var notNames = map[string]bool{
	"if": true, "for": true, "while": true, "switch": true, "return": true, "else": true, "do": true, "case": true, "catch": true,
	"sizeof": true, "defined": true, "new": true, "delete": true, "throw": true, "using": true, "lock": true, "foreach": true,
}

// maxRuleLine is the length of a line, in bytes, past which no definition is looked for.
const maxRuleLine = 500

// bySimpleRules returns the symbols that the rules of a language find, at most one in a line, by
// the first rule that matches. It returns nil for a language without rules. A symbol ends in its
// first line, because rules do not find the end.
func bySimpleRules(lang string, content []byte) (found []code.Symbol) {
	languageRules := rules[lang]
	if languageRules == nil {
		return nil
	}
	number := 0
	for line := range bytes.Lines(content) {
		number++
		text := bytes.TrimRight(line, "\r\n")
		trimmed := bytes.TrimLeft(text, " \t")
		// No definition is shorter than 4 bytes, or begins with another character.
		if len(trimmed) < 4 || len(trimmed) > maxRuleLine || !isWordByte(trimmed[0]) && trimmed[0] != '#' && trimmed[0] != '@' {
			continue
		}
		for _, r := range languageRules {
			if s, ok := r.symbolIn(trimmed, len(trimmed) < len(text)); ok {
				s.Line, s.End = number, number
				found = append(found, s)
				break
			}
		}
		if len(found) >= maxSymbols {
			break
		}
	}
	return found
}

// symbolIn returns the symbol that a line, without its indent, defines by r; indented is whether
// it had one. ok is false if the line does not match, or if what looks like the name is a word of
// the language.
func (r rule) symbolIn(line []byte, indented bool) (s code.Symbol, ok bool) {
	if r.top && indented {
		return s, false
	}
	m := r.match.FindSubmatch(line)
	if m == nil {
		return s, false
	}
	s = code.Symbol{Name: string(m[len(m)-1]), Kind: r.kind, Signature: oneLine(string(line)), Approx: true}
	if r.kind == "" {
		s.Kind = string(m[1])
	}
	return s, !notNames[s.Name]
}
