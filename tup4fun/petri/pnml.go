package petri

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html/charset"

	"leasehold/tup4fun/syntax"
)

// maxDepth bounds the nesting of PNML elements.
const maxDepth = 64

// ParsePNML parses a place/transition net in PNML, also as ProM and pm4py write it, with final markings.
// Places and transitions are named by their ids, or by their names if they have none. Pages are joined;
// elements that are specific to a tool are ignored. A document type is refused, because it could declare entities
// that expand without bound. The error is an Errors.
func ParsePNML(file, src string) (*Net, error) {
	p := &pnml{file: file, net: &Net{}, places: map[string]int{}, transitions: map[string]int{}, references: map[string]reference{}}
	if len(src) > MaxSource {
		p.report(syntax.Pos{Line: 1, Col: 1}, "the file has %d bytes; at most %d are read", len(src), MaxSource)
		return nil, p.errs
	}
	p.xml = xml.NewDecoder(strings.NewReader(src))
	p.xml.CharsetReader = charset.NewReaderLabel
	if p.readElements(); len(p.errs) == 0 {
		p.resolve()
	}
	if len(p.errs) > 0 {
		return nil, p.errs
	}
	return p.net, nil
}

// IsPNML reports whether a source looks like XML and not like .apt.
func IsPNML(src string) bool {
	return strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(src, "\uFEFF"), " \t\r\n"), "<")
}

type pnml struct {
	file        string
	xml         *xml.Decoder
	net         *Net
	errs        Errors
	nets        int
	path        []string // names of the open elements
	text        bytes.Buffer
	tokens      []int64 // initial tokens by place
	places      map[string]int
	transitions map[string]int
	references  map[string]reference
	arcs        []*pnmlArc
	finals      []pnmlMarking
	open        *node // the place or transition around the current element
}

// node is a place or a transition that has begun. Its id is empty until its name is read, if it has none.
type node struct {
	id           string
	isTransition bool
	tokens       int64
	pos          syntax.Pos
}

// reference is a place or a transition that stands for another one, by its id, usually on another page.
type reference struct {
	to  string
	pos syntax.Pos
}

// pnmlMarking is a final marking: the tokens of places by their ids.
type pnmlMarking struct {
	tokens []finalTokens
}

type finalTokens struct {
	place  string
	tokens int64
	known  bool // the number was read
	pos    syntax.Pos
}

// pnmlArc is an arc between a place and a transition, by their ids.
type pnmlArc struct {
	from, to string
	weight   int64
	pos      syntax.Pos
}

func (p *pnml) report(at syntax.Pos, format string, args ...any) {
	p.errs.Add(p.file, at, format, args...)
}

func (p *pnml) pos() syntax.Pos {
	line, col := p.xml.InputPos()
	return syntax.Pos{Line: line, Col: col}
}

// readElements reads the elements one by one, without building a tree, so that memory does not
// grow with the depth. It ends at the end of the file, at the first error of XML, or after
// MaxErrors; a document type is refused, because it could declare entities that grow.
func (p *pnml) readElements() {
	for len(p.errs) < MaxErrors {
		at := p.pos()
		t, err := p.xml.Token()
		switch {
		case errors.Is(err, io.EOF):
			if p.nets == 0 {
				p.report(at, "the file has no net")
			}
			return
		case err != nil:
			p.report(p.pos(), "%s", err)
			return
		}
		switch t := t.(type) {
		case xml.Directive:
			p.report(at, "a document type is not allowed")
			return
		case xml.StartElement:
			if t.Name.Local == "toolspecific" {
				if err := p.xml.Skip(); err != nil {
					p.report(p.pos(), "%s", err)
					return
				}
				continue
			}
			p.path = append(p.path, t.Name.Local)
			if len(p.path) > maxDepth {
				p.report(at, "more than %d nested elements", maxDepth)
				return
			}
			p.text.Reset()
			p.startElement(t, at)
		case xml.CharData:
			p.text.Write(t)
		case xml.EndElement:
			p.endElement(at)
			p.path = p.path[:len(p.path)-1]
			p.text.Reset()
		}
	}
}

