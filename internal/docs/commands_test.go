package docs

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/shared/process/platform"
)

// blockTimeout bounds one block. The longest takes 30 s of processor time, and two minutes on
// one where 20 other processes want the processor.
const blockTimeout = 5 * time.Minute

// TestEveryCommandWorks executes the ```sh blocks of each page, in their order, in one
// folder that looks like the root of the repository with the binary in it. A command
// that ends with another exit code than 0 names it in a comment: # exit code 1. A
// process that a block starts with & is killed at the end of the page. Blocks whose
// fence has "sh parsed: REASON" are not executed; their commands are parsed.
func TestEveryCommandWorks(t *testing.T) {
	t.Parallel()
	for _, page := range pages(t) {
		all := blocks(t, page)
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			if program := needs[page]; program != "" {
				if _, err := exec.LookPath(program); err != nil {
					t.Logf("left out: the commands of %s, because %s is not installed", page, program)
					return
				}
			}
			s := newSandbox(t)
			printed := ""
			for _, b := range all {
				reason, parsed := b.parsedOnly()
				switch {
				case parsed:
					require.NotEmpty(t, reason, "%s: want a reason after parsed:", b)
					s.parse(t, b)
				case b.info == "sh":
					printed = s.run(t, b)
				case b.info == "output":
					requireShown(t, b, printed)
				case b.file != "":
					require.NoError(t, os.WriteFile(filepath.Join(s.dir, b.file), []byte(b.text), 0o600))
				default:
					require.NotContains(t, b.text, "leasehold ", "%s: want the info sh, or sh parsed: REASON", b)
				}
			}
		})
	}
}

// needs are the programs of pages that make tools does not install, because they are large.
var needs = map[string]string{"clients/java/README.md": "javac"}

// A sandbox is the folder in which the commands of one page are executed.
type sandbox struct {
	dir     string
	env     []string
	replace *strings.Replacer // of addresses in commands
	api     string
	groups  []*os.Process // each with the processes of its group, to be killed at the end
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	s := &sandbox{dir: t.TempDir()}
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "leasehold" || strings.HasPrefix(name, "."):
		case name == "examples": // a copy, because commands write there
			require.NoError(t, os.CopyFS(filepath.Join(s.dir, name), os.DirFS(filepath.Join(root, name))))
		default:
			s.link(t, filepath.Join(root, name), name)
		}
	}
	s.link(t, filepath.Join(binaryDir, "leasehold"), "leasehold")
	home := filepath.Join(s.dir, "home")
	require.NoError(t, os.Mkdir(home, 0o700))
	for name, from := range map[string]string{"jingles": "clips", "episodes": "episodes"} {
		require.NoError(t, os.CopyFS(filepath.Join(home, name), os.DirFS(filepath.Join(root, "examples/podcast", from))))
	}
	bin := filepath.Join(s.dir, "home/bin")
	require.NoError(t, os.Mkdir(bin, 0o700))
	// make is not executed but checked: the target must be in the Makefile.
	require.NoError(t, os.WriteFile(filepath.Join(bin, "make"), []byte("#!/bin/sh\nexec /usr/bin/env PATH=/usr/bin:/bin make -n \"$@\" >/dev/null\n"), 0o700)) //nolint:gosec // a script
	caches, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()                                                                                 // because HOME changes them
	require.NoError(t, err)
	goCache, goModCache, _ := strings.Cut(strings.TrimSpace(string(caches)), "\n")
	gate, api := freeAddress(t), freeAddress(t)
	s.api = "http://" + api
	// example.org is served from the example podcast, and the coordinator's default
	// addresses are replaced by free ones.
	web := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(root, "examples/podcast"))))
	t.Cleanup(web.Close)
	s.replace = strings.NewReplacer("https://example.org", web.URL, "127.0.0.1:7411", gate, "127.0.0.1:7412", api)
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != "mode" && name != "host" && !strings.HasPrefix(name, "LEASEHOLD_") && !strings.HasPrefix(name, "XDG_") {
			s.env = append(s.env, v)
		}
	}
	s.env = append(s.env, "HOME="+home, "PATH="+bin+":"+binaryDir+":"+os.Getenv("PATH"), "LEASEHOLD_LISTEN="+gate, "LEASEHOLD_HTTP="+api, "TERM=dumb", "GOCACHE="+goCache, "GOMODCACHE="+goModCache)
	t.Cleanup(func() {
		for _, p := range s.groups {
			_ = platform.KillGroup(p)
		}
	})
	return s
}

