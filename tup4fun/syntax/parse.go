package syntax

import (
	"fmt"
	"strings"
)

// Parse reads one file. An error is an Errors; then the program is incomplete and must
// not be run.
func Parse(file, src string) (*Program, error) {
	return Boxes{File: file, Program: src}.Parse()
}

// ParseWith is Parse with other values for the constants whose names are keys of constants. It
// replaces their expressions before names are resolved, so that all that depends on them is
// computed with the new values. Other names are ignored.
func ParseWith(file, src string, constants map[string]int64) (*Program, error) {
	p, err := parse(Boxes{File: file, Program: src})
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

// Boxes are a program in the two boxes of the original tool, each with the name of its file. Init
// may be blank if the program has its own declarations.
type Boxes struct{ InitFile, Init, File, Program string }

// Parse reads the boxes. Positions refer to them: those in Init have Pos.Init.
func (b Boxes) Parse() (*Program, error) {
	p, err := parse(b)
	if err != nil {
		return p, err
	}
	return p, p.resolve()
}

// cursor returns a cursor at the beginning of the boxes, with a separator between them.
func (b Boxes) cursor() Cursor {
	if strings.TrimSpace(b.Init) == "" {
		return NewCursor(b.Program)
	}
	c := NewCursor(b.Init + "\n---\n" + b.Program)
	c.initLines = strings.Count(b.Init, "\n") + 1
	return c
}

// HasStart reports whether a program begins with its own declarations.
func HasStart(program string) bool {
	return newParser(Boxes{Program: program}).startsDecls()
}

// parse reads a program without resolving names. An error is an Errors: all that was wrong, or one
// message if the program is larger than MaxSource. The program is never nil; after an error it
// lacks what could not be read.
func parse(b Boxes) (*Program, error) {
	if n := len(b.Init) + len(b.Program); n > MaxSource {
		return &Program{File: b.File}, Errors{{b.File, Pos{Line: 1, Col: 1}, fmt.Sprintf("the file has %d bytes; at most %d are read", n, MaxSource)}}
	}
	p := newParser(b)
	p.file()
	p.prog.Comments = p.lex.comments
	p.prog.end = p.lex.Pos()
	if len(p.Errs) > 0 {
		return p.prog, p.Errs
	}
	return p.prog, nil
}

// parser parses programs with one token of lookahead. Words of the extensions are names; it
// recognizes them by context. A method that cannot read its construct reports why in Errs and
// returns ErrBroken, and some caller skips to a sign behind which reading can go on, so that one
// run reports more than the first mistake.
type parser struct {
	TokenParser
	lex      *lexer
	ahead    Token // the token after Tok
	prog     *Program
	depth    int
	temporal bool // accept [] <> U W and events
	logic    bool // accept -> and quantifiers
}

// newParser returns a parser at the first token of b. Next is replaced, so that Advance moves
// Tok and ahead together.
func newParser(b Boxes) *parser {
	p := &parser{TokenParser: TokenParser{File: b.File, InitFile: b.InitFile}, prog: &Program{File: b.File, InitFile: b.InitFile}}
	p.lex = &lexer{Cursor: b.cursor(), fail: p.Report}
	p.End = p.lex.End
	p.Next = func() Token {
		t := p.ahead
		p.ahead = p.lex.next()
		return t
	}
	p.ahead = p.lex.next()
	p.Advance()
	return p
}

// acceptName reads the name s, and reports whether it was here.
func (p *parser) acceptName(s string) bool {
	if !named(p.Tok, s) {
		return false
	}
	p.Advance()
	return true
}

// name reads a name, or reports that one is expected, what it names, and returns ErrBroken. _ is
// refused, because in templates it stands for any value.
func (p *parser) name(what string) (*Name, error) {
	if p.Tok.Kind != NameToken || p.Tok.Text == "_" {
		return nil, p.Expected(what)
	}
	t := p.Advance()
	return &Name{Pos: t.Pos, Text: t.Text}, nil
}

// enterNesting counts a level of nesting. The error, beyond maxNesting levels, is ErrBroken, and
// the rest of the file is skipped; it keeps the recursion from using up the stack. After a nil
// error the caller must call exitNesting.
func (p *parser) enterNesting() error {
	p.depth++
	if p.depth > maxNesting {
		p.Report(p.Tok.Pos, "nested more than %d deep", maxNesting)
		p.skipRest()
		return ErrBroken
	}
	return nil
}

func (p *parser) exitNesting() { p.depth-- }

// skipRest skips the rest of the file.
func (p *parser) skipRest() {
	p.lex.End()
	p.Tok = Token{Pos: p.Tok.Pos}
	p.ahead = p.Tok
}

// skipTo skips tokens up to one of stops, a separator or the end. Stops inside brackets are
// skipped too, because they belong to the broken construct.
func (p *parser) skipTo(stops ...string) {
	for depth := 0; p.Tok.Kind != EndToken && p.Tok.Kind != SeparatorToken; p.Advance() {
		if depth == 0 {
			for _, s := range stops {
				if p.Tok.Is(s) {
					return
				}
			}
		}
		switch {
		case p.Tok.Is("("), p.Tok.Is("{"):
			depth++
		case depth > 0 && (p.Tok.Is(")") || p.Tok.Is("}")):
			depth--
		}
	}
}

// file reads [declarations ---] processes [--- properties]. Mistakes are reported, not returned;
// after one between the declarations and the program it goes on at the next ---.
func (p *parser) file() {
	if p.startsDecls() {
		p.decls()
		if p.Tok.Kind != SeparatorToken {
			p.Expected("--- on a line of its own, and then the program")
			for p.Tok.Kind != EndToken && p.Tok.Kind != SeparatorToken {
				p.Advance()
			}
		}
		if p.Tok.Kind == SeparatorToken {
			p.Advance()
		}
	}
	p.prog.procsAt = p.Tok.Pos
	p.procs()
	p.prog.propsAt = p.Tok.Pos
	if p.Tok.Kind == SeparatorToken {
		p.Advance()
		p.props()
	}
	if p.Tok.Kind != EndToken {
		p.Expected("the end of the file")
	}
}

// startsDecls reports whether the file begins with declarations.
func (p *parser) startsDecls() bool {
	if p.Tok.Kind == SeparatorToken {
		return true
	}
	return p.Tok.Kind == NameToken && (p.ahead.Is("=") || p.declWord())
}

// declWord reports whether a const or symbol declaration begins here.
func (p *parser) declWord() bool {
	return (named(p.Tok, "const") || named(p.Tok, "symbol")) && p.ahead.Kind == NameToken
}
