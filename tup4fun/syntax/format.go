package syntax

import "strings"

const indent = "   "

// Format prints a program in the one form that programs are printed in. Comments
// stay; those within a line go to its end. The error is that of a program that
// cannot be read; names need not make sense.
func Format(file, src string) (string, error) {
	p, err := parse(file, src)
	if err != nil {
		return "", err
	}
	f := &formatter{comments: p.Comments}
	f.program(p)
	return f.out.String(), nil
}

type formatter struct {
	out      strings.Builder
	comments []Comment // that are not yet printed
	line     int       // of the source, where what was printed last begins; 0: a comment was
	depth    int
	open     bool // the line in out may still get a comment
}

// print begins a line with s, which is at pos.
func (f *formatter) print(pos Pos, s string) {
	f.end()
	f.out.WriteString(strings.Repeat(indent, f.depth))
	f.out.WriteString(s)
	f.line, f.open = pos.Line, true
}

func (f *formatter) end() {
	if f.open {
		f.out.WriteByte('\n')
		f.open = false
	}
}

// trailing prints the comment that ends the line, if there is one.
func (f *formatter) trailing() {
	if len(f.comments) > 0 && f.open && f.line > 0 && f.comments[0].Pos.Line == f.line {
		f.out.WriteString(" " + f.comments[0].Text)
		f.comments = f.comments[1:]
		f.line = 0
	}
}

// flush prints the comments before pos.
func (f *formatter) flush(pos Pos) {
	for len(f.comments) > 0 && f.comments[0].Pos.Before(pos) {
		n := len(f.comments)
		if f.trailing(); len(f.comments) < n {
			continue
		}
		f.print(Pos{}, f.comments[0].Text)
		f.comments = f.comments[1:]
	}
}

func (f *formatter) program(p *Program) {
	for i, d := range p.Decls {
		f.flush(d.Pos)
		text := declText(d)
		if i+1 < len(p.Decls) {
			text += ","
		}
		f.print(d.Pos, text)
	}
	f.flush(p.procsAt)
	if len(p.Decls) > 0 {
		f.print(Pos{}, "---")
	}
	if len(p.Procs) == 1 && !p.par {
		f.proc(p.Procs[0])
	} else {
		f.branches(p)
	}
	f.flush(p.propsAt)
	if len(p.Props) > 0 {
		f.print(Pos{}, "---")
	}
	for _, pr := range p.Props {
		f.flush(pr.Pos)
		f.print(pr.Pos, propText(pr)+";")
	}
	f.flush(Pos{Line: p.ends.Line + 1})
	f.end()
}

func (f *formatter) branches(p *Program) {
	for i, pr := range p.Procs {
		if i == 0 {
			f.print(p.procsAt, "par")
		} else {
			f.trailing()
			f.print(Pos{}, "[]")
		}
		f.depth++
		f.proc(pr)
		f.depth--
	}
	f.trailing()
	f.print(Pos{}, "rap")
}

func (f *formatter) proc(p *Process) {
	f.flush(p.Pos)
	head := ""
	if p.Count != nil {
		head = exprText(p.Count, binds[unary]) + " * "
	}
	if p.Name != nil {
		head += "proc " + p.Name.Text
		if p.Param != nil {
			head += "(" + p.Param.Text + ")"
		}
		head += " ="
	}
	if head == "" {
		f.stmts(p.Body)
		return
	}
	f.print(p.Pos, strings.TrimRight(head, " "))
	f.depth++
	f.stmts(p.Body)
	f.depth--
}

func (f *formatter) stmts(all []*Stmt) {
	for i, s := range all {
		end := ";"
		if i+1 == len(all) {
			end = ""
		}
		f.flush(s.Pos)
		f.stmt(s, end)
	}
}

func (f *formatter) stmt(s *Stmt, end string) {
	label := ""
	if s.Label != nil {
		label = s.Label.Text + ": "
	}
	switch s.Kind {
	case If, Do, Loop:
		f.guards(s, label, end)
	case Atomic:
		f.print(s.Pos, label+"atomic {")
		f.depth++
		f.stmts(s.Body)
		f.flush(s.End)
		f.depth--
		f.print(s.End, "}"+end)
	default:
		f.print(s.Pos, label+StmtText(s)+end)
	}
}

var words = map[StmtKind][2]string{If: {"if ", "fi"}, Do: {"do ", "od"}, Loop: {"loop ", "pool"}}

func (f *formatter) guards(s *Stmt, label, end string) {
	before := label + words[s.Kind][0]
	at := s.Pos
	for _, g := range s.Guards {
		if before == "[] " {
			f.flush(g.Pos)
			at = g.Pos
		}
		f.print(at, before+GuardText(g)+" ->")
		f.depth++
		f.stmts(g.Body)
		f.depth--
		f.trailing()
		before = "[] "
	}
	f.flush(s.End)
	f.print(s.End, words[s.Kind][1]+end)
}
