package conform

import (
	"slices"
	"strconv"

	"leasehold/tup4fun/syntax"
)

// ParseMap parses a map. The error is a syntax.Errors with up to syntax.MaxErrors errors
// and their positions.
func ParseMap(file, src string) (*Map, error) {
	lex := &lexer{syntax.NewCursor(src)}
	p := &parser{
		TokenParser: syntax.TokenParser{File: file, Next: lex.next, End: lex.End},
		parsed:      &Map{File: file, Constants: map[string]int64{}, Settings: map[string]string{}, Names: map[string]string{}, Numbered: map[string]string{}},
		lists:       map[string][]string{},
	}
	if len(src) > MaxMap {
		p.Report(syntax.Pos{Line: 1, Col: 1}, "the map has %d bytes; at most %d are read", len(src), MaxMap)
		return nil, p.Errs
	}
	p.Advance()
	for p.Tok.Kind != syntax.EndToken && len(p.Errs) < syntax.MaxErrors {
		if p.item() != nil {
			p.skipItem()
		}
	}
	if len(p.Errs) > 0 {
		return nil, p.Errs
	}
	return p.parsed, nil
}

// A method of parser that cannot read its construct reports why in Errs and returns
// syntax.ErrBroken.
type parser struct {
	syntax.TokenParser
	parsed *Map                // what was read so far
	lists  map[string][]string // procedures, by the name that let gives them
}

// word reads a word; the error names what was expected.
func (p *parser) word(what string) (syntax.Token, error) {
	if p.Tok.Kind != syntax.WordToken {
		return syntax.Token{}, p.Expected(what)
	}
	return p.Advance(), nil
}

// skipItem continues after the next semicolon.
func (p *parser) skipItem() {
	for p.Tok.Kind != syntax.EndToken && !p.Accept(";") {
		p.Advance()
	}
}

// item reads one item with its semicolon. After an error the caller skips the rest of the item.
func (p *parser) item() (err error) {
	at := p.Tok.Pos
	switch {
	case p.Accept("const"):
		err = p.constant()
	case p.Accept("instance"):
		err = p.instance()
	case p.Accept("number"):
		err = p.numbered()
	case p.Accept("same"):
		p.parsed.Same, err = p.names(p.parsed.Same, "a variable that keeps its value in an instance")
	case p.Accept("unique"):
		err = p.unique()
	case p.Accept("lasts"):
		err = p.lasts()
	case p.Accept("after"):
		err = p.after()
	case p.Accept("ends"):
		p.parsed.Ends, err = p.names(p.parsed.Ends, "a space of the model that is empty in the end")
	case p.Accept("let"):
		err = p.list()
	case p.Accept("restart"):
		p.parsed.Restarts = true
	case p.Accept("earlier"):
		var n syntax.Token
		n, err = p.word("a process of the model")
		p.parsed.Earlier = n.Text
	case p.Accept("forget"):
		p.parsed.Forget, err = p.names(p.parsed.Forget, "a space of the model that is empty when an instance has ended")
	case p.Tok.Is("ignore"), p.Tok.Is("never"):
		r := &Rule{Pos: at, Never: p.Advance().Is("never")}
		p.parsed.Rules = append(p.parsed.Rules, r)
		err = p.pattern(&r.Event)
	case p.Accept("on"):
		err = p.rule(at)
	default:
		return p.Expected("const, let, restart, earlier, instance, number, same, unique, lasts, after, ends, forget, ignore, never or on")
	}
	if err != nil {
		return err
	}
	return p.Need(";", " after the item at "+at.String())
}

// numbered reads groups of variables joined by =. The variables of a group share their numbers.
func (p *parser) numbered() error {
	return p.Separated(",", func() error {
		first, err := p.word("a variable whose values are numbered")
		if err != nil {
			return err
		}
		p.parsed.Numbered[first.Text] = first.Text
		for p.Accept("=") {
			n, err := p.word("a variable that is numbered like " + first.Text)
			if err != nil {
				return err
			}
			p.parsed.Numbered[n.Text] = first.Text
		}
		return nil
	})
}

// instance reads variable{ = variable}, … whose values name instances. Variables joined by = share their names.
func (p *parser) instance() error {
	return p.Separated(",", func() error {
		first, err := p.word("a variable whose values name an instance")
		for n := first; err == nil; n, err = p.word("a variable with the same names as " + first.Text) {
			if !slices.Contains(p.parsed.Instance, n.Text) {
				p.parsed.Instance = append(p.parsed.Instance, n.Text)
			}
			p.parsed.Names[n.Text] = first.Text
			if !p.Accept("=") {
				break
			}
		}
		return err
	})
}

// unique reads SPACE (field, field).
func (p *parser) unique() error {
	n, err := p.word("a space of the log")
	if err != nil {
		return err
	}
	e := &Pattern{Space: n.Text}
	p.parsed.Unique = append(p.parsed.Unique, e)
	e.Tuple, err = p.fields()
	return err
}

// lasts reads "SETTING" EVENT.
func (p *parser) lasts() error {
	if p.Tok.Kind != syntax.TextToken {
		return p.Expected("the name of a setting of the log, in quotes")
	}
	d := Duration{Setting: p.Advance().Text}
	err := p.pattern(&d.Event)
	p.parsed.Durations = append(p.parsed.Durations, d)
	return err
}

// after reads OPERATION (empty|full) SPACE{, SPACE}.
func (p *parser) after() (err error) {
	var a After
	if a.Operation, err = p.operation(); err != nil {
		return err
	}
	a.Empty = p.Accept("empty")
	if !a.Empty && !p.Accept("full") {
		return p.Expected("empty or full")
	}
	a.Spaces, err = p.names(nil, "a space of the model")
	p.parsed.After = append(p.parsed.After, a)
	return err
}

