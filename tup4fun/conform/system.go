package conform

import (
	"context"
	"embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"leasehold/shared/space/trace"
)

//go:embed models/*.tup models/*.map
var models embed.FS

// Protocols lists the models of the system by name. Each is a protocol of the coordinator, with
// its map.
func Protocols() []string { return []string{"lease", "task", "capacity", "status", "visit"} }

// LoadProtocol returns a Checker of a model of the system. The name must be one of Protocols. The
// models are part of the program, so that another error would be a mistake of the build.
func LoadProtocol(name string, o Options) (*Checker, error) {
	model, err := models.ReadFile("models/" + name + ".tup")
	if err != nil {
		return nil, fmt.Errorf("unknown model %q; the models are %s", name, strings.Join(Protocols(), ", "))
	}
	mapping, err := models.ReadFile("models/" + name + ".map")
	if err != nil {
		return nil, err
	}
	return Load(name, string(model), name+".map", string(mapping), o)
}

// System checks logs against all models of the system.
type System struct {
	checkers []*Checker
	spaces   map[string]bool // that a map names, or that no model needs
}

// unmodelled lists the spaces of the coordinator that no model describes.
var unmodelled = []string{"alert", "batch", "hold", "idempotency", "log", "schedule", "sessiondata", "taskdata", "taskends"}

// general are prefixes of the procedures that work on any space. They belong to no protocol.
var general = []string{"hold.", "interop.", "transaction."}

// isGeneral reports whether a procedure works on any space.
func isGeneral(procedure string) bool {
	return slices.ContainsFunc(general, func(prefix string) bool { return strings.HasPrefix(procedure, prefix) })
}

// LoadSystem returns the models of the system.
func LoadSystem(o Options) (*System, error) {
	s := &System{spaces: map[string]bool{"": true}}
	for _, name := range unmodelled {
		s.spaces[name] = true
	}
	for _, name := range Protocols() {
		c, err := LoadProtocol(name, o)
		if err != nil {
			return nil, err
		}
		s.checkers = append(s.checkers, c)
		maps.Copy(s.spaces, c.spaces)
	}
	return s, nil
}

// Check is CheckAll with the models of the system. If procedures changed spaces that no model knows,
// a further report names them; its outcome is Incomplete.
func (s *System) Check(ctx context.Context, name string, log io.Reader) ([]*Report, error) {
	rest := &Report{Model: "other procedures", Map: "none", Trace: name, Outcome: Incomplete}
	unknown, read := map[string]bool{}, s.checkers[0].options.Read
	watched := func(e trace.Event) {
		rest.Events++
		if read != nil {
			read.Store(e.Seq)
		}
		if e.Procedure != "" && !s.spaces[e.Space] && !isGeneral(e.Procedure) {
			unknown[e.Procedure] = true
		}
	}
	reports, err := checkAll(ctx, name, log, watched, s.checkers)
	if slices.ContainsFunc(reports, func(r *Report) bool { return r.Explained > 0 }) {
		for i, r := range reports {
			if s.checkers[i].uncovered { // it is a log of the system, in which this protocol was not used
				r.Outcome, r.Reason = Conforms, ""
			}
		}
	}
	if err == nil && len(unknown) > 0 {
		rest.Unknown = slices.Sorted(maps.Keys(unknown))
		rest.Reason = "no model knows " + strings.Join(rest.Unknown, ", ")
		reports = append(reports, rest)
	}
	return reports, err
}
