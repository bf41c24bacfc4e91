package cmd

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// guarded is a coordinator that authenticates, and its secrets, by what they are.
type guarded struct {
	*coordinatorProcess
	dir, leasehold string
	token, line    string // also in secrets
	secrets        map[string]string
	seen           strings.Builder // all output and answers
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	g := &guarded{dir: t.TempDir(), leasehold: filepath.Join(realBinary(t), "leasehold")}
	g.coordinatorProcess = startCoordinatorProcess(t, g.dir, g.leasehold, append([]string{"coordinator", "--auth", "--trace", "trace.jsonl", "--log-level", "debug"}, anyPorts...)...)
	g.token, g.line = g.made("token", "create", "ci", "--role", "producer"), g.made("invite", "worker")
	g.made("invite", "--service", "worker", "--out", "lines")
	admin, err := os.ReadFile(filepath.Join(g.dir, "c", "identity", "admin.token"))
	require.NoError(t, err)
	service, err := os.ReadFile(filepath.Join(g.dir, "lines", "worker.join"))
	require.NoError(t, err)
	joinSecret := func(line string) string {
		before, _, _ := strings.Cut(line, "@")
		return before[strings.LastIndex(before, "-")+1:]
	}
	g.secrets = map[string]string{"token": g.token, "admin token": strings.TrimSpace(string(admin)), "join line": joinSecret(g.line), "join line of a service": joinSecret(string(service))}
	return g
}

// run runs a command, which may fail, and returns what it printed.
func (g *guarded) run(args ...string) (stdout, stderr string) {
	var out, errors bytes.Buffer
	c := exec.Command(g.leasehold, append(args, "--data", "c")...)
	c.Dir, c.Env, c.Stdout, c.Stderr = g.dir, []string{"HOME=" + g.dir, "PATH=" + os.Getenv("PATH")}, &out, &errors
	_ = c.Run()
	return out.String(), errors.String()
}

// made returns the only line that a command prints, once the coordinator answers.
func (g *guarded) made(args ...string) (line string) {
	g.Helper()
	require.Eventually(g, func() bool { line, _ = g.run(args...); return line != "" }, time.Minute, 50*time.Millisecond, args)
	return strings.TrimSpace(line)
}

// note adds what a command prints to what was seen.
func (g *guarded) note(args ...string) {
	stdout, stderr := g.run(args...)
	fmt.Fprintf(&g.seen, "leasehold %s: %s%s\n", args[0], stdout, stderr)
}

// get adds the answer to a request with a token to what was seen.
func (g *guarded) get(path, token string) {
	r, err := http.NewRequestWithContext(g.Context(), "GET", "http://"+g.at.HTTP+path, nil)
	require.NoError(g, err)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(g, err)
	defer answer.Body.Close()
	require.NoError(g, answer.Write(&g.seen))
}

// end ends a process, and adds its log to what was seen.
func (g *guarded) end(p *process) {
	p.end()
	fmt.Fprintf(&g.seen, "log: %s\n", p.text())
}

// requireSecret fails if a secret is in what was seen, or in a file that is not for it.
func (g *guarded) requireSecret() {
	for text := range strings.Lines(g.seen.String()) {
		for what, secret := range g.secrets {
			if strings.Contains(text, secret) { // without the secret in the message
				g.Errorf("a %s is in: %s", what, strings.ReplaceAll(text, secret, "SECRET"))
			}
		}
	}
	require.NoError(g, filepath.WalkDir(g.dir, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(g.dir, path)
		if err != nil || e.IsDir() || filepath.Dir(name) == "lines" || name == filepath.Join("c", "identity", "admin.token") {
			return err
		}
		data, err := os.ReadFile(path)
		for what, secret := range g.secrets {
			if bytes.Contains(data, []byte(secret)) {
				g.Errorf("a %s is in the file %s", what, name)
			}
		}
		return err
	}))
}

// TestFault54TokensAndJoinLinesAppearNowhere uses tokens and join lines as people do, also wrongly. No output, page,
// metric or file has them but the answer that made one and the files that are for them.
func TestFault54TokensAndJoinLinesAppearNowhere(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	worker := func(dir, line string) *process {
		return start(t, g.dir, g.leasehold, "worker", "--data", dir, "--log-level", "debug", "--join", line, "--host", g.at.Gate)
	}
	workers := []*process{worker("w1", "@lines/worker.join"), worker("w2", g.line)}
	g.end(worker("w3", g.line[:len(g.line)/2]))
	for _, w := range workers {
		g.await(func() (string, bool) { return w.text(), strings.Contains(w.text(), "session worker-") }, "a session")
	}
	for _, args := range [][]string{{"token", "list"}, {"invites", "list"}, {"peers", "list"}, {"audit"}, {"log"}, {"status"}, {"doctor"}, {"space", "query", "log", "..."}, {"space", "query", "status", "..."}} {
		g.note(append(args, "-o", "json")...)
	}
	g.note("config", "show", "--token", g.token, "--join", g.line)
	g.note("status", "--token", g.token)
	g.note("status", "--token", g.token+"x")
	g.note("task", "create", "a", `{"n": 1}`, "--token", g.token[:len(g.token)-1])
	g.note("token", "revoke", g.token)
	g.note("invites", "revoke", g.line)
	for _, path := range []string{"/", "/metrics", "/api/v1/status?token=" + g.token, "/api/v1/tokens/" + g.token, "/sign-in?token=" + g.token} {
		for _, as := range []string{"", g.token, g.secrets["admin token"], g.token + "x", g.line} {
			g.get(path, as)
		}
	}
	for _, p := range append(workers, g.process) {
		p.signal(syscall.SIGTERM)
		g.end(p)
	}
	g.requireSecret()
}
