package conform

import (
	"slices"
	"strings"
)

// operations are the operations of events.
var operations = []string{"ack", "any", "back", "begin", "done", "end", "expire", "get", "getall", "getp", "hold", "put", "putp",
	"query", "queryall", "queryp", "replace", "restore", "take"}

// pattern reads OPERATION{|OPERATION} [visible|held] [SPACE] [TUPLE [to TUPLE]]
// [= RESULT{|RESULT}] [in PROCEDURE{|PROCEDURE}] [from ROLE[(VARIABLE)]].
func (p *parser) pattern(e *Pattern) (err error) {
	if e.Operations, err = p.choice(p.operation); err != nil {
		return err
	}
	if p.tok.is("visible") || p.tok.is("held") {
		e.Place = p.advance().text
	}
	if p.tok.kind == word && !p.tok.is("in") && !p.tok.is("from") && !p.tok.is("by") {
		e.Space = p.advance().text
	}
	if err := p.tuples(e); err != nil {
		return err
	}
	if p.accept("=") {
		if e.Results, err = p.choice(p.result); err != nil {
			return err
		}
	}
	if p.accept("in") {
		if e.Procedures, err = p.choice(p.procedure); err != nil {
			return err
		}
	}
	if p.accept("from") {
		e.Role, e.Serial, err = p.session()
	}
	return err
}

// session reads ROLE[(VARIABLE)].
func (p *parser) session() (role, serial string, err error) {
	r, err := p.word("the role of a session, as worker")
	if err != nil || !p.accept("(") {
		return r.text, "", err
	}
	v, err := p.word("a variable for what follows " + r.text + "- in the session's name")
	if err != nil {
		return "", "", err
	}
	return r.text, v.text, p.need(")", "")
}

// choice reads words separated by |.
func (p *parser) choice(one func() (string, error)) (all []string, err error) {
	for {
		s, err := one()
		if err != nil {
			return nil, err
		}
		all = append(all, s)
		if !p.accept("|") {
			return all, nil
		}
	}
}

func (p *parser) operation() (string, error) {
	if p.tok.kind != word || !slices.Contains(operations, p.tok.text) {
		return "", p.expected("an operation of the log (" + strings.Join(operations, ", ") + ")")
	}
	return p.advance().text, nil
}

func (p *parser) result() (string, error) {
	t, err := p.word("a result, as ok, due, lost or closed")
	return t.text, err
}

// procedure reads a name with dots. none stands for a plain operation.
func (p *parser) procedure() (string, error) {
	t, err := p.word("a procedure, as work.issue, or none")
	name := t.text
	for err == nil && p.accept(".") {
		if t, err = p.word("the rest of the procedure " + name); err == nil {
			name += "." + t.text
		}
	}
	if name == "none" {
		name = ""
	}
	return name, err
}

func (p *parser) tuples(e *Pattern) (err error) {
	if !p.tok.is("(") {
		return nil
	}
	if e.Tuple, err = p.fields(); err != nil || !p.accept("to") {
		return err
	}
	e.Before = e.Tuple
	e.Tuple, err = p.fields()
	return err
}
