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

// TestFault54TokensAndJoinLinesAppearNowhere uses tokens and join lines as people do, also wrongly. No output, page,
// metric or file has them but the answer that made one and the files that are for them.
func TestFault54TokensAndJoinLinesAppearNowhere(t *testing.T) {
	t.Parallel()
	dir, leasehold := t.TempDir(), filepath.Join(realBinary(t), "leasehold")
	h := startCoordinatorProcess(t, dir, leasehold, append([]string{"coordinator", "--auth", "--trace", "trace.jsonl", "--log-level", "debug"}, anyPorts...)...)
	run := func(args ...string) (stdout, all string) {
		var out, errors bytes.Buffer
		c := exec.Command(leasehold, append(args, "--data", "c")...)
		c.Dir, c.Env, c.Stdout, c.Stderr = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}, &out, &errors
		_ = c.Run() // some commands fail
		return out.String(), fmt.Sprintf("leasehold %s: %s%s\n", args[0], out.String(), errors.String())
	}
	made := func(args ...string) string {
		var text string
		require.Eventually(t, func() bool { text, _ = run(args...); return text != "" }, time.Minute, 50*time.Millisecond, args)
		return strings.TrimSpace(text)
	}
	token, line := made("token", "create", "ci", "--role", "producer"), made("invite", "worker")
	made("invite", "--service", "worker", "--out", "lines")
	admin, err := os.ReadFile(filepath.Join(dir, "c", "identity", "admin.token"))
	require.NoError(t, err)
	service, err := os.ReadFile(filepath.Join(dir, "lines", "worker.join"))
	require.NoError(t, err)
	joinSecret := func(line string) string {
		before, _, _ := strings.Cut(line, "@")
		return before[strings.LastIndex(before, "-")+1:]
	}
	secrets := map[string]string{"token": token, "admin token": strings.TrimSpace(string(admin)), "join line": joinSecret(line), "join line of a service": joinSecret(string(service))}

	var seen strings.Builder
	note := func(args ...string) {
		_, all := run(args...)
		seen.WriteString(all)
	}
	ask := func(path, token string) {
		r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+h.at.HTTP+path, nil)
		require.NoError(t, err)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer answer.Body.Close()
		require.NoError(t, answer.Write(&seen))
	}
	workers := []*process{
		start(t, dir, leasehold, "worker", "--data", "w1", "--log-level", "debug", "--join", "@lines/worker.join", "--host", h.at.Gate),
		start(t, dir, leasehold, "worker", "--data", "w2", "--log-level", "debug", "--join", line, "--host", h.at.Gate),
		start(t, dir, leasehold, "worker", "--data", "w3", "--log-level", "debug", "--join", line[:len(line)/2], "--host", h.at.Gate),
	}
	for _, w := range workers[:2] {
		h.await(func() (string, bool) { return w.text(), strings.Contains(w.text(), "session worker-") }, "a session")
	}
	for _, args := range [][]string{{"token", "list"}, {"invites", "list"}, {"peers", "list"}, {"audit"}, {"log"}, {"status"}, {"doctor"}, {"space", "query", "log", "..."}, {"space", "query", "status", "..."}} {
		note(append(args, "-o", "json")...)
	}
	note("config", "show", "--token", token, "--join", line)
	note("status", "--token", token)
	note("status", "--token", token+"x")
	note("task", "create", "a", `{"n": 1}`, "--token", token[:len(token)-1])
	note("token", "revoke", token)
	note("invites", "revoke", line)
	for _, path := range []string{"/", "/metrics", "/api/v1/status?token=" + token, "/api/v1/tokens/" + token, "/sign-in?token=" + token} {
		for _, as := range []string{"", token, secrets["admin token"], token + "x", line} {
			ask(path, as)
		}
	}
	for _, p := range []*process{workers[0], workers[1], h.process} {
		p.signal(syscall.SIGTERM)
		p.end()
		fmt.Fprintf(&seen, "log: %s\n", p.text())
	}
	workers[2].end()
	fmt.Fprintf(&seen, "log: %s\n", workers[2].text())
	for text := range strings.Lines(seen.String()) {
		for what, secret := range secrets {
			if strings.Contains(text, secret) { // without the secret in the message
				t.Errorf("a %s is in: %s", what, strings.ReplaceAll(text, secret, "SECRET"))
			}
		}
	}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		if err != nil || e.IsDir() || filepath.Dir(name) == "lines" || name == filepath.Join("c", "identity", "admin.token") {
			return err
		}
		data, err := os.ReadFile(path)
		for what, secret := range secrets {
			if bytes.Contains(data, []byte(secret)) {
				t.Errorf("a %s is in the file %s", what, name)
			}
		}
		return err
	}))
}