// list reads NAME = PROCEDURE{|PROCEDURE}.
func (p *parser) list() error {
	n, err := p.word("a name for a list of procedures")
	if err != nil {
		return err
	}
	if err := p.Need("=", " and the procedures of "+n.Text); err != nil {
		return err
	}
	_, p.lists[n.Text], err = p.procedures()
	return err
}

// constant reads NAME = ["SETTING" or] NUMBER.
func (p *parser) constant() error {
	n, err := p.word("the name of a constant of the model")
	if err != nil {
		return err
	}
	if err := p.Need("=", " and the value of "+n.Text); err != nil {
		return err
	}
	if p.Tok.Kind == syntax.TextToken {
		p.parsed.Settings[n.Text] = p.Advance().Text
		if !p.Accept("or") {
			return p.Expected("or, and the value of " + n.Text + " if the log does not have that setting")
		}
	}
	f, err := p.number()
	p.parsed.Constants[n.Text] = f.Value
	return err
}

// number reads a number as a field of an event. Another token, and one of more than 64 bits, is
// reported, and the error is syntax.ErrBroken.
func (p *parser) number() (Field, error) {
	t := p.Tok
	if t.Kind != syntax.NumberToken {
		return Field{}, p.Expected("a number")
	}
	v, err := strconv.ParseInt(t.Text, 10, 64)
	if err != nil {
		return Field{}, p.Expected("a number of at most 64 bits")
	}
	p.Advance()
	return Field{Pos: t.Pos, Kind: Number, Value: v, Text: t.Text}, nil
}

// names reads names separated by commas and adds the new ones to all. what describes a
// name in an error.
func (p *parser) names(all []string, what string) ([]string, error) {
	err := p.Separated(",", func() error {
		n, err := p.word(what)
		if err == nil && !slices.Contains(all, n.Text) {
			all = append(all, n.Text)
		}
		return err
	})
	return all, err
}

// rule reads EVENT [by Process[(VARIABLE|nobody)]] [with Space(FIELDS)] -> action, action; at is where it begins. After
// an error the rule may be in the map, without some actions.
func (p *parser) rule(at syntax.Pos) error {
	r := &Rule{Pos: at}
	if err := p.pattern(&r.Event); err != nil {
		return err
	}
	if p.Accept("by") {
		if err := p.by(r); err != nil {
			return err
		}
	}
	if p.Accept("with") {
		var err error
		if r.Input, err = p.input(); err != nil {
			return err
		}
	}
	if err := p.Need("->", " and the actions of the model"); err != nil {
		return err
	}
	p.parsed.Rules = append(p.parsed.Rules, r)
	return p.Separated(",", func() error {
		a, err := p.action()
		r.Actions = append(r.Actions, a)
		return err
	})
}

// by reads the process of a rule, with its copy in parentheses: a variable that has its number, or
// a word for events without a session.
func (p *parser) by(r *Rule) error {
	n, err := p.word("a process of the model")
	if err != nil {
		return err
	}
	r.By = n.Text
	if !p.Accept("(") {
		return nil
	}
	v, err := p.word("the variable with the number of the copy (process: that of the session) or nobody (no session)")
	if err != nil {
		return err
	}
	r.NoSession = v.Text == "nobody"
	if !r.NoSession {
		r.Copy = v.Text
	}
	return p.Need(")", "")
}

// input reads Space(field, field): a put.
func (p *parser) input() (*Action, error) {
	a := &Action{Pos: p.Tok.Pos, Verb: "put"}
	n, err := p.word("a space of the model that gets values of the event")
	if err != nil {
		return nil, err
	}
	a.Space = n.Text
	a.Fields, err = p.fields()
	return a, err
}

// action reads Space.put(field, field), or get or query.
func (p *parser) action() (a Action, err error) {
	a.Pos = p.Tok.Pos
	n, err := p.word("a space of the model")
	if err != nil {
		return a, err
	}
	a.Space = n.Text
	if err := p.Need(".", " and put, get or query"); err != nil {
		return a, err
	}
	if !p.Tok.Is("put") && !p.Tok.Is("get") && !p.Tok.Is("query") {
		return a, p.Expected("put, get or query")
	}
	a.Verb = p.Advance().Text
	a.Fields, err = p.fields()
	return a, err
}

// fields reads (field, field), at least one.
func (p *parser) fields() (all []Field, err error) {
	if err := p.Need("(", " and the fields"); err != nil {
		return nil, err
	}
	for {
		f, err := p.field()
		if err != nil {
			return nil, err
		}
		all = append(all, f)
		if p.Accept(")") {
			return all, nil
		}
		if err := p.Need(",", " or )"); err != nil {
			return nil, err
		}
	}
}

// field reads _, true, false, a name, "text" or a number. Truth values are the numbers 1 and 0.
func (p *parser) field() (Field, error) {
	f := Field{Pos: p.Tok.Pos, Text: p.Tok.Text}
	switch {
	case p.Accept("_"):
	case p.Accept("true"):
		f.Kind, f.Value = Number, 1
	case p.Accept("false"):
		f.Kind = Number
	case p.Tok.Kind == syntax.WordToken:
		f.Kind = Name
		p.Advance()
	case p.Tok.Kind == syntax.TextToken:
		f.Kind = Text
		p.Advance()
	case p.Tok.Kind == syntax.NumberToken:
		return p.number()
	default:
		return f, p.Expected(`_, a name, "text" or a number`)
	}
	return f, nil
}
