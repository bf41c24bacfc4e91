package analyse

import (
	"bytes"
	"regexp"

	"leasehold/shared/codesearch"
)

// A rule finds definitions of one kind by their first line.
type rule struct {
	kind  string         // empty: the first group is the kind, and the second the name
	match *regexp.Regexp // anchored, of a line without its indent; the last group is the name
	top   bool           // the line must not be indented
}

func of(kind, pattern string) rule {
	return rule{kind: kind, match: regexp.MustCompile(`^(?:` + pattern + `)`)}
}
func top(kind, pattern string) rule { r := of(kind, pattern); r.top = true; return r }

const (
	javaWords = `(?:(?:public|protected|private|internal|static|final|abstract|sealed|partial|readonly|synchronized|native|default|override|virtual|async|unsafe|extern|new)\s+)`
	jsExport  = `(?:export\s+)?(?:default\s+)?(?:declare\s+)?`
)

var (
	javascript = []rule{
		of("function", jsExport+`(?:async\s+)?function\s*\*?\s*([\w$]+)`),
		of("class", jsExport+`(?:abstract\s+)?class\s+([\w$]+)`),
		of("function", jsExport+`(?:const|let|var)\s+([\w$]+)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*(?::[^=]+)?=>|[\w$]+\s*=>)`),
	}
	typescript = append(javascript[:len(javascript):len(javascript)],
		of("", jsExport+`(?:const\s+)?(interface|enum|type|namespace)\s+([\w$]+)`))
	c = []rule{
		top("macro", `#\s*define\s+(\w+)`),
		top("", `(?:typedef\s+)?(?:static\s+)?(struct|union|enum)\s+(\w+)\s*(?:\{|$)`),
		top("function", `[A-Za-z_][\w\s*]*?[\s*](\w+)\s*\([^;={}]*(?:\{.*)?$`),
	}
	// rules are those of the ten commonest languages, of shells, and of Go files that do not
	// parse.
	rules = map[string][]rule{
		"Go":         {top("func", `func\s+(\w+)`), top("method", `func\s+\([^)]*\)\s*(\w+)`), top("type", `type\s+(\w+)`)},
		"Python":     {of("function", `(?:async\s+)?def\s+(\w+)`), of("class", `class\s+(\w+)`)},
		"JavaScript": javascript, "JSX": javascript, "TypeScript": typescript, "TSX": typescript,
		"Java": {
			of("", javaWords+`*(class|interface|enum|record|@interface)\s+(\w+)`),
			of("method", javaWords+`+(?:<[^>]+>\s+)?(?:[\w<>\[\],.?]+\s+)*(\w+)\s*\([^;=]*$`),
		},
		"C#": {
			of("", javaWords+`*(class|interface|enum|record|struct|namespace)\s+([\w.]+)`),
			of("method", javaWords+`+(?:[\w<>\[\],.?]+\s+)*(\w+)\s*(?:<[^>]+>)?\([^;=]*$`),
		},
		"C": c,
		"C++": append([]rule{
			of("", `(?:template\s*<[^>]*>\s*)?(class|namespace)\s+(\w+)\s*(?:final\s*)?(?::[^:].*)?(?:\{.*)?$`),
			top("method", `[\w:<>~*&,\s]*?(\w+::~?\w+)\s*\([^;]*$`),
		}, c...),
		"Ruby": {of("method", `def\s+(?:self\.)?([\w?!=]+)`), of("", `(class|module)\s+([\w:]+)`)},
		"PHP": {
			of("function", `(?:(?:public|protected|private|static|final|abstract)\s+)*function\s+&?(\w+)`),
			of("", `(?:(?:final|abstract|readonly)\s+)*(class|interface|trait|enum)\s+(\w+)`),
		},
		"Rust": {
			of("function", `(?:pub(?:\([^)]*\))?\s+)?(?:(?:const|async|unsafe|default|extern(?:\s+"[^"]*")?)\s+)*fn\s+(\w+)`),
			of("", `(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+)?(struct|enum|trait|mod|type|union)\s+(\w+)`),
			of("macro", `macro_rules!\s*(\w+)`),
		},
		"Shell": {of("function", `(?:function\s+)?([A-Za-z_][\w:-]*)\s*\(\)`), of("function", `function\s+([A-Za-z_][\w:-]*)`)},
	}
)

// notNames are words that look like names to a rule.
var notNames = map[string]bool{
	"if": true, "for": true, "while": true, "switch": true, "return": true, "else": true, "do": true, "case": true, "catch": true,
	"sizeof": true, "defined": true, "new": true, "delete": true, "throw": true, "using": true, "lock": true, "foreach": true,
}

// maxRuleLine is the length of a line, in bytes, past which no definition is looked for.
const maxRuleLine = 500

// bySimpleRules returns the symbols that the rules of a language find.
func bySimpleRules(lang string, content []byte) (found []codesearch.Symbol) {
	own := rules[lang]
	if own == nil {
		return nil
	}
	number := 0
	for line := range bytes.Lines(content) {
		number++
		text := bytes.TrimRight(line, "\r\n")
		trimmed := bytes.TrimLeft(text, " \t")
		if len(trimmed) < 4 || len(trimmed) > maxRuleLine || !isWordByte(trimmed[0]) && trimmed[0] != '#' && trimmed[0] != '@' {
			continue
		}
		for _, r := range own {
			if s, ok := r.symbol(trimmed, len(trimmed) < len(text)); ok {
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

// symbol returns the symbol that a line defines.
func (r rule) symbol(line []byte, indented bool) (s codesearch.Symbol, ok bool) {
	if r.top && indented {
		return s, false
	}
	m := r.match.FindSubmatch(line)
	if m == nil {
		return s, false
	}
	s = codesearch.Symbol{Name: string(m[len(m)-1]), Kind: r.kind, Signature: oneLine(string(line)), Approx: true}
	if r.kind == "" {
		s.Kind = string(m[1])
	}
	return s, !notNames[s.Name]
}
