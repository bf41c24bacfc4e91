package draw

import (
	"fmt"
	"strings"

	"leasehold/tup4fun/explore"
)

// The sizes of a sequence diagram, in pixels.
const (
	rowHeight    = 28
	headHeight   = 44
	minLaneWidth = 90
)

// MaxSteps bounds the steps that SequenceSVG draws.
const MaxSteps = 500

// SequenceSVG draws a trace as a sequence diagram: a lane for each process and each
// space, and an arrow for each tuple between them. Local steps, and at the end the next
// statements of each process, are text on its lane.
func SequenceSVG(t *explore.Trace) string {
	s := sequence{lanes: map[string]int{}, width: minLaneWidth}
	for _, p := range t.End.Processes {
		s.internLane("p", p.Name)
	}
	for _, sp := range t.End.Spaces {
		s.internLane("s", sp.Name)
	}
	for i, step := range t.Steps[:min(len(t.Steps), MaxSteps)] {
		if i == t.Cycle {
			s.addNote("the steps from here repeat forever")
		}
		for _, a := range step.Actions {
			s.addAction(s.internLane("p", step.Process), a)
		}
	}
	switch {
	case len(t.Steps) > MaxSteps:
		s.addNote(fmt.Sprintf("%d more steps are not drawn", len(t.Steps)-MaxSteps))
	case t.Cycle < 0:
		s.addNext(t.End.Processes)
	}
	return s.svg()
}

// sequence is the content of a diagram: rows over lanes.
type sequence struct {
	lanes map[string]int // by kind and name
	names []string
	rows  []row
	width int // of a lane
}

// row is an arrow, a text at a lane (to equals from), or a note across all lanes (from is
// -1).
type row struct {
	from, to int
	text     string
	dashed   bool
}

// internLane returns the number of the lane of a process (kind p) or a space (kind s), which it
// adds if it is new. A process and a space may have the same name.
func (s *sequence) internLane(kind, name string) int {
	key := kind + name
	if _, ok := s.lanes[key]; !ok {
		s.lanes[key] = len(s.names)
		s.names = append(s.names, name)
		s.widenFor(name)
	}
	return s.lanes[key]
}

// widenFor makes the lanes wide enough for a text.
func (s *sequence) widenFor(text string) {
	s.width = min(320, max(s.width, len([]rune(text))*letterWidth+24))
}

func (s *sequence) addNote(text string) { s.rows = append(s.rows, row{-1, -1, text, false}) }

// addAction adds a row for an action. An arrow points to the space for a put, otherwise
// to the process.
func (s *sequence) addAction(process int, a explore.Action) {
	text := a.Text
	r := row{from: process, to: process}
	if a.Tuple != "" {
		text = a.Verb + " " + a.Tuple
		r.to = s.internLane("s", a.Space)
		r.dashed = a.Verb == "query" || a.Verb == "queryp"
		if a.Verb != "put" {
			r.from, r.to = r.to, r.from
		}
	}
	r.text = text
	s.widenFor(text)
	s.rows = append(s.rows, r)
}

// addNext adds the next statements of each process that has not terminated, as a text on its
// lane: what it waits for.
func (s *sequence) addNext(all []explore.ProcConfig) {
	for _, p := range all {
		if !p.Terminated {
			lane := s.internLane("p", p.Name)
			text := "before " + strings.Join(p.Next, " or ")
			s.widenFor(text)
			s.rows = append(s.rows, row{from: lane, to: lane, text: text})
		}
	}
}

func (s *sequence) x(lane int) int { return margin + s.width/2 + lane*s.width }
func (s *sequence) y(i int) int    { return headHeight + (i+1)*rowHeight }

// svg draws the lanes with their names, and the rows below. All lanes have the width of the
// widest text, so the rows must be complete.
func (s *sequence) svg() string {
	width, height := 2*margin+len(s.names)*s.width, s.y(len(s.rows))
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="monospace" font-size="12">`+"\n", width, height, width, height)
	b.WriteString(`<defs><marker id="head" viewBox="0 0 10 10" refX="10" refY="5" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 10 5 0 10z"/></marker></defs>` + "\n")
	for i, name := range s.names {
		fmt.Fprintf(&b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#bbb"/>`+"\n", s.x(i), headHeight, s.x(i), height)
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="26" rx="6" fill="white" stroke="#05c"/><text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n",
			s.x(i)-s.width/2+6, headHeight-26, s.width-12, s.x(i), headHeight-9, escape(name))
	}
	for i, r := range s.rows {
		b.WriteString(s.rowSVG(i, r))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// rowSVG draws row i: a note as a line across all lanes, a text at a lane, or an arrow between two.
func (s *sequence) rowSVG(i int, r row) string {
	y := s.y(i)
	text := func(x int, colour string) string {
		w := len([]rune(r.text)) * letterWidth // white background, so that no lane crosses the text
		return fmt.Sprintf(`<rect x="%d" y="%d" width="%d" height="%d" fill="white"/><text x="%d" y="%d" text-anchor="middle" fill="%s">%s</text>`+"\n",
			x-w/2-2, y-lineHeight, w+4, lineHeight-1, x, y-4, colour, escape(r.text))
	}
	switch {
	case r.from < 0:
		last := s.x(len(s.names)-1) + s.width/2
		return fmt.Sprintf(`<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#c00" stroke-dasharray="6 3"/>`, margin, y, last, y) + text((margin+last)/2, "#c00")
	case r.from == r.to:
		return text(s.x(r.from), "#555")
	}
	dash := ""
	if r.dashed {
		dash = ` stroke-dasharray="4 3"`
	}
	return fmt.Sprintf(`<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#222"%s marker-end="url(#head)"/>`, s.x(r.from), y, s.x(r.to), y, dash) +
		text((s.x(r.from)+s.x(r.to))/2, "#000")
}
