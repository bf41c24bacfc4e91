package syntax

import (
	"errors"
	"strings"
)

// Parse reads one file. An error is an Errors; then the program is incomplete and must
// not be run.
func Parse(file, src string) (*Program, error) {
	p, err := parse(file, src)
	if err != nil {
		return p, err
	}
	return p, p.resolve()
}

// ParseWith is Parse with other values for some constants.
func ParseWith(file, src string, constants map[string]int64) (*Program, error) {
	p, err := parse(file, src)
	if err != nil {
		return p, err
	}
	for _, d := range p.Decls {
		if v, ok := constants[d.Name.Text]; ok && d.Kind == ConstDecl {
			d.Value = &Expr{Pos: d.Value.Pos, Kind: Num, Value: v}
		}
	}
	return p, p.resolve()
}

// ParseBoxes reads a program in the two boxes of the original tool. Positions in messages
// refer to the joined file.
func ParseBoxes(file, initialisation, program string) (*Program, error) {
	return Parse(file, Join(initialisation, program))
}

// Join joins the two boxes of the original tool into one file.
func Join(initialisation, program string) string {
	if strings.TrimSpace(initialisation) == "" {
		return program
	}
	return strings.TrimRight(initialisation, "\n") + "\n---\n" + program
}

// HasStart reports whether a program begins with its own declarations.
func HasStart(program string) bool {
	p := &parser{prog: &Program{}}
	p.lex = &lexer{Cursor: NewCursor(program), fail: func(Pos, string, ...any) {}}
	p.tok = p.lex.next()
	p.ahead = p.lex.next()
	return p.startsDecls()
}

// parse reads a file without resolving names.
func parse(file, src string) (*Program, error) {
	p := &parser{prog: &Program{File: file}}
	if len(src) > MaxSource {
		p.report(Pos{1, 1}, "the file has %d bytes; at most %d are read", len(src), MaxSource)
		return p.prog, p.errs
	}
	p.lex = &lexer{Cursor: NewCursor(src), fail: p.report}
	p.tok = p.lex.next()
	p.ahead = p.lex.next()
	p.file()
	p.prog.Comments = p.lex.comments
	p.prog.end = p.lex.Pos()
	if len(p.errs) > 0 {
		return p.prog, p.errs
	}
	return p.prog, nil
}

type parser struct {
	lex        *lexer
	tok, ahead token
	prog       *Program
	errs       Errors
	depth      int
	temporal   bool // accept [] <> U W and events
	logic      bool // accept -> and quantifiers
}

// errBroken ends a construct that could not be parsed. The reason is already in errs.
var errBroken = errors.New("broken")

// report records an error. After MaxErrors it ends the input.
func (p *parser) report(at Pos, format string, args ...any) {
	if p.errs.Add(p.prog.File, at, format, args...); len(p.errs) > MaxErrors {
		p.lex.End()
	}
}

// expected reports an unexpected token.
func (p *parser) expected(what string) error {
	p.report(p.tok.pos, "expected %s, found %s", what, p.tok)
	return errBroken
}

func (p *parser) advance() token {
	t := p.tok
	p.tok, p.ahead = p.ahead, p.lex.next()
	return t
}

// accept reads the sign or reserved word s, and reports whether it was here.
func (p *parser) accept(s string) bool {
	if !p.tok.is(s) {
		return false
	}
	p.advance()
	return true
}

// acceptName reads the name s, and reports whether it was here.
func (p *parser) acceptName(s string) bool {
	if !p.tok.named(s) {
		return false
	}
	p.advance()
	return true
}

// need reads s, or reports that s is expected; what completes the sentence.
func (p *parser) need(s, what string) error {
	if p.accept(s) {
		return nil
	}
	return p.expected(s + what)
}

func (p *parser) name(what string) (*Name, error) {
	if p.tok.kind != name || p.tok.text == "_" {
		return nil, p.expected(what)
	}
	t := p.advance()
	return &Name{Pos: t.pos, Text: t.text}, nil
}

// enterNesting counts nesting. After a nil error the caller must call exitNesting.
func (p *parser) enterNesting() error {
	p.depth++
	if p.depth > MaxNesting {
		p.report(p.tok.pos, "nested more than %d deep", MaxNesting)
		p.skipRest()
		return errBroken
	}
	return nil
}

func (p *parser) exitNesting() { p.depth-- }

// skipRest skips the rest of the file.
func (p *parser) skipRest() {
	p.lex.End()
	p.tok = token{pos: p.tok.pos}
	p.ahead = p.tok
}

// skipTo skips tokens up to one of stops, a separator or the end. Stops inside brackets
// are skipped too.
func (p *parser) skipTo(stops ...string) {
	for depth := 0; p.tok.kind != eof && p.tok.kind != separator; p.advance() {
		if depth == 0 {
			for _, s := range stops {
				if p.tok.is(s) {
					return
				}
			}
		}
		switch {
		case p.tok.is("("), p.tok.is("{"):
			depth++
		case depth > 0 && (p.tok.is(")") || p.tok.is("}")):
			depth--
		}
	}
}

// file reads [declarations ---] processes [--- properties].
func (p *parser) file() {
	if p.startsDecls() {
		p.decls()
		if p.tok.kind != separator {
			p.expected("--- on a line of its own, and then the program")
			for p.tok.kind != eof && p.tok.kind != separator {
				p.advance()
			}
		}
		if p.tok.kind == separator {
			p.advance()
		}
	}
	p.prog.procsAt = p.tok.pos
	p.procs()
	p.prog.propsAt = p.tok.pos
	if p.tok.kind == separator {
		p.advance()
		p.props()
	}
	if p.tok.kind != eof {
		p.expected("the end of the file")
	}
}

// startsDecls reports whether the file begins with declarations.
func (p *parser) startsDecls() bool {
	if p.tok.kind == separator {
		return true
	}
	return p.tok.kind == name && (p.ahead.is("=") || p.declWord())
}

// declWord reports whether a const or symbol declaration begins here.
func (p *parser) declWord() bool {
	return (p.tok.named("const") || p.tok.named("symbol")) && p.ahead.kind == name
}
