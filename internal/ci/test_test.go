package ci

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// run runs .ci/test with a shell command in place of `go test -json`. It returns the
// output and reports whether the script exited with 0.
func run(t *testing.T, command string) (out string, ok bool) {
	t.Helper()
	folder := t.TempDir()
	text, err := exec.CommandContext(t.Context(), "../../.ci/test", folder, command, "./...").CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	summary, readErr := os.ReadFile(filepath.Join(folder, "test-summary"))
	require.NoError(t, readErr)
	require.True(t, strings.HasSuffix(string(text), "\n"+string(summary)), "the last line is the summary: %s", text)
	return string(text), err == nil
}

func TestTheSummaryCountsTestsAndPrintsTheOutputOfFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events, last string
		ok           bool
		shows, hides []string
	}{
		"all tests pass": {
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"quiet\n"}
{"Time":"2026-11-22T10:00:00Z","Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Elapsed":1.5}`,
			last: "1 passed, 0 failed, 0 skipped", ok: true, shows: []string{"p (1.5s)"}, hides: []string{"quiet"},
		},
		"a failure is printed in full, a skipped test by name": {
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"reason\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p"}`,
			last: "0 passed, 1 failed, 1 skipped", shows: []string{"FAIL: p TestA", "reason", "SKIP: p TestB"},
		},
		"a package that does not build counts once": {
			events: `{"Action":"build-output","ImportPath":"p","Output":"x.go:1: syntax\n"}
{"Action":"build-fail","ImportPath":"p"}
{"Action":"fail","Package":"p","FailedBuild":"p"}`,
			last: "0 passed, 1 failed, 0 skipped", shows: []string{"x.go:1: syntax"},
		},
		"a test that ended the process is printed": {
			events: `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"panic: no\n"}
{"Action":"fail","Package":"p"}`,
			last: "0 passed, 1 failed, 0 skipped", shows: []string{"panic: no"},
		},
		"output that looks like an event is not counted": {
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"{\"Action\":\"fail\",\"Package\":\"p\",\"Test\":\"TestB\"}\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p"}`,
			last: "1 passed, 0 failed, 0 skipped", ok: true,
		},
		"a line that is not an event": {events: "go: no such thing", last: "0 passed, 0 failed, 0 skipped", shows: []string{"go: no such thing"}},
		"no output":                   {last: "0 passed, 0 failed, 0 skipped"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, ok := run(t, "cat <<'E'\n"+c.events+"\nE\n:")
			require.Equal(t, c.ok, ok, out)
			require.True(t, strings.HasSuffix(out, c.last+"\n"), out)
			for _, s := range c.shows {
				require.Contains(t, out, s)
			}
			for _, s := range c.hides {
				require.NotContains(t, out, s)
			}
		})
	}
}

const (
	crashed = `{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"ThreadSanitizer: CHECK failed: tsan_rtl.cpp:346\n"}
{"Action":"fail","Package":"p"}
{"Action":"pass","Package":"q","Test":"TestC"}
{"Action":"pass","Package":"q"}`
	passes = `{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"pass","Package":"p"}`
)

// shell is a command that prints all and fails if it is run for ./..., and prints p
// if it is run for package p.
func shell(all, p string) string {
	return "f() { if [ $1 = p ]; then cat <<'E'\n" + p + "\nE\nelse cat <<'E'\n" + all + "\nE\nexit 1; fi; }; f"
}

func TestAPackageThatFailedRunsOnceMore(t *testing.T) {
	t.Parallel()
	failed := strings.Replace(crashed, `"pass","Package":"p"`, `"fail","Package":"p"`, 1)
	for name, c := range map[string]struct{ first, unsteady string }{
		"the race detector crashed": {crashed, "unsteady: p\n"},
		"a test failed":             {failed, "unsteady: p TestA\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, ok := run(t, shell(c.first, passes))
			require.True(t, ok, out)
			require.Contains(t, out, "running once more: p\n")
			require.Contains(t, out, c.unsteady+"slowest tests:\n3 passed, 0 failed, 0 skipped\n")

			out, ok = run(t, shell(c.first, c.first))
			require.False(t, ok, out)
			require.Contains(t, out, ", 1 failed, 0 skipped\n")
			require.Equal(t, 1, strings.Count(out, "running once more"), out)
			require.NotContains(t, out, "unsteady")
		})
	}
}

func TestManyFailedPackagesDoNotRunAgain(t *testing.T) {
	t.Parallel()
	fails := ""
	for _, p := range []string{"p", "q", "r"} {
		fails += `{"Action":"fail","Package":"` + p + `","Test":"TestA"}` + "\n" + `{"Action":"fail","Package":"` + p + `"}` + "\n"
	}
	out, ok := run(t, shell(fails, passes))
	require.False(t, ok, out)
	require.NotContains(t, out, "once more")
	require.Contains(t, out, "0 passed, 3 failed, 0 skipped\n")
}

func TestTheSummaryListsTheTenSlowestTests(t *testing.T) {
	t.Parallel()
	var events, want strings.Builder
	for i := range 12 {
		fmt.Fprintf(&events, "{\"Action\":\"pass\",\"Package\":\"leasehold/p\",\"Test\":\"Test%d\",\"Elapsed\":%d.5}\n", i, i)
		fmt.Fprintf(&events, "{\"Action\":\"pass\",\"Package\":\"leasehold/p\",\"Test\":\"Test%d/part\",\"Elapsed\":%d.5}\n", i, i)
	}
	for i := 11; i >= 2; i-- {
		fmt.Fprintf(&want, "%d.5 s p Test%d\n", i, i)
	}
	out, ok := run(t, "cat <<'E'\n"+events.String()+"E\n:")
	require.True(t, ok, out)
	require.Contains(t, out, "slowest tests:\n"+want.String()+"24 passed")
}

func TestACommandThatFailsThoughNoTestDidIsAFailure(t *testing.T) {
	t.Parallel()
	out, ok := run(t, shell(passes, ""))
	require.False(t, ok, out)
}

func TestASecretInTheOutputIsAFailureAndNotRepeated(t *testing.T) {
	t.Parallel()
	const part = "abcdefghijklmnopqrstuvwxyz234567"
	printed := func(texts ...string) string {
		events := passes
		for i, text := range texts {
			events = `{"Action":"output","Package":"p","Test":"Test` + "AB"[i%2:i%2+1] + `","Output":"it is ` + text + `\n"}` + "\n" + events
		}
		return "cat <<'E'\n" + events + "\nE\n:"
	}
	secrets := []string{"lht-" + part + part[:20], "lh1-worker-abcd2345-" + part + "-" + part + "@server:7411", "lh2-worker-abcd2345-" + part + "-" + part + "-1767225600-" + part + "@server:7411", "-----BEGIN PRIVATE KEY-----"}
	out, ok := run(t, printed(secrets...))
	require.False(t, ok)
	require.Contains(t, out, "secret in the output of p TestA\nsecret in the output of p TestB\n")
	require.Contains(t, out, "2 passed, 2 failed, 0 skipped\n")
	for _, secret := range secrets {
		require.NotContains(t, out, secret)
	}
	out, ok = run(t, printed("lht-wrong", "lh1-worker-abcd2345-"+part+"-xxxxx@server:7411", "lh1-worker-abcd2345-"+part+"-(secret)"))
	require.True(t, ok, out)
}
