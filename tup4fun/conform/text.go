package conform

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"leasehold/shared/space/trace"
	"leasehold/tup4fun/explore"
)

// Text prints a report for people.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s %s\n", r.Trace, r.Outcome, preposition(r))
	if r.Reason != "" {
		fmt.Fprintf(&b, "  %s\n", r.Reason)
	}
	fmt.Fprintf(&b, "  %d events, %d covered by %s; %s, %s, %s of the model\n",
		r.Events, r.Explained, r.Map, counted(r.Instances, "instance"), counted(r.Reloads, "reload"), counted(r.States, "state"))
	if r.Torn {
		b.WriteString("  the last line is incomplete, because of a crash, and was left out\n")
	}
	if r.Within > 0 {
		fmt.Fprintf(&b, "  at the end of the log %s may have begun a step that is not all logged\n", counted(r.Within, "instance"))
	}
	if r.Violation != nil {
		r.Violation.writeText(&b, r)
	} else {
		r.writeCoverage(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Line prints a report on one line, with the details behind it if the log does not conform.
func (r *Report) Line(w io.Writer) error {
	if r.Outcome != Conforms {
		return r.Text(w)
	}
	_, err := fmt.Fprintf(w, "%s: %s %s (%d events, %d covered; %s)\n", r.Trace, r.Outcome, preposition(r), r.Events, r.Explained, counted(r.Instances, "instance"))
	return err
}

// preposition returns the model with the word that joins it to the outcome, such as "conforms
// to".
func preposition(r *Report) string {
	switch r.Outcome {
	case Conforms:
		return "to " + r.Model
	case Violates:
		return r.Model
	}
	return "for " + r.Model
}

// writeText writes the violation of a report: the event, what the model allows, and the state.
func (v *Violation) writeText(b *strings.Builder, r *Report) {
	fmt.Fprintf(b, "\n%s:%d: %s\n  %s\n", r.Trace, v.Line, v.Why, strings.TrimSpace(eventText(v.Event)))
	if v.InModel != "" {
		fmt.Fprintf(b, "  in %s this is %s\n", r.Model, v.InModel)
	}
	if v.Instance != "" {
		fmt.Fprintf(b, "instance: %s\n", v.Instance)
		v.writeAllowed(b)
	}
	if len(v.Last) > 0 {
		b.WriteString("logged before:\n")
		for _, s := range v.Last {
			fmt.Fprintf(b, "  line %-6d %s\n", s.Line, eventText(s.Event))
		}
	}
	if v.Instance != "" {
		v.writeState(b)
	}
}

// Sentence tells a violation in one line: the event, what the model allows there, and the events before it.
func (v *Violation) Sentence() string {
	text := fmt.Sprintf("event %d: %s", v.Event.Seq, strings.TrimSpace(eventText(v.Event)))
	if v.Instance != "" {
		text += "; instance: " + v.Instance
	}
	if len(v.Allowed) > 0 {
		allowed := make([]string, len(v.Allowed))
		for i, a := range v.Allowed {
			allowed[i] = a.InModel
		}
		text += "; the model allows " + strings.Join(allowed, ", or ")
	}
	for i := len(v.Last) - 1; i >= 0; i-- {
		text += fmt.Sprintf("; before, event %d: %s", v.Last[i].Event.Seq, strings.TrimSpace(eventText(v.Last[i].Event)))
	}
	return truncateAt(text, 4000)
}

// writeAllowed writes the actions that the model could have done in place of the event, with the
// events of the log that stand for each.
func (v *Violation) writeAllowed(b *strings.Builder) {
	if len(v.Allowed) == 0 {
		b.WriteString("the model allows no further action\n")
		return
	}
	b.WriteString("the model allows:\n")
	for _, a := range v.Allowed {
		fmt.Fprintf(b, "  %s\n", a.InModel+copies(a.Copies))
		for _, event := range a.InLog {
			fmt.Fprintf(b, "      in the log: %s\n", event)
		}
	}
}

// writeState writes the state of the model before the violation, one of those that are possible, and
// the values of the log for its numbers.
func (v *Violation) writeState(b *strings.Builder) {
	b.WriteString("state of the model")
	switch {
	case v.Others == 1:
		b.WriteString(" (1 other state is possible)")
	case v.Others > 1:
		fmt.Fprintf(b, " (%d other states are possible)", v.Others)
	}
	b.WriteString(":\n")
	for _, s := range v.State.Spaces {
		fmt.Fprintf(b, "  %s holds %s\n", s.Name, listed(s.Tuples))
	}
	if len(v.State.Variables) > 0 {
		fmt.Fprintf(b, "  %s\n", values(v.State.Variables))
	}
	for _, m := range v.Meaning {
		fmt.Fprintf(b, "  %s %d is %s\n", m.Variable, m.Number, m.Value)
	}
}

// listed joins texts with spaces; "nothing" if there are none.
func listed(all []string) string {
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, " ")
}

// values returns variables as name = value, separated by commas.
func values(all []explore.Value) string {
	texts := make([]string, len(all))
	for i, v := range all {
		texts[i] = v.Name + " = " + v.Value
	}
	return strings.Join(texts, ", ")
}

// maxUnseen bounds the unseen operations that are listed.
const maxUnseen = 30

// writeCoverage lists the operations of the model that the log never showed, at most maxUnseen.
func (r *Report) writeCoverage(b *strings.Builder) {
	if len(r.Unseen) == 0 {
		b.WriteString("  every operation of the model was seen\n")
		return
	}
	b.WriteString("never seen in this log, though the model allows it:\n")
	for i, u := range r.Unseen {
		if i == maxUnseen {
			fmt.Fprintf(b, "  and %d more\n", len(r.Unseen)-i)
			return
		}
		fmt.Fprintf(b, "  %s:%s: %s: %s\n", r.Model, u.Pos, u.Process, u.Text)
	}
}

// eventText prints an event on one line; - stands for an event without a session.
func eventText(e trace.Event) string {
	who := e.Process
	if who == "" {
		who = "-"
	}
	parts := []string{fmt.Sprintf("%12s", e.Clock.Round(1000)), who, e.Operation}
	if e.Space != "" {
		parts = append(parts, e.Space)
	}
	if e.Tuple != "" {
		parts = append(parts, truncate(e.Tuple))
	}
	if e.Result != trace.OK {
		parts = append(parts, "= "+e.Result)
	}
	if e.Procedure != "" {
		parts = append(parts, "in "+e.Procedure)
	}
	return strings.Join(parts, " ")
}

// counted returns a number with its noun, in the plural unless it is 1.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// copies names the copies of a process. A process without copies has the number 0 and no
// text.
func copies(all []int64) string {
	all = slices.Sorted(slices.Values(all))
	switch {
	case len(all) == 1 && all[0] == 0:
		return ""
	case len(all) == 1:
		return fmt.Sprintf("  (copy %d)", all[0])
	case len(all) > 2 && all[len(all)-1]-all[0] == int64(len(all)-1):
		return fmt.Sprintf("  (copies %d to %d)", all[0], all[len(all)-1])
	}
	return fmt.Sprintf("  (copies %s)", strings.Trim(fmt.Sprint(all), "[]"))
}
