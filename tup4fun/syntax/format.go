package syntax

import (
	"math"
	"strings"
)

const indent = "   "

// Format prints a program in the canonical form. Comments are kept; a comment inside a
// line moves to its end. A program with a syntax error is an error; undeclared names are
// accepted.
func Format(file, src string) (string, error) {
	b, err := Boxes{File: file, Program: src}.Format()
	return b.Program, err
}

// Format prints the boxes in the canonical form, as Format does. Each keeps its comments. If Init is
// blank, Program has all.
func (b Boxes) Format() (Boxes, error) {
	p, err := parse(b)
	if err != nil {
		return Boxes{}, err
	}
	f := &formatter{comments: p.Comments}
	f.printDecls(p)
	if strings.TrimSpace(b.Init) == "" {
		f.printComments(p.procsAt)
		if len(p.Decls) > 0 {
			f.printLine(Pos{}, "---")
		}
	} else {
		f.printComments(Pos{Line: math.MaxInt, Init: true})
		f.endLine()
		b.Init = f.out.String()
		f.out.Reset()
	}
	f.printProgram(p)
	b.Program = f.out.String()
	return b, nil
}

type formatter struct {
	out      strings.Builder
	comments []Comment // not yet printed
	line     int       // source line of the last printed text; 0: a comment was printed
	depth    int
	open     bool // a comment may follow on the current output line
}

// printLine begins a line with s. pos is its position in the source.
func (f *formatter) printLine(pos Pos, s string) {
	f.endLine()
	f.out.WriteString(strings.Repeat(indent, f.depth))
	f.out.WriteString(s)
	f.line, f.open = pos.Line, true
}

// endLine ends the current output line. It is delayed until the next text, because a comment may
// follow on the same line.
func (f *formatter) endLine() {
	if f.open {
		f.out.WriteByte('\n')
		f.open = false
	}
}

// printTrailing prints the comment that follows on the same source line, if there is one.
func (f *formatter) printTrailing() {
	if len(f.comments) > 0 && f.open && f.line > 0 && f.comments[0].Pos.Line == f.line {
		f.out.WriteString(" " + f.comments[0].Text)
		f.comments = f.comments[1:]
		f.line = 0
	}
}

// printComments prints the comments before pos: one that follows on the last printed source line
// at its end, each other on a line of its own.
func (f *formatter) printComments(pos Pos) {
	for len(f.comments) > 0 && f.comments[0].Pos.Compare(pos) < 0 {
		n := len(f.comments)
		if f.printTrailing(); len(f.comments) < n {
			continue
		}
		f.printLine(Pos{}, f.comments[0].Text)
		f.comments = f.comments[1:]
	}
}

// printDecls prints the declarations, with the comments before each.
func (f *formatter) printDecls(p *Program) {
	for i, d := range p.Decls {
		f.printComments(d.Pos)
		text := declText(d)
		if i+1 < len(p.Decls) {
			text += ","
		}
		f.printLine(d.Pos, text)
	}
}

// printProgram prints processes and properties, separated by ---, with the comments before each.
func (f *formatter) printProgram(p *Program) {
	f.printComments(p.procsAt)
	if len(p.Procs) == 1 && !p.par {
		f.printProc(p.Procs[0])
	} else {
		f.printBranches(p)
	}
	f.printComments(p.propsAt)
	if len(p.Props) > 0 {
		f.printLine(Pos{}, "---")
	}
	for _, pr := range p.Props {
		f.printComments(pr.Pos)
		f.printLine(pr.Pos, pr.Text()+";")
	}
	f.printComments(Pos{Line: p.end.Line + 1})
	f.endLine()
}

// printBranches prints the processes of a parallel composition, par … [] … rap. A comment behind the
// last statement of a process is printed before the next [].
func (f *formatter) printBranches(p *Program) {
	for i, pr := range p.Procs {
		if i == 0 {
			f.printLine(p.procsAt, "par")
		} else {
			f.printTrailing()
			f.printLine(Pos{}, "[]")
		}
		f.depth++
		f.printProc(pr)
		f.depth--
	}
	f.printTrailing()
	f.printLine(Pos{}, "rap")
}

// printProc prints a process. Its statements are indented below count and name; without these they
// stand alone.
func (f *formatter) printProc(p *Process) {
	f.printComments(p.Pos)
	head := ""
	if p.Count != nil {
		head = exprText(p.Count, precedence[unary]) + " * "
	}
	if p.Name != nil {
		head += "proc " + p.Name.Text
		if p.Param != nil {
			head += "(" + p.Param.Text + ")"
		}
		head += " ="
	}
	if head == "" {
		f.printStmts(p.Body)
		return
	}
	f.printLine(p.Pos, strings.TrimRight(head, " "))
	f.depth++
	f.printStmts(p.Body)
	f.depth--
}

// printStmts prints a sequence of statements, separated by semicolons: the last has none.
func (f *formatter) printStmts(all []*Stmt) {
	for i, s := range all {
		end := ";"
		if i+1 == len(all) {
			end = ""
		}
		f.printComments(s.Pos)
		f.printStmt(s, end)
	}
}

// printStmt prints a statement with its label; end is the text behind it, a semicolon or
// nothing.
func (f *formatter) printStmt(s *Stmt, end string) {
	label := ""
	if s.Label != nil {
		label = s.Label.Text + ": "
	}
	switch s.Kind {
	case If, Do, Loop:
		f.printGuards(s, label, end)
	case Atomic:
		f.printLine(s.Pos, label+"atomic {")
		f.depth++
		f.printStmts(s.Body)
		f.printComments(s.End)
		f.depth--
		f.printLine(s.End, "}"+end)
	default:
		f.printLine(s.Pos, label+StmtText(s)+end)
	}
}

var words = map[StmtKind][2]string{If: {"if ", "fi"}, Do: {"do ", "od"}, Loop: {"loop ", "pool"}}

// printGuards prints if, do or loop, with the text label before it and end behind its closing word.
// Each guard after the first begins with [] and with the comments before it.
func (f *formatter) printGuards(s *Stmt, label, end string) {
	before := label + words[s.Kind][0]
	at := s.Pos
	for _, g := range s.Guards {
		if before == "[] " {
			f.printComments(g.Pos)
			at = g.Pos
		}
		f.printLine(at, before+GuardText(g)+" ->")
		f.depth++
		f.printStmts(g.Body)
		f.depth--
		f.printTrailing()
		before = "[] "
	}
	f.printComments(s.End)
	f.printLine(s.End, words[s.Kind][1]+end)
}