func (s *sandbox) link(t *testing.T, to, name string) {
	t.Helper()
	to, err := filepath.Abs(to)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(to, filepath.Join(s.dir, name)))
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := binary.FreeAddress()
	require.NoError(t, err)
	return address
}

var (
	exitCode   = regexp.MustCompile(`(?m)^(.*?)\s*# (?:[^#\n]*[;:,] )?exit code (\d+).*$`)
	background = regexp.MustCompile(`(?m)leasehold coordinator .*&\s*(?:#.*)?$`)
	ourCommand = regexp.MustCompile(`(?:^|/)leasehold (.+)`)
	quoted     = regexp.MustCompile(`'[^']*'`)
	shellEnd   = regexp.MustCompile(`[|;&<>].*`) // of the words of one command
)

// run executes a block and returns what it prints.
func (s *sandbox) run(t *testing.T, b block) string {
	t.Helper()
	script := s.replace.Replace(b.text)
	script = exitCode.ReplaceAllString(script, `rc=0; $1 || rc=$$?; [ $$rc = $2 ] || { echo "exit code $$rc, want $2"; exit 99; }`)
	ctx, cancel := context.WithTimeout(t.Context(), blockTimeout)
	defer cancel()
	out, err := os.CreateTemp(t.TempDir(), "output") // a file, because processes in the background keep it open
	require.NoError(t, err)
	defer out.Close()
	c := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
	c.Dir, c.Env, c.Stdout, c.Stderr = s.dir, s.env, out, out
	platform.OwnGroup(c)
	require.NoError(t, c.Start())
	s.groups = append(s.groups, c.Process)
	err = c.Wait()
	printed, readErr := os.ReadFile(out.Name())
	require.NoError(t, readErr)
	require.NoError(t, err, "%s\n%s\nprints\n%s", b, script, printed)
	if background.MatchString(b.text) {
		s.awaitReady(t)
	}
	return string(printed)
}

// awaitReady waits until the coordinator that a block started answers.
func (s *sandbox) awaitReady(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		r, err := http.Get(s.api + "/readyz")
		if err == nil {
			r.Body.Close()
		}
		return err == nil && r.StatusCode == http.StatusOK
	}, time.Minute, 20*time.Millisecond, "the coordinator does not answer at %s", s.api)
}

// parse checks that bash can read a block, and that its leasehold commands and flags
// exist.
func (s *sandbox) parse(t *testing.T, b block) {
	t.Helper()
	check := exec.Command("bash", "-n", "-c", b.text)
	out, err := check.CombinedOutput()
	require.NoError(t, err, "%s\n%s", b, out)
	for line := range strings.Lines(strings.ReplaceAll(b.text, "\\\n", " ")) {
		line, _, _ = strings.Cut(line, " #")
		if m := ourCommand.FindStringSubmatch(line); m != nil {
			requireParsed(t, b.String(), m[1])
		}
	}
}

// requireParsed fails unless leasehold has the command and the flags of args, which it
// parses before it prints the help.
func requireParsed(t *testing.T, where, args string) {
	t.Helper()
	args = shellEnd.ReplaceAllString(quoted.ReplaceAllString(args, "quoted"), "")
	args = strings.TrimSpace(strings.NewReplacer("…", "", "(", "", ")", "").Replace(args))
	c := exec.Command("bash", "-c", "leasehold "+args+" --help")
	c.Env = append(os.Environ(), "PATH="+binaryDir+":"+os.Getenv("PATH"))
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	require.NoError(t, c.Run(), "%s: leasehold %s\n%s", where, args, out.String())
}

// requireShown fails unless the lines of a block were printed in their order, possibly
// with others between them. … stands for any text.
func requireShown(t *testing.T, b block, printed string) {
	t.Helper()
	rest := printed
	for line := range strings.Lines(b.text) {
		line = strings.TrimSpace(line)
		pattern := strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*")
		at := regexp.MustCompile(pattern).FindStringIndex(rest)
		require.NotNil(t, at, "%s: %q was not printed there:\n%s", b, line, printed)
		rest = rest[at[1]:]
	}
}
