package archtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// `go mod tidy -diff` would say this too, but it also wants the tests of what we
// import, and theirs; not all of those can be had (modernc.org/sqlite's want a
// version of google/pprof that the module proxy refuses).
func TestGoModRequiresWhatIsImportedAndNothingElse(t *testing.T) {
	t.Parallel()
	imported := make(map[string]bool)
	moduleOf := make(map[string]string)
	all := list(t)
	for _, p := range all {
		moduleOf[plain(p.ImportPath)] = p.Module.Path
	}
	for _, p := range all {
		if p.Module.Path != module {
			continue
		}
		for _, i := range p.Imports {
			if m := moduleOf[plain(i)]; m != "" && m != module {
				imported[m] = true
			}
		}
	}
	for m, direct := range required(t) {
		if imported[m] != direct {
			t.Errorf("go.mod: %s is imported by us: %t, required directly: %t: run go mod tidy -e", m, imported[m], direct)
		}
	}
}

func TestEveryDirectDependencyHasItsReason(t *testing.T) {
	t.Parallel()
	reasons, err := os.ReadFile("../../docs/dependencies.md")
	require.NoError(t, err)
	for m, direct := range required(t) {
		if direct {
			require.Contains(t, string(reasons), m, "docs/dependencies.md says of each direct dependency why it is there")
		}
	}
}

// required returns the modules of go.mod, and whether each is a direct one.
func required(t *testing.T) map[string]bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	require.NoError(t, err)
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	require.NoError(t, json.Unmarshal(out, &mod))
	all := make(map[string]bool)
	for _, r := range mod.Require {
		all[r.Path] = !r.Indirect
	}
	return all
}
