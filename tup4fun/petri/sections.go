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
	for p.Tok.Kind != syntax.EndToken {
		if p.Tok.Kind != syntax.SeparatorToken {
			_ = p.Expected("a section such as .places") // the error is already reported
			p.recover()
			continue
		}
		name := p.Advance()
		if first, twice := p.sections[name.Text]; twice {
			p.Report(name.Pos, "%s occurs twice, first in line %d", name.Text, first.Line)
		}
		p.sections[name.Text] = name.Pos
		item, known := read[name.Text]
		if !known {
			p.Report(name.Pos, "there is no section %s; the sections are .name, .type, .description, .places, .transitions, .flows, .initial_marking and .final_markings", name)
			item = func() error { return syntax.ErrBroken }
		}
		p.items(item)
	}
	for _, needed := range []string{".places", ".transitions", ".flows"} {
		if _, ok := p.sections[needed]; !ok {
			p.Report(p.Tok.Pos, "the section %s is missing", needed)
		}
	}
}

// items reads the items of a section; after a mistake, which is reported, it goes on behind it
// (recover).
func (p *parser) items(item func() error) {
	for p.Tok.Kind != syntax.EndToken && p.Tok.Kind != syntax.SeparatorToken {
		if item() != nil {
			p.recover()
		}
	}
}

// recover skips to the next line, but at least one token.
func (p *parser) recover() {
	for line := p.Tok.Pos.Line; p.Tok.Kind != syntax.EndToken && p.Tok.Kind != syntax.SeparatorToken && p.Tok.Pos.Line == line; {
		p.Advance()
	}
}

// title reads the name of the net.
func (p *parser) title() error {
	if p.Tok.Kind != syntax.TextToken {
		return p.Expected("a name in quotes")
	}
	p.net.Name = p.Advance().Text
	return nil
}

// description passes over the description.
func (p *parser) description() error {
	if p.Tok.Kind != syntax.TextToken {
		return p.Expected("a text in quotes")
	}
	p.Advance()
	return nil
}

// kindOfNet accepts the types of place/transition nets.
func (p *parser) kindOfNet() error {
	if p.Tok.Text != "PN" && p.Tok.Text != "LPN" {
		return p.Expected("PN or LPN (place/transition nets)")
	}
	p.Advance()
	return nil
}

// placeLine reads one place. A second one of the same name was reported by checkNew and is left
// out, so that the rest of the file is checked too.
func (p *parser) placeLine() error {
	name, err := p.name("a place")
	if err != nil {
		return err
	}
	if p.checkNew(name) {
		p.places[name.Text] = len(p.net.Places)
		p.net.Places = append(p.net.Places, name.Text)
	}
	_, err = p.attributes()
	return err
}

// transitionLine reads one transition with its label. A second one of the same name was reported by
// checkNew and is left out.
func (p *parser) transitionLine() error {
	name, err := p.name("a transition")
	if err != nil {
		return err
	}
	attributes, err := p.attributes()
	if p.checkNew(name) {
		p.transitions[name.Text] = len(p.net.Transitions)
		p.net.Transitions = append(p.net.Transitions, Transition{Name: name.Text, Label: attributes["label"]})
	}
	return err
}

// checkNew reports a name used already, or beyond MaxNodes. It returns true if the name may be
// added.
func (p *parser) checkNew(name syntax.Token) bool {
	_, place := p.places[name.Text]
	_, transition := p.transitions[name.Text]
	switch {
	case place || transition:
		p.Report(name.Pos, "%s is already %s", name, map[bool]string{true: "a place", false: "a transition"}[place])
		return false
	case len(p.net.Places)+len(p.net.Transitions) == MaxNodes:
		p.Report(name.Pos, "there are more than %d places and transitions", MaxNodes)
		p.lex.End()
		return false
	}
	return true
}

// attributes reads attributes in brackets: [label="a", …]; nil if there are none. Of two with one
// name the last counts.
func (p *parser) attributes() (map[string]string, error) {
	if !p.Accept("[") {
		return nil, nil
	}
	all := map[string]string{}
	for {
		key, err := p.name("the name of an attribute")
		if err != nil {
			return nil, err
		}
		if err := p.Need("=", ""); err != nil {
			return nil, err
		}
		if p.Tok.Kind != syntax.TextToken && p.Tok.Kind != syntax.WordToken {
			return nil, p.Expected("the value of " + key.Text)
		}
		all[key.Text] = p.Advance().Text
		if !p.Accept(",") {
			return all, p.Need("]", "")
		}
	}
}

// flowLine reads one transition with the tokens that it takes and puts. Its names are looked up
// after the whole file is read, because the sections may stand in any order.
func (p *parser) flowLine() error {
	name, err := p.name("a transition")
	if err != nil {
		return err
	}
	if err := p.Need(":", ""); err != nil {
		return err
	}
	f := flow{transition: name}
	if f.in, err = p.bag(); err != nil {
		return err
	}
	if err := p.Need("->", ""); err != nil {
		return err
	}
	f.out, err = p.bag()
	p.flows = append(p.flows, f)
	return err
}

// initialMarking reads the only initial marking; another item in its section is an error.
func (p *parser) initialMarking() (err error) {
	if p.initial != nil {
		return p.Expected("a section, because the initial marking is complete")
	}
	p.initial, err = p.bag()
	return err
}

// finalMarkings reads {{p0}, {p1}}, or a single marking. Which of the two is known only after the
// first brace, so the parser goes back for a single one.
func (p *parser) finalMarkings() error {
	before := *p.lex
	first := p.Tok
	if err := p.Need("{", ""); err != nil {
		return err
	}
	if !p.Tok.Is("{") {
		*p.lex, p.Tok = before, first
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
		if !p.Accept(",") {
			return p.Need("}", "")
		}
	}
}

// resolve resolves the names in flows and markings, and sorts all errors by their positions.
// Unknown transitions, and two flows of one, are errors.
func (p *parser) resolve() {
	for _, f := range p.flows {
		t, known := p.transitions[f.transition.Text]
		first, twice := p.flowAt[f.transition.Text]
		switch {
		case !known:
			p.Report(f.transition.Pos, "there is no transition %s", f.transition)
			continue
		case twice:
			p.Report(f.transition.Pos, "%s has two flows, the first in line %d", f.transition, first.Line)
		}
		p.flowAt[f.transition.Text] = f.transition.Pos
		p.net.Transitions[t].In, p.net.Transitions[t].Out = p.resolveArcs(f.in), p.resolveArcs(f.out)
	}
	p.net.Initial = p.marking(p.initial)
	for _, b := range p.final {
		p.net.Final = append(p.net.Final, p.marking(b))
	}
	slices.SortStableFunc(p.Errs, func(a, b *syntax.Error) int { return a.Pos.Compare(b.Pos) })
}
