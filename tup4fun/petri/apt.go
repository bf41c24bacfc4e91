package petri

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An Error is what is wrong with a file.
type Error struct {
	File string
	Line int
	Msg  string
}

// Error returns file:line: message.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// word is a name, a number, a section, or a sign; /*…*/ and //… are nothing.
var word = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/|"[^"\n]*"|\.[a-z_]+|[A-Za-z0-9_]+|->|[{}\[\]*,:=-]|\n|[^\s]`)

type aptReader struct {
	file   string
	tokens []string
	lines  []int
	at     int
	net    *Net
	places map[string]int
	known  map[string]int // transitions
}

// ParseAPT reads a net. What it accepts: .name, .type PN (or LPN), .description,
// .places, .transitions, .flows and .initial_marking, in this order but for the
// first three; labels and options in brackets are passed over.
func ParseAPT(file, src string) (*Net, error) {
	r := &aptReader{file: file, net: &Net{}, places: map[string]int{}, known: map[string]int{}}
	if len(src) > MaxSource {
		return nil, &Error{file, 1, fmt.Sprintf("the file has %d bytes; at most %d are read", len(src), MaxSource)}
	}
	line := 1
	for _, t := range word.FindAllString(src, -1) {
		if t != "\n" && !strings.HasPrefix(t, "//") && !strings.HasPrefix(t, "/*") {
			r.tokens, r.lines = append(r.tokens, t), append(r.lines, line)
		}
		line += strings.Count(t, "\n")
	}
	r.lines = append(r.lines, line)
	for r.at < len(r.tokens) {
		if err := r.section(); err != nil {
			return nil, err
		}
	}
	if r.net.Places == nil {
		return nil, &Error{file, line, "there are no .places"}
	}
	if r.net.Start == nil {
		r.net.Start = make(Marking, len(r.net.Places))
	}
	return r.net, nil
}

func (r *aptReader) peek() string {
	if r.at < len(r.tokens) {
		return r.tokens[r.at]
	}
	return ""
}

func (r *aptReader) next() string {
	t := r.peek()
	r.at++
	return t
}

func (r *aptReader) fail(format string, args ...any) error {
	return &Error{r.file, r.lines[min(r.at, len(r.lines)-1)], fmt.Sprintf(format, args...)}
}

func (r *aptReader) expected(what string) error {
	found := r.peek()
	if found == "" {
		found = "the end of the file"
	}
	return r.fail("expected %s, found %s", what, found)
}

func (r *aptReader) section() error {
	switch s := r.next(); s {
	case ".name", ".description":
		t := r.next()
		if !strings.HasPrefix(t, `"`) || len(t) < 2 {
			r.at--
			return r.expected("a name in quotes")
		}
		if s == ".name" {
			r.net.Name = strings.Trim(t, `"`)
		}
	case ".type":
		if t := r.next(); t != "PN" && t != "LPN" {
			r.at--
			return r.expected("PN: only place/transition nets are read")
		}
	case ".places":
		return r.names(r.places, func(name string) { r.net.Places = append(r.net.Places, name) })
	case ".transitions":
		return r.names(r.known, func(name string) {
			r.net.Transitions = append(r.net.Transitions, Transition{Name: name, Take: map[int]int64{}, Give: map[int]int64{}})
		})
	case ".flows":
		return r.flows()
	case ".initial_marking":
		m, err := r.bag()
		r.net.Start = make(Marking, len(r.net.Places))
		for p, n := range m {
			r.net.Start[p] = n
		}
		return err
	default:
		r.at--
		return r.expected("a section: .name, .type, .places, .transitions, .flows or .initial_marking")
	}
	return nil
}

// names reads names up to the next section.
func (r *aptReader) names(known map[string]int, add func(string)) error {
	for r.peek() != "" && r.peek()[0] != '.' {
		name := r.next()
		if !isName(name) {
			r.at--
			return r.expected("a name or a section")
		}
		if _, ok := r.places[name]; ok {
			return r.fail("%s is there already", name)
		}
		if _, ok := r.known[name]; ok {
			return r.fail("%s is there already", name)
		}
		if len(known) == MaxNodes {
			return r.fail("there are more than %d", MaxNodes)
		}
		known[name] = len(known)
		add(name)
		if r.peek() == "[" {
			for r.peek() != "]" && r.peek() != "" {
				r.at++
			}
			r.at++
		}
	}
	return nil
}

func isName(s string) bool {
	return s != "" && (s[0] == '_' || s[0] >= '0' && s[0] <= '9' || s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z')
}

func (r *aptReader) flows() error {
	for r.peek() != "" && r.peek()[0] != '.' {
		name := r.next()
		t, ok := r.known[name]
		if !ok {
			r.at--
			return r.fail("%s is no transition", name)
		}
		if r.next() != ":" {
			r.at--
			return r.expected(": and {taken} -> {given}")
		}
		take, err := r.bag()
		if err != nil {
			return err
		}
		if r.next() != "->" {
			r.at--
			return r.expected("->")
		}
		give, err := r.bag()
		if err != nil {
			return err
		}
		r.net.Transitions[t].Take, r.net.Transitions[t].Give = take, give
	}
	return nil
}

// bag reads {2*p0, p1}.
func (r *aptReader) bag() (map[int]int64, error) {
	bag := map[int]int64{}
	if r.next() != "{" {
		r.at--
		return nil, r.expected("{")
	}
	for r.peek() != "}" {
		n := int64(1)
		if r.at+1 < len(r.tokens) && r.tokens[r.at+1] == "*" || r.peek() == "-" {
			v, err := strconv.ParseInt(r.peek(), 10, 64)
			if err != nil || v < 0 || v > MaxWeight {
				return nil, r.expected(fmt.Sprintf("a number from 0 to %d", MaxWeight))
			}
			n = v
			r.at += 2
		}
		p, ok := r.places[r.peek()]
		if !ok {
			if !isName(r.peek()) {
				return nil, r.expected("a place or }")
			}
			return nil, r.fail("%s is no place", r.peek())
		}
		r.at++
		if bag[p] += n; bag[p] > MaxWeight {
			return nil, r.fail("more than %d tokens of %s", MaxWeight, r.net.Places[p])
		}
		if bag[p] == 0 {
			delete(bag, p)
		}
		if r.peek() != "}" && r.next() != "," {
			r.at--
			return nil, r.expected(", or }")
		}
	}
	r.at++
	return bag, nil
}

// Place returns the number of a place, or -1.
func (n *Net) Place(name string) int { return slices.Index(n.Places, name) }