// plainTypes are parts of the names of types, in small letters, whose nets are place/transition nets.
// A core model has no type of its own, but tools use it for such nets.
var plainTypes = []string{"ptnet", "p/t", "pnmlcoremodel", "epnml"}

// startElement reads the attributes of an element: it adds a net's name, a place, a transition, an arc or
// a final marking, and reports what a place/transition net does not have. Other elements are passed over.
func (p *pnml) startElement(e xml.StartElement, at syntax.Pos) {
	attributes := map[string]string{}
	for _, a := range e.Attr {
		attributes[strings.ToLower(a.Name.Local)] = a.Value
	}
	isFinal := slices.Contains(p.path, "finalmarkings")
	switch e.Name.Local {
	case "net":
		p.startNet(attributes["id"], strings.ToLower(attributes["type"]), at)
	case "marking":
		if isFinal {
			p.finals = append(p.finals, pnmlMarking{})
		}
	case "place", "transition":
		if !isFinal {
			p.open = &node{id: attributes["id"], isTransition: e.Name.Local == "transition", pos: at}
		} else if last := len(p.finals) - 1; last >= 0 {
			p.finals[last].tokens = append(p.finals[last].tokens, finalTokens{place: attributes["idref"], pos: at})
		}
	case "arc":
		p.arcs = append(p.arcs, &pnmlArc{attributes["source"], attributes["target"], 1, at})
	case "type", "arctype":
		p.checkArcType(attributes["value"], at)
	case "referencePlace", "referenceTransition":
		if id := attributes["id"]; p.checkNew(id, at) {
			p.references[id] = reference{attributes["ref"], at}
		}
	}
}

func (p *pnml) startNet(id, kind string, at syntax.Pos) {
	if p.nets++; p.nets > 1 {
		p.report(at, "the file has more than one net")
	}
	if kind != "" && !slices.ContainsFunc(plainTypes, func(plain string) bool { return strings.Contains(kind, plain) }) {
		p.report(at, "the net has type %s; want a place/transition net", kind)
	}
	p.net.Name = id
}

func (p *pnml) checkArcType(kind string, at syntax.Pos) {
	if kind != "" && kind != "normal" {
		p.report(at, "an arc of type %s; a place/transition net has only normal arcs", kind)
	}
}

// checkNew returns true if the id may be added, and else reports that it is missing, used twice, or
// beyond MaxNodes.
func (p *pnml) checkNew(id string, at syntax.Pos) bool {
	_, place := p.places[id]
	_, transition := p.transitions[id]
	_, reference := p.references[id]
	switch {
	case id == "":
		p.report(at, "a place or transition without an id")
	case place || transition || reference:
		p.report(at, "the id %s is used twice", id)
	case len(p.net.Places)+len(p.net.Transitions)+len(p.references) == MaxNodes:
		p.report(at, "there are more than %d places and transitions", MaxNodes)
	default:
		return true
	}
	return false
}

// endElement adds a place or a transition at its end, and reads the texts of names, initial and final
// markings, and weights. An invalid number is reported.
func (p *pnml) endElement(at syntax.Pos) {
	n := len(p.path)
	if p.open != nil && (p.path[n-1] == "place" || p.path[n-1] == "transition") {
		p.addNode(p.open)
		p.open = nil
	}
	if n < 3 || p.path[n-1] != "text" {
		return
	}
	text := strings.TrimSpace(p.text.String())
	switch p.path[n-3] + " " + p.path[n-2] {
	case "place initialMarking":
		if tokens, ok := p.number(text, 0, at); ok && p.open != nil {
			p.open.tokens = tokens
		}
	case "marking place":
		p.readFinalTokens(text, at)
	case "arc inscription":
		if weight, ok := p.number(text, 1, at); ok {
			p.arcs[len(p.arcs)-1].weight = weight
		}
	case "arc arctype":
		p.checkArcType(text, at)
	case "place name", "transition name":
		if p.open != nil && p.open.id == "" {
			p.open.id = text
		}
	case "net name":
		p.net.Name = text
	}
}

