package draw

import (
	"fmt"
	"strings"

	"leasehold/tup4fun/explore"
)

// actionText prints an action, with its tuple if it has one.
func actionText(a explore.Action) string {
	if a.Tuple == "" {
		return a.Text
	}
	return a.Space + "." + a.Verb + a.Tuple
}

// ActionsText prints the actions of a step, which are several if it is an atomic one.
func ActionsText(s explore.Step) string {
	texts := make([]string, len(s.Actions))
	for i, a := range s.Actions {
		texts[i] = actionText(a)
	}
	return strings.Join(texts, "; ")
}

func stepText(s explore.Step) string { return s.Process + ": " + ActionsText(s) }

// Text prints a trace, one step per line, and its last state. A line before step t.Cycle, which
// is -1 if there is none, states that the steps repeat.
func Text(t *explore.Trace) string {
	var b strings.Builder
	width := 0
	for _, s := range t.Steps {
		width = max(width, len(s.Process))
	}
	for i, s := range t.Steps {
		if i == t.Cycle {
			b.WriteString("     -- the steps from here repeat forever --\n")
		}
		fmt.Fprintf(&b, "%4d  %-*s  %s  (line %d)\n", i+1, width, s.Process, ActionsText(s), s.Pos.Line)
	}
	b.WriteString(Config(t.End))
	return b.String()
}

// Config prints a state: each process with its place and its local variables, the shared
// variables, and the tuples of each space.
func Config(c explore.Config) string {
	var b strings.Builder
	for _, p := range c.Processes {
		where := "has terminated"
		if !p.Terminated {
			where = fmt.Sprintf("is at line %d, before %s", p.Pos.Line, strings.Join(p.Next, " or "))
		}
		fmt.Fprintf(&b, "      %s %s%s\n", p.Name, where, values(" with ", p.Locals))
	}
	if len(c.Variables) > 0 {
		fmt.Fprintf(&b, "      %s\n", values("", c.Variables))
	}
	for _, s := range c.Spaces {
		fmt.Fprintf(&b, "      %s has %s\n", s.Name, tuples(s.Tuples))
	}
	return b.String()
}

// tuples prints the tuples of a space, or that there are none.
func tuples(ts []string) string {
	if len(ts) == 0 {
		return "nothing"
	}
	return strings.Join(ts, " ")
}

// values prints variables as x=1 y=2 after a prefix, or returns "" if there are none.
func values(prefix string, vs []explore.Value) string {
	if len(vs) == 0 {
		return ""
	}
	texts := make([]string, len(vs))
	for i, v := range vs {
		texts[i] = v.Name + "=" + v.Value
	}
	return prefix + strings.Join(texts, " ")
}

// Sequence prints a trace as a Mermaid sequence diagram, with an arrow for each tuple between a
// process and a space. All participants are declared before the first arrow, because Mermaid
// orders them by their first mention.
func Sequence(t *explore.Trace) string {
	var b strings.Builder
	b.WriteString("sequenceDiagram\n")
	known := map[string]string{}
	add := func(kind, name string) string {
		key := kind + name
		if known[key] == "" {
			known[key] = fmt.Sprintf("%s%d", kind, len(known))
			fmt.Fprintf(&b, "    participant %s as %s\n", known[key], mermaid(name))
		}
		return known[key]
	}
	for _, p := range t.End.Processes {
		add("p", p.Name)
	}
	for _, s := range t.End.Spaces {
		add("s", s.Name)
	}
	for i, s := range t.Steps {
		if i == t.Cycle {
			b.WriteString("    loop forever\n")
		}
		p := add("p", s.Process)
		for _, a := range s.Actions {
			b.WriteString(arrow(p, a, known["s"+a.Space]))
		}
	}
	if t.Cycle >= 0 {
		b.WriteString("    end\n")
	}
	for _, p := range t.End.Processes {
		if !p.Terminated && t.Cycle < 0 {
			fmt.Fprintf(&b, "    Note over %s: before %s\n", known["p"+p.Name], mermaid(strings.Join(p.Next, " or ")))
		}
	}
	return b.String()
}

// arrow prints an action as an arrow between process and space, which are names of
// participants. An action without a tuple becomes a note.
func arrow(process string, a explore.Action, space string) string {
	switch a.Verb {
	case "put":
		return fmt.Sprintf("    %s->>%s: put %s\n", process, space, mermaid(a.Tuple))
	case "get":
		return fmt.Sprintf("    %s->>%s: get %s\n", space, process, mermaid(a.Tuple))
	case "query":
		return fmt.Sprintf("    %s-->>%s: query %s\n", space, process, mermaid(a.Tuple))
	}
	return fmt.Sprintf("    Note over %s: %s\n", process, mermaid(a.Text))
}

// mermaid replaces the characters that Mermaid interprets.
func mermaid(s string) string {
	return strings.NewReplacer(";", "#59;", "#", "#35;", "\n", "<br/>", "<", "#lt;", ">", "#gt;", `"`, "#quot;").Replace(s)
}

// Choices lists numbered steps.
func Choices(steps []explore.Step) string {
	lines := make([]string, len(steps))
	for i, s := range steps {
		lines[i] = fmt.Sprintf("%4d  %s  (line %d)", i, stepText(s), s.Pos.Line)
	}
	return strings.Join(lines, "\n")
}
