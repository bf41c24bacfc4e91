package main

import (
	"context"
	"strings"
)

// exercisedBy names the packages whose tests are the nearest to exercise a package from outside:
// they run if the own tests of the package do not notice a mutant. The protocols, for example,
// are tested together in shared/work. Packages whose tests start processes are not here, because
// it is not known which lines these run.
var exercisedBy = map[string][]string{
	"coordinator/api":             {"coordinator/dashboard", "coordinator/codeindex"},
	"coordinator/visit":           {"coordinator/visit/store", "coordinator/api"},
	"coordinator/visit/store":     {"coordinator/database", "coordinator/api"},
	"manager/archive":             {"manager", "internal/conformance"},
	"manager/index":               {"node"},
	"shared/catalog/sqlite":       {"coordinator/database", "coordinator/api", "manager/archive"},
	"shared/fetch":                {"manager/archive", "manager/lister"},
	"shared/lease":                {"shared/work", "shared/task"},
	"shared/space/engine":         {"shared/work", "shared/task", "coordinator/gate/native"},
	"shared/space/journal/pebble": {"shared/work", "shared/transaction"},
	"shared/space/remote":         {"coordinator/gate/native", "node"},
	"shared/status":               {"shared/work", "worker", "node"},
	"shared/task":                 {"shared/work", "shared/schedule", "coordinator/alert", "coordinator/api"},
	"shared/work":                 {"manager/archive", "manager/index"},
	"worker":                      {"worker/exec", "worker/indexing", "node"},
}

// listOthers returns the packages whose tests run for mutants of each package beside its own: those
// of exercisedBy, which are left out if own is true, and those that the patterns more match. The
// error is that of go list.
func listOthers(ctx context.Context, mutated []goPackage, more []string, own bool) (map[string][]goPackage, error) {
	listed := map[string][]goPackage{}
	for _, p := range mutated {
		module, within, ok := strings.Cut(p.ImportPath, "/")
		var patterns []string
		if ok && !own {
			for _, by := range exercisedBy[within] {
				patterns = append(patterns, module+"/"+by)
			}
		}
		if patterns = append(patterns, more...); len(patterns) == 0 {
			continue
		}
		var err error
		if listed[p.ImportPath], err = listPackages(ctx, patterns); err != nil {
			return nil, err
		}
	}
	return listed, nil
}