// addNode adds a place or a transition.
func (p *pnml) addNode(n *node) {
	switch {
	case !p.checkNew(n.id, n.pos):
	case n.isTransition:
		p.transitions[n.id] = len(p.net.Transitions)
		p.net.Transitions = append(p.net.Transitions, Transition{Name: n.id})
	default:
		p.places[n.id] = len(p.net.Places)
		p.net.Places, p.tokens = append(p.net.Places, n.id), append(p.tokens, n.tokens)
	}
}

// readFinalTokens reads the tokens of the last place of the last final marking.
func (p *pnml) readFinalTokens(text string, at syntax.Pos) {
	if len(p.finals) == 0 {
		return
	}
	all := p.finals[len(p.finals)-1].tokens
	if n, ok := p.number(text, 0, at); ok && len(all) > 0 {
		all[len(all)-1].tokens, all[len(all)-1].known = n, true
	}
}

// number reads a number of at least least and at most maxWeight, and reports whether it is one;
// if not, it has reported the error.
func (p *pnml) number(text string, least int64, at syntax.Pos) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > maxWeight {
		p.report(at, "expected a number of %d to %d, found %q", least, int64(maxWeight), text)
		return 0, false
	}
	return n, true
}

// resolve adds the arcs to their transitions, and the final markings, when all places and transitions are
// known.
func (p *pnml) resolve() {
	p.net.Initial = p.tokens
	p.resolveArcs()
	for _, f := range p.finals {
		m := make(Marking, len(p.net.Places))
		for _, t := range f.tokens {
			place, ok := p.places[p.referred(t.place)]
			switch {
			case !ok:
				p.report(t.pos, "a final marking names the place %q, which the net does not have", t.place)
			case !t.known:
				p.report(t.pos, "a final marking has no number of tokens for %s", t.place)
			default:
				m[place] += t.tokens
			}
		}
		p.net.Final = append(p.net.Final, m)
	}
}

// referred returns the id of the place or transition that id stands for: the end of a chain of references,
// or "" if the chain has no end.
func (p *pnml) referred(id string) string {
	for range len(p.references) + 1 {
		r, ok := p.references[id]
		if !ok {
			return id
		}
		id = r.to
	}
	return ""
}

// resolveArcs adds the arcs. Each must connect a place and a transition, directly or by references, and
// no two the same. Arcs are sorted by place.
func (p *pnml) resolveArcs() {
	known := map[[2]string]bool{}
	for _, a := range p.arcs {
		source, target := p.referred(a.from), p.referred(a.to)
		from, fromPlace := p.places[source]
		to, toPlace := p.places[target]
		taker, takes := p.transitions[target]
		giver, gives := p.transitions[source]
		switch {
		case known[[2]string{source, target}]:
			p.report(a.pos, "there are two arcs from %s to %s; give one the weight of both", source, target)
		case fromPlace && takes:
			t := &p.net.Transitions[taker]
			t.In = append(t.In, Arc{from, a.weight})
		case gives && toPlace:
			t := &p.net.Transitions[giver]
			t.Out = append(t.Out, Arc{to, a.weight})
		default:
			p.report(a.pos, "want an arc between a place and a transition, got one from %q to %q", a.from, a.to)
		}
		known[[2]string{source, target}] = true
	}
	byPlace := func(a, b Arc) int { return cmp.Compare(a.Place, b.Place) }
	for i := range p.net.Transitions {
		slices.SortFunc(p.net.Transitions[i].In, byPlace)
		slices.SortFunc(p.net.Transitions[i].Out, byPlace)
	}
}
