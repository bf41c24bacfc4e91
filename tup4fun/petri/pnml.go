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

	"leasehold/tup4fun/syntax"
)

// maxDepth bounds the nesting of PNML elements.
const maxDepth = 64

// ParsePNML parses a place/transition net in PNML. Places and transitions are named by
// their ids; pages are ignored. A document type is refused, because it could declare
// entities that expand without bound. The error is an Errors.
func ParsePNML(file, src string) (*Net, error) {
	p := &pnml{file: file, net: &Net{}, places: map[string]int{}, transitions: map[string]int{}, arcs: map[[2]string]*pnmlArc{}}
	if len(src) > MaxSource {
		p.report(syntax.Pos{Line: 1, Col: 1}, "the file has %d bytes; at most %d are read", len(src), MaxSource)
		return nil, p.errs
	}
	p.xml = xml.NewDecoder(strings.NewReader(src))
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
	arcs        map[[2]string]*pnmlArc
	order       []*pnmlArc
	last        *pnmlArc
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

// startElement reads the attributes of an element: it adds a net's name, a place, a transition or
// an arc, and reports what a place/transition net does not have. Other elements are passed over.
func (p *pnml) startElement(e xml.StartElement, at syntax.Pos) {
	attributes := map[string]string{}
	for _, a := range e.Attr {
		attributes[a.Name.Local] = a.Value
	}
	id := attributes["id"]
	switch e.Name.Local {
	case "net":
		if p.nets++; p.nets > 1 {
			p.report(at, "the file has more than one net")
		}
		if kind := strings.ToLower(attributes["type"]); kind != "" && !strings.Contains(kind, "ptnet") && !strings.Contains(kind, "p/t") {
			p.report(at, "the net has type %s; want a place/transition net", attributes["type"])
		}
		p.net.Name = id
	case "place":
		if p.checkNew(id, at) {
			p.places[id] = len(p.net.Places)
			p.net.Places, p.tokens = append(p.net.Places, id), append(p.tokens, 0)
		}
	case "transition":
		if p.checkNew(id, at) {
			p.transitions[id] = len(p.net.Transitions)
			p.net.Transitions = append(p.net.Transitions, Transition{Name: id})
		}
	case "arc":
		p.addArc(attributes["source"], attributes["target"], at)
	case "type", "arctype":
		if v := attributes["value"]; v != "" && v != "normal" {
			p.report(at, "an arc of type %s; a place/transition net has only normal arcs", v)
		}
	case "referencePlace", "referenceTransition":
		p.report(at, "references between pages are not supported")
	}
}

// checkNew returns true if the id may be added, and else reports that it is missing, used twice, or
// beyond MaxNodes.
func (p *pnml) checkNew(id string, at syntax.Pos) bool {
	_, place := p.places[id]
	_, transition := p.transitions[id]
	switch {
	case id == "":
		p.report(at, "a place or transition without an id")
	case place || transition:
		p.report(at, "the id %s is used twice", id)
	case len(p.net.Places)+len(p.net.Transitions) == MaxNodes:
		p.report(at, "there are more than %d places and transitions", MaxNodes)
	default:
		return true
	}
	return false
}

// addArc notes an arc of weight 1, whose weight may follow. A second arc between the same nodes is
// an error.
func (p *pnml) addArc(from, to string, at syntax.Pos) {
	p.last = &pnmlArc{from, to, 1, at}
	if p.arcs[[2]string{from, to}] != nil {
		p.report(at, "there are two arcs from %s to %s; give one the weight of both", from, to)
		return
	}
	p.arcs[[2]string{from, to}] = p.last
	p.order = append(p.order, p.last)
}

// endElement handles the text of place/initialMarking/text, arc/inscription/text and net/name/text:
// the last place and the last arc are those around it, because startElement added them. There is no
// last place if its id was refused. An invalid number is reported.
func (p *pnml) endElement(at syntax.Pos) {
	n := len(p.path)
	if n < 3 || p.path[n-1] != "text" {
		return
	}
	text := strings.TrimSpace(p.text.String())
	switch p.path[n-3] + " " + p.path[n-2] {
	case "place initialMarking":
		if tokens, ok := p.number(text, 0, at); ok && len(p.tokens) > 0 {
			p.tokens[len(p.tokens)-1] = tokens
		}
	case "arc inscription":
		if weight, ok := p.number(text, 1, at); ok {
			p.last.weight = weight
		}
	case "net name":
		p.net.Name = text
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

// resolve adds the arcs to their transitions, when all places and transitions are known. An arc
// must connect a place and a transition. Arcs are sorted by place.
func (p *pnml) resolve() {
	p.net.Initial = p.tokens
	for _, a := range p.order {
		from, fromPlace := p.places[a.from]
		to, toPlace := p.places[a.to]
		taker, takes := p.transitions[a.to]
		giver, gives := p.transitions[a.from]
		switch {
		case fromPlace && takes:
			t := &p.net.Transitions[taker]
			t.In = append(t.In, Arc{from, a.weight})
		case gives && toPlace:
			t := &p.net.Transitions[giver]
			t.Out = append(t.Out, Arc{to, a.weight})
		default:
			p.report(a.pos, "want an arc between a place and a transition, got one from %q to %q", a.from, a.to)
		}
	}
	byPlace := func(a, b Arc) int { return cmp.Compare(a.Place, b.Place) }
	for i := range p.net.Transitions {
		slices.SortFunc(p.net.Transitions[i].In, byPlace)
		slices.SortFunc(p.net.Transitions[i].Out, byPlace)
	}
}
