package petri

import (
	"slices"

	"leasehold/tup4fun/syntax"
)

// file reads the sections, each at most once and in any order. After an error it
// continues with the next line.
func (p *parser) file() {
	read := map[string]func() error{
		".name": p.title, ".type": p.kindOfNet, ".description": p.description,
		".places": p.placeLine, ".transitions": p.transitionLine, ".flows": p.flowLine,
		".initial_marking": p.initialMarking, ".final_markings": p.finalMarkings,
	}
	p.sections = map[string]syntax.Pos{}
	for p.tok.kind != end {
		if p.tok.kind != section {
			_ = p.expected("a section such as .places") // the error is already reported
			p.recover()
			continue
		}
		name := p.advance()
		if first, twice := p.sections[name.text]; twice {
			p.report(name.pos, "%s occurs twice, first in line %d", name.text, first.Line)
		}
		p.sections[name.text] = name.pos
		item, known := read[name.text]
		if !known {
			p.report(name.pos, "there is no section %s; the sections are .name, .type, .description, .places, .transitions, .flows, .initial_marking and .final_markings", name)
			item = func() error { return errBroken }
		}
		p.items(item)
	}
	for _, needed := range []string{".places", ".transitions", ".flows"} {
		if _, ok := p.sections[needed]; !ok {
			p.report(p.tok.pos, "the section %s is missing", needed)
		}
	}
}

// items reads the items of a section.
func (p *parser) items(item func() error) {
	for p.tok.kind != end && p.tok.kind != section {
		if item() != nil {
			p.recover()
		}
	}
}

// recover skips to the next line, but at least one token.
func (p *parser) recover() {
	for line := p.tok.pos.Line; p.tok.kind != end && p.tok.kind != section && p.tok.pos.Line == line; {
		p.advance()
	}
}

func (p *parser) title() error {
	if p.tok.kind != quoted {
		return p.expected("a name in quotes")
	}
	p.net.Name = p.advance().text
	return nil
}

func (p *parser) description() error {
	if p.tok.kind != quoted {
		return p.expected("a text in quotes")
	}
	p.advance()
	return nil
}

func (p *parser) kindOfNet() error {
	if p.tok.text != "PN" && p.tok.text != "LPN" {
		return p.expected("PN or LPN (place/transition nets)")
	}
	p.advance()
	return nil
}

func (p *parser) placeLine() error {
	name, err := p.name("a place")
	if err != nil {
		return err
	}
	if p.checkNew(name) {
		p.places[name.text] = len(p.net.Places)
		p.net.Places = append(p.net.Places, name.text)
	}
	_, err = p.attributes()
	return err
}

func (p *parser) transitionLine() error {
	name, err := p.name("a transition")
	if err != nil {
		return err
	}
	attributes, err := p.attributes()
	if p.checkNew(name) {
		p.transitions[name.text] = len(p.net.Transitions)
		p.net.Transitions = append(p.net.Transitions, Transition{Name: name.text, Label: attributes["label"]})
	}
	return err
}

// checkNew reports a name that is used already, or beyond MaxNodes. It returns true if
// the name may be added.
func (p *parser) checkNew(name token) bool {
	_, place := p.places[name.text]
	_, transition := p.transitions[name.text]
	switch {
	case place || transition:
		p.report(name.pos, "%s is already %s", name, map[bool]string{true: "a place", false: "a transition"}[place])
		return false
	case len(p.net.Places)+len(p.net.Transitions) == MaxNodes:
		p.report(name.pos, "there are more than %d places and transitions", MaxNodes)
		p.lex.End()
		return false
	}
	return true
}

// attributes reads attributes in brackets: [label="a", …].
func (p *parser) attributes() (map[string]string, error) {
	if !p.accept("[") {
		return nil, nil
	}
	all := map[string]string{}
	for {
		key, err := p.name("the name of an attribute")
		if err != nil {
			return nil, err
		}
		if err := p.expect("="); err != nil {
			return nil, err
		}
		if p.tok.kind != quoted && p.tok.kind != word {
			return nil, p.expected("the value of " + key.text)
		}
		all[key.text] = p.advance().text
		if !p.accept(",") {
			return all, p.expect("]")
		}
	}
}

func (p *parser) flowLine() error {
	name, err := p.name("a transition")
	if err != nil {
		return err
	}
	if err := p.expect(":"); err != nil {
		return err
	}
	f := flow{transition: name}
	if f.in, err = p.bag(); err != nil {
		return err
	}
	if err := p.expect("->"); err != nil {
		return err
	}
	f.out, err = p.bag()
	p.flows = append(p.flows, f)
	return err
}

func (p *parser) initialMarking() (err error) {
	if p.initial != nil {
		return p.expected("a section, because the initial marking is complete")
	}
	p.initial, err = p.bag()
	return err
}

// finalMarkings reads {{p0}, {p1}}, or a single marking.
func (p *parser) finalMarkings() error {
	before := *p.lex
	first := p.tok
	if err := p.expect("{"); err != nil {
		return err
	}
	if !p.at("{") { // a single marking
		*p.lex, p.tok = before, first
		b, err := p.bag()
		p.final = append(p.final, b)
		return err
	}
	for {
		b, err := p.bag()
		if err != nil {
			return err
		}
		p.final = append(p.final, b)
		if !p.accept(",") {
			return p.expect("}")
		}
	}
}

// resolve resolves the names in flows and markings.
func (p *parser) resolve() {
	for _, f := range p.flows {
		t, known := p.transitions[f.transition.text]
		first, twice := p.flowAt[f.transition.text]
		switch {
		case !known:
			p.report(f.transition.pos, "there is no transition %s", f.transition)
			continue
		case twice:
			p.report(f.transition.pos, "%s has two flows, the first in line %d", f.transition, first.Line)
		}
		p.flowAt[f.transition.text] = f.transition.pos
		p.net.Transitions[t].In, p.net.Transitions[t].Out = p.arcs(f.in), p.arcs(f.out)
	}
	p.net.Initial = p.marking(p.initial)
	for _, b := range p.final {
		p.net.Final = append(p.net.Final, p.marking(b))
	}
	slices.SortStableFunc(p.errs, func(a, b *syntax.Error) int { return a.Pos.Compare(b.Pos) })
}
