package main

import (
	"context"
	"strings"
)

// exercisedBy names the packages whose tests are the nearest to exercise a package from outside:
// they run if the own tests of the package do not notice a mutant. The protocols, for example,
// are tested together in shared/protocol/work. Packages whose tests start processes are not here, because
// it is not known which lines these run.
var exercisedBy = map[string][]string{
	"coordinator/api":              {"coordinator/page", "coordinator/code"},
	"shared/protocol/visit/policy": {"coordinator/visits", "coordinator/api"},
	"coordinator/visits":           {"coordinator/database", "coordinator/api"},
	"manager/clips":                {"manager", "internal/conformance"},
	"manager/code":                 {"node"},
	"shared/catalog/sqlite":        {"coordinator/database", "coordinator/api", "manager/clips"},
	"shared/fetch":                 {"manager/clips", "manager/lister"},
	"shared/protocol/lease":        {"shared/protocol/work", "shared/protocol/task"},
	"shared/space/engine":          {"shared/protocol/work", "shared/protocol/task", "coordinator/gate/native"},
	"shared/space/journal/pebble":  {"shared/protocol/work", "shared/space/transaction"},
	"shared/space/remote":          {"coordinator/gate/native", "node"},
	"shared/protocol/status":       {"shared/protocol/work", "worker", "node"},
	"shared/protocol/task":         {"shared/protocol/work", "shared/protocol/schedule", "coordinator/alert", "coordinator/api"},
	"shared/protocol/work":         {"manager/clips", "manager/code"},
	"worker":                       {"worker/exec", "worker/code", "node"},
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
