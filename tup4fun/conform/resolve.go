package conform

import (
	"fmt"
	"slices"

	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

// observed is an Action as the model has it.
type observed struct {
	verb   syntax.Verb
	space  int
	fields []Field // of the kinds Any, Name (a variable of the event) and Number
}

// deed is what the log may show of a step: a verb at a space.
type deed struct {
	verb  syntax.Verb
	space int
}

// resolver finds what the names of a map stand for in a model.
type resolver struct {
	m     *Map
	model *explore.Model
	names map[string]int64 // constants and symbols
	errs  syntax.Errors
}

// resolve checks a map against the model, and readies its rules.
func (m *Map) resolve(model *explore.Model) error {
	r := &resolver{m: m, model: model, names: map[string]int64{}}
	prog := model.Program
	for _, d := range prog.Decls {
		if d.Kind == syntax.ConstDecl {
			r.names[d.Name.Text] = d.Value.Value
		}
	}
	for i, s := range prog.Symbols {
		r.names[s] = syntax.SymbolBase + int64(i)
	}
	for name := range m.Constants {
		if _, ok := r.names[name]; !ok {
			r.errorf(syntax.Pos{Line: 1, Col: 1}, "%s has no constant %s", prog.File, name)
		}
	}
	for _, rule := range m.Rules {
		r.rule(rule)
	}
	if len(r.errs) > 0 {
		return r.errs
	}
	return nil
}

func (r *resolver) errorf(at syntax.Pos, format string, args ...any) {
	if len(r.errs) < syntax.MaxErrors {
		r.errs = append(r.errs, &syntax.Error{File: r.m.File, Pos: at, Msg: fmt.Sprintf(format, args...)})
	}
}

func (r *resolver) rule(rule *Rule) {
	if len(rule.Actions) == 0 {
		return
	}
	bound := rule.Event.variables()
	if len(r.m.Instance) > 0 && !slices.ContainsFunc(r.m.Instance, func(n string) bool { return slices.Contains(bound, n) }) {
		r.errorf(rule.Pos, "this rule does not say of which instance its events are: it binds none of %v", r.m.Instance)
	}
	if rule.By != "" && r.copies(rule.By) == 0 {
		r.errorf(rule.Pos, "%s has no process %s", r.model.Program.File, rule.By)
	}
	if rule.Copy != "" && !slices.Contains(bound, rule.Copy) {
		r.errorf(rule.Pos, "%s is no variable of the event: nothing says which %s it is by", rule.Copy, rule.By)
	}
	rule.observed = nil
	for _, a := range rule.Actions {
		rule.observed = append(rule.observed, r.action(a, bound))
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

// variables lists what a pattern binds. Besides its own these are the fields of an
// event that have a name: process, lease and ref.
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

func (r *resolver) action(a Action, bound []string) observed {
	o := observed{verb: syntax.Verb(a.Verb), space: slices.IndexFunc(r.model.Spaces, func(s explore.Space) bool { return s.Name == a.Space })}
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

// deeds lists what the log shows of the model: all that some rule speaks of.
func (m *Map) deeds() map[deed]bool {
	shown := map[deed]bool{}
	for _, r := range m.Rules {
		for _, o := range r.observed {
			shown[deed{o.verb, o.space}] = true
		}
	}
	return shown
}
