package conform

import (
	"slices"
	"strings"

	"leasehold/tup4fun/syntax"
)

// operations are the operations of events.
var operations = []string{"ack", "any", "back", "begin", "done", "end", "expire", "get", "getall", "getp", "getupto", "hide", "hold", "put", "putp",
	"query", "queryall", "queryp", "queryupto", "replace", "restore", "take"}

// pattern reads OPERATION{|OPERATION} [visible|held|hidden|taken] [SPACE] [TUPLE [to TUPLE]] [= RESULT{|RESULT}]
// [in PROCEDURE{|PROCEDURE}] [from ROLE[(VARIABLE)]].
func (p *parser) pattern(e *Pattern) (err error) {
	if e.Operations, err = p.choice(p.operation); err != nil {
		return err
	}
	if slices.Contains([]string{visible, held, hidden, taken}, p.Tok.Text) && p.Tok.Kind == syntax.WordToken {
		e.Place = p.Advance().Text
	}
	if p.Tok.Kind == syntax.WordToken && !p.Tok.Is("in") && !p.Tok.Is("from") && !p.Tok.Is("by") && !p.Tok.Is("with") {
		e.Space = p.Advance().Text
	}
	if err := p.tuples(e); err != nil {
		return err
	}
	if p.Accept("=") {
		if e.Results, err = p.choice(p.result); err != nil {
			return err
		}
	}
	if p.Accept("in") {
		if e.Written, e.Procedures, err = p.procedures(); err != nil {
			return err
		}
	}
	if p.Accept("from") {
		e.Role, e.Serial, err = p.session()
	}
	return err
}

// session reads ROLE[(VARIABLE)], where the variable gets what follows the role in the name of a
// session.
func (p *parser) session() (role, serial string, err error) {
	r, err := p.word("the role of a session, as worker")
	if err != nil || !p.Accept("(") {
		return r.Text, "", err
	}
	v, err := p.word("a variable for what follows " + r.Text + "- in the session's name")
	if err != nil {
		return "", "", err
	}
	return r.Text, v.Text, p.Need(")", "")
}

// choice reads words separated by |, each with one.
func (p *parser) choice(one func() (string, error)) (all []string, err error) {
	err = p.Separated("|", func() error {
		s, err := one()
		all = append(all, s)
		return err
	})
	return all, err
}

// operation reads the name of an operation of the log.
func (p *parser) operation() (string, error) {
	if p.Tok.Kind != syntax.WordToken || !slices.Contains(operations, p.Tok.Text) {
		return "", p.Expected("an operation of the log (" + strings.Join(operations, ", ") + ")")
	}
	return p.Advance().Text, nil
}

// procedures reads procedures separated by |. The name of a list (let) stands for its procedures.
func (p *parser) procedures() (written, all []string, err error) {
	written, err = p.choice(p.procedure)
	for _, name := range written {
		if list, ok := p.lists[name]; ok {
			all = append(all, list...)
		} else {
			all = append(all, name)
		}
	}
	for i, name := range written {
		if name == "" {
			written[i] = "none"
		}
	}
	return written, all, err
}

func (p *parser) result() (string, error) {
	t, err := p.word("a result, as ok, due, lost, alone, beside or closed")
	return t.Text, err
}

// procedure reads a name with dots. none stands for a plain operation, and is "".
func (p *parser) procedure() (string, error) {
	t, err := p.word("a procedure, as work.issue, or none")
	name := t.Text
	for err == nil && p.Accept(".") {
		if t, err = p.word("the rest of the procedure " + name); err == nil {
			name += "." + t.Text
		}
	}
	if name == "none" {
		name = ""
	}
	return name, err
}

// tuples reads [TUPLE [to TUPLE]]. A single tuple is the one after the event, with any before it.
func (p *parser) tuples(e *Pattern) (err error) {
	if !p.Tok.Is("(") {
		return nil
	}
	if e.Tuple, err = p.fields(); err != nil || !p.Accept("to") {
		return err
	}
	e.Before = e.Tuple
	e.Tuple, err = p.fields()
	return err
}
