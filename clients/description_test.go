package clients

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	checkFolder = flag.String("clients.check", "../../shared/openapi", "folder of the check of the API's description")
	checkSeed   = flag.Int("clients.checkseed", 47, "of the requests of the check; 0: a fresh one")
	checkWhole  = flag.Bool("clients.checkwhole", false, "the check sends all requests, and makes clients for all languages")
)

// Other people's tools send requests made from the description, and make clients from it. None of the requests is
// answered otherwise than described, apart from those in testdata/description/exceptions.py.
func TestOtherToolsUnderstandTheDescription(t *testing.T) {
	t.Parallel()
	if missing := checkNeeds(); missing != "" {
		t.Logf("left out: the check of the description with other tools, because %s", missing)
		return
	}
	program, err := buildLeasehold()
	require.NoError(t, err)
	hooks, err := filepath.Abs("testdata/description/exceptions.py")
	require.NoError(t, err)
	folder := keptFolder(t)
	// Another run waits for the lock, because the folder and the ports are the same.
	c := exec.CommandContext(t.Context(), "flock", filepath.Join(folder, "lock"), filepath.Join(*checkFolder, "check"), program, folder)
	c.Env = append(withoutSettings(), "SCHEMATHESIS_HOOKS="+hooks)
	if *checkSeed != 0 {
		c.Env = append(c.Env, fmt.Sprintf("SEED=%d", *checkSeed))
	}
	if !*checkWhole {
		c.Env = append(c.Env, "EXAMPLES=3", "GENERATE=python go")
	}
	printed, err := c.CombinedOutput()
	if err != nil {
		found, _ := os.ReadFile(filepath.Join(folder, "schemathesis.log")) // it may not have been written
		t.Logf("%s", found)
	}
	require.NoError(t, err, "%s", printed)
	require.Contains(t, string(printed), "python: created ")
	require.Contains(t, string(printed), "go: builds")
}

// checkNeeds returns which tool of the check is missing; "" if it can run.
func checkNeeds() string {
	if _, err := os.Stat(filepath.Join(*checkFolder, "check")); err != nil {
		return "it is not at " + *checkFolder
	}
	for _, program := range []string{"bash", "curl", "flock", "java", "python3"} {
		if _, err := exec.LookPath(program); err != nil {
			return program + " is not installed"
		}
	}
	version, err := exec.Command("python3", "-c", "import ensurepip, sys; print('%d.%d' % sys.version_info[:2])").Output()
	if err != nil || strings.TrimSpace(string(version)) != "3.11" || runtime.GOARCH != "amd64" {
		return "its packages need Python 3.11 with venv on x86-64"
	}
	return ""
}

// keptFolder returns the folder in which the check keeps its Python packages between runs.
func keptFolder(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	folder := filepath.Join(cache, "leasehold", "check-description")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	return folder
}
