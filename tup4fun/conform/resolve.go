package conform

import (
	"fmt"
	"maps"
	"slices"

	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

// resolvedAction is an Action with the space and values of the model.
type resolvedAction struct {
	verb   syntax.Verb
	space  int
	fields []Field // of the kinds Any, Name (a variable of the event) and Number
}

// action is a verb on a space of the model.
type action struct {
	verb  syntax.Verb
	space int
}

// resolver looks up the names of a map in a model.
type resolver struct {
	mapping *Map
	model   *explore.Model
	names   map[string]int64 // constants and symbols
	errs    syntax.Errors
}

// resolve checks a map against the model and sets the resolved actions of its rules. The
// error is a syntax.Errors.
func (m *Map) resolve(model *explore.Model) error {
	r := &resolver{mapping: m, model: model, names: map[string]int64{}}
	prog := model.Program
	for _, d := range prog.Decls {
		if d.Kind == syntax.ConstDecl {
			r.names[d.Name.Text] = d.Value.Value
		}
	}
	for i, s := range prog.Symbols {
		r.names[s] = syntax.SymbolBase + int64(i)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Constants)) {
		if _, ok := r.names[name]; !ok {
			r.errorf(syntax.Pos{Line: 1, Col: 1}, "%s has no constant %s", prog.File, name)
		}
	}
	if m.Earlier != "" && r.copies(m.Earlier) == 0 {
		r.errorf(syntax.Pos{Line: 1, Col: 1}, "%s has no process %s", prog.File, m.Earlier)
	}
	named := slices.Concat(m.Ends, m.Forget)
	for _, a := range m.After {
		named = append(named, a.Spaces...)
	}
	for _, name := range named {
		if !slices.ContainsFunc(model.Spaces, func(s explore.Space) bool { return s.Name == name }) {
			r.errorf(syntax.Pos{Line: 1, Col: 1}, "%s has no space %s", prog.File, name)
		}
	}
	for _, rule := range m.Rules {
		r.resolveRule(rule)
	}
	if len(r.errs) > 0 {
		return r.errs
	}
	return nil
}

// errorf notes an error of the map, up to syntax.MaxErrors.
func (r *resolver) errorf(at syntax.Pos, format string, args ...any) {
	if len(r.errs) < syntax.MaxErrors {
		r.errs = append(r.errs, &syntax.Error{File: r.mapping.File, Pos: at, Msg: fmt.Sprintf(format, args...)})
	}
}

// resolveRule resolves the actions of a rule. It requires that the event binds a variable that
// names an instance, because the checker could not assign the event otherwise. A rule without
// actions, ignore or never, has nothing to resolve. Mistakes are reported.
func (r *resolver) resolveRule(rule *Rule) {
	if len(rule.Actions) == 0 {
		return
	}
	bound := rule.Event.variables()
	if len(r.mapping.Instance) > 0 && !slices.ContainsFunc(r.mapping.Instance, func(n string) bool { return slices.Contains(bound, n) }) {
		r.errorf(rule.Pos, "the rule does not name an instance: it binds none of %v", r.mapping.Instance)
	}
	if rule.By != "" && r.copies(rule.By) == 0 {
		r.errorf(rule.Pos, "%s has no process %s", r.model.Program.File, rule.By)
	}
	if rule.Copy != "" && !slices.Contains(bound, rule.Copy) {
		r.errorf(rule.Pos, "%s is not a variable of the event, so the copy of %s is unknown", rule.Copy, rule.By)
	}
	rule.resolved, rule.input = nil, nil
	if rule.Input != nil {
		input := r.resolveAction(*rule.Input, bound)
		rule.input = &input
	}
	for _, a := range rule.Actions {
		rule.resolved = append(rule.resolved, r.resolveAction(a, bound))
	}
}

// copies returns how many processes have that name.
func (r *resolver) copies(title string) (n int) {
	for _, p := range r.model.Procs {
		if p.Code.Proc.Title == title {
			n++
		}
	}
	return n
}

// variables lists the variables that a pattern binds. process, lease and ref are bound by
// every event.
func (e Pattern) variables() []string {
	all := []string{"process", "lease", "ref"}
	if e.Serial != "" {
		all = append(all, e.Serial)
	}
	for _, f := range slices.Concat(e.Before, e.Tuple) {
		if f.Kind == Name {
			all = append(all, f.Text)
		}
	}
	return all
}

// resolveAction resolves the space and the fields of an action, and reports those that are
// unknown. A name is a variable of the event if the event binds it (bound), otherwise a
// constant or symbol of the model.
func (r *resolver) resolveAction(a Action, bound []string) resolvedAction {
	o := resolvedAction{verb: syntax.Verb(a.Verb), space: slices.IndexFunc(r.model.Spaces, func(s explore.Space) bool { return s.Name == a.Space })}
	if o.space < 0 {
		r.errorf(a.Pos, "%s has no space %s", r.model.Program.File, a.Space)
	}
	for _, f := range a.Fields {
		if v, ok := r.names[f.Text]; ok && (f.Kind == Text || f.Kind == Name && !slices.Contains(bound, f.Text)) {
			f.Kind, f.Value = Number, v
		}
		if f.Kind == Text || f.Kind == Name && !slices.Contains(bound, f.Text) {
			r.errorf(f.Pos, "%s is neither a variable of the event nor a constant or symbol of %s", f.Text, r.model.Program.File)
		}
		o.fields = append(o.fields, f)
	}
	return o
}

// shownActions returns the actions that some rule mentions. The log shows these; other
// actions of the model are hidden.
func (m *Map) shownActions() map[action]bool {
	shown := map[action]bool{}
	for _, r := range m.Rules {
		for _, o := range r.resolved {
			shown[action{o.verb, o.space}] = true
		}
	}
	return shown
}
