package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestASummaryCountsAndShowsWhatFailed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in, last, err string
		shows, hides  []string
	}{
		"all is well": {
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"quiet\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Elapsed":1.5}`,
			last: "1 passed, 0 failed, 0 skipped", shows: []string{"pass    1.50s  p"}, hides: []string{"quiet"},
		},
		"a failure is shown in full, a skipped test by name": {
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"because\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p"}`,
			last: "0 passed, 1 failed, 1 skipped", err: "there are failures", shows: []string{"=== p TestA\nbecause\n", "skipped: p TestB"},
		},
		"a package that does not build counts once": {
			in: `{"Action":"build-output","ImportPath":"p","Output":"x.go:1: oh\n"}
{"Action":"build-fail","ImportPath":"p"}
{"Action":"fail","Package":"p","FailedBuild":"p"}`,
			last: "0 passed, 1 failed, 0 skipped", err: "there are failures", shows: []string{"x.go:1: oh"},
		},
		"a test that ended the process tells why": {
			in: `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"panic: no\n"}
{"Action":"fail","Package":"p"}`,
			last: "0 passed, 1 failed, 0 skipped", err: "there are failures", shows: []string{"panic: no"},
		},
		"what go says plainly is passed on": {in: "go: no such thing", last: "0 passed, 0 failed, 0 skipped", err: "no test ran", shows: []string{"go: no such thing"}},
		"nothing at all":                    {last: "0 passed, 0 failed, 0 skipped", err: "no test ran"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			dir := t.TempDir()
			in, to := filepath.Join(dir, "in"), filepath.Join(dir, "last")
			require.NoError(t, os.WriteFile(in, []byte(c.in), 0o600))
			err := run("cat "+in+"; :", []string{"./..."}, &out, to)
			if c.err == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, c.err)
			}
			require.True(t, strings.HasSuffix(out.String(), c.last+"\n"), out.String())
			for _, s := range c.shows {
				require.Contains(t, out.String(), s)
			}
			for _, s := range c.hides {
				require.NotContains(t, out.String(), s)
			}
			last, err := os.ReadFile(to)
			require.NoError(t, err)
			require.Equal(t, c.last+"\n", string(last))
		})
	}
}

const (
	gaveUp = `{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"ThreadSanitizer: CHECK failed: tsan_rtl.cpp:346\n"}
{"Action":"fail","Package":"p"}
{"Action":"pass","Package":"q","Test":"TestC"}
{"Action":"pass","Package":"q"}`
	passes = `{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"pass","Package":"p"}`
)

// shell is a command that prints one text for ./..., and fails, and another for p.
func shell(all, p string) string {
	return "f() { if [ $1 = p ]; then cat <<'E'\n" + p + "\nE\nelse cat <<'E'\n" + all + "\nE\nexit 1; fi; }; f"
}

func TestAPackageInWhichTheRaceDetectorGaveUpIsTestedOnceMore(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, run(shell(gaveUp, passes), []string{"./..."}, &out, ""))
	require.Contains(t, out.String(), "the race detector gave up; once more: p\n")
	require.Contains(t, out.String(), "3 passed, 0 failed, 0 skipped\n")

	out.Reset()
	require.EqualError(t, run(shell(gaveUp, gaveUp), []string{"./..."}, &out, ""), "there are failures")
	require.Contains(t, out.String(), "=== p TestB\nThreadSanitizer")

	failed := strings.Replace(gaveUp, `"pass","Package":"p"`, `"fail","Package":"p"`, 1)
	out.Reset()
	require.EqualError(t, run(shell(failed, passes), []string{"./..."}, &out, ""), "there are failures")
	require.NotContains(t, out.String(), "once more")
}

func TestACommandThatFailsThoughNoTestDidIsAnError(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	err := run(shell(passes, ""), []string{"./..."}, &out, "")
	require.ErrorContains(t, err, "exit status 1")
}
