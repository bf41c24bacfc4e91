package archtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

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

// internal/versus is a module of its own, which must follow the versions of the main one: nothing else in the tests
// builds it.
func TestTheModuleOfTheComparisonsFollowsOurs(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-mod=readonly", "-m", "all")
	cmd.Dir = "../versus"
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "run go mod tidy in internal/versus: %s", out)
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
