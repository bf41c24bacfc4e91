package api_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// svnScript is a lister and loader for a type of visits unknown here.
const svnScript = "../../examples/visits/svn.py"

// runSVN runs the script on a list of repositories. The program svn answers as the shell
// script does.
func runSVN(t *testing.T, api, svn, list string) (printed string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "svn"), []byte("#!/bin/sh\n"+svn), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "list"), []byte(list), 0o644))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	script, err := filepath.Abs(svnScript)
	require.NoError(t, err)
	c := exec.CommandContext(ctx, "python3", "-B", script, api, "list")
	c.Dir, c.Env = dir, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

func TestAScriptOfFortyLinesVisitsRepositoriesOfSubversion(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Log("left out, because python3 is not installed")
		return
	}
	text, err := os.ReadFile(svnScript)
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count(string(text), "\n"), 40)

	h := newFixture(t)
	const answer = `case "$*" in *broken*) echo 'E170013: unable to connect' >&2; exit 1;; *--show-item\ revision*) echo 7;; esac`
	const one, broken = "svn://a.example/one", "svn://b.example/broken"
	require.ElementsMatch(t, []string{"eventful " + one, "failed " + broken}, strings.Split(strings.TrimSpace(runSVN(t, h.server.URL, answer, one+"\n"+broken+"\n")), "\n"))
	ids := map[string]string{}
	for _, o := range items(h.ok("GET", v1+"/origins", "")) {
		x := o.(map[string]any)
		ids[x["uri"].(string)] = x["id"].(string)
		if x["uri"] == broken {
			require.Contains(t, x["last_error"], "E170013")
		}
	}

	// What rests is not visited; what a user asks for is, and it has not changed.
	require.Empty(t, runSVN(t, h.server.URL, answer, one+"\n"+broken+"\n"))
	h.ok("POST", v1+"/origins/"+ids[one]+"/schedule", `{"action":"save-now"}`)
	require.Equal(t, "uneventful "+one+"\n", runSVN(t, h.server.URL, answer, one+"\n"+broken+"\n"))

	// The list no longer names the second one.
	runSVN(t, h.server.URL, answer, one+"\n")
	require.Equal(t, "lister", h.ok("GET", v1+"/origins/"+ids[broken]+"/schedule", "")["disabled"])
}
