package cmd

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
)

// The password of the database is in no output, answer, log, trace or file of two coordinators, nor in their command lines
// or in what the database knows of them, also when one crashes.
func TestThePasswordOfTheDatabaseAppearsNowhere(t *testing.T) {
	t.Parallel()
	server := pgserver.New(t)
	url := server.Database(t)
	dir, leasehold := t.TempDir(), filepath.Join(realBinary(t), "leasehold")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "database.url"), []byte(url+"\n"), 0o600))
	member := []string{"coordinator", "--journal", "postgres", "--database", "@database.url", "--log-level", "debug", "--trace", "trace.jsonl"}
	h := startCoordinatorProcess(t, dir, leasehold, append(member, anyPorts...)...)
	h.awaitAnswer("/readyz", "ok")
	second := start(t, dir, leasehold, append(member, "--data", "second", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")...)
	second.awaitText("standby")
	var seen bytes.Buffer
	run := func(args ...string) {
		c := exec.Command(leasehold, args...)
		c.Dir, c.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "LEASEHOLD_DATABASE=" + url, "LEASEHOLD_JOURNAL=postgres"}
		out, _ := c.CombinedOutput() // some commands fail
		fmt.Fprintf(&seen, "leasehold %s: %s\n", args[0], out)
	}
	for _, output := range []string{"table", "json", "csv"} {
		run("config", "show", "-o", output)
		run("status", "--data", "c", "-o", output)
		run("members", "--data", "c", "-o", output)
	}
	for _, args := range [][]string{{"doctor"}, {"doctor", "--deep"}, {"backup", "copy"}, {"log"}, {"repair"}, {"space", "query", "log", "..."}, {"session", "list"}, {"config", "explain"}, {"health"}} {
		run(append(args, "--data", "c")...)
	}
	require.Contains(t, seen.String(), "(secret)")
	for _, path := range []string{"/", "/metrics", "/healthz", "/readyz", "/log", "/workers", "/api/v1/status", "/api/v1/members", "/api/v1/attention", "/api/v1/sessions", "/api/v1/spaces/log/tuples"} {
		fmt.Fprintf(&seen, "GET %s: %s\n", path, h.ask(path))
	}
	for _, p := range []*process{h.process, second} {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.cmd.Process.Pid))
		require.NoError(t, err)
		seen.Write(line)
	}
	server.Exec(t, `DO $$ BEGIN IF EXISTS (SELECT FROM pg_stat_activity WHERE application_name || query LIKE '%s3cret-of%' AND pid <> pg_backend_pid()) THEN RAISE EXCEPTION 'found'; END IF; END $$`)

	server.Terminate(t, "leasehold%")
	h.awaitAnswer("/readyz", "o") // one of ok and not ready: it has logged the errors
	server.Stop(t)
	h.awaitText("cannot be used")
	h.signal(syscall.SIGQUIT) // a crash prints all stacks
	h.end()
	second.signal(syscall.SIGTERM)
	second.end()
	fmt.Fprintf(&seen, "%s\n%s\n", h.text(), second.text())
	require.Contains(t, h.text(), "goroutine ")
	for line := range strings.Lines(seen.String()) {
		require.NotContains(t, line, pgserver.Password)
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "database.url")))
	require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		require.NotContains(t, string(data), pgserver.Password, path)
		return err
	}))
}

// An error about the URL of a database does not contain the URL, because a part of it is the password.
func TestAWrongURLOfTheDatabaseIsNotRepeated(t *testing.T) {
	t.Parallel()
	dir, leasehold := t.TempDir(), filepath.Join(realBinary(t), "leasehold")
	const secret = "s3cret-of-the-url"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "passfile"), []byte("*:*:*:*:"+secret+"\n"), 0o600))
	for n, c := range []struct {
		text string
		code int // 0: the coordinator waits for the database
	}{
		{"postgres://u:" + secret + "%zz@127.0.0.1:1/d", 1},
		{"postgres://u:" + secret + "@127.0.0.1:port/d", 1},
		{"postgres://u:" + secret + "@127.0.0.1:1/d?sslmode=" + secret, 1},
		{"postgres://127.0.0.1:1/d?user=u&password=" + secret, 0},
		{"postgres://u:" + secret + "%2F%40@127.0.0.1:1,127.0.0.1:2/d", 0},
		{"host=127.0.0.1 port=1 user=u password=" + secret + " dbname=d", 0},
		{"host=127.0.0.1 port=1 user=u password='" + secret + " \\' x' dbname=d", 0},
		{"host=127.0.0.1 port=1 user=u password='" + secret, 1},
		{"host=127.0.0.1 port=1 user=u passfile=passfile dbname=d", 0},
		{"mysql://u:" + secret + "@127.0.0.1:1/d", 1},
		{secret, 1},
	} {
		for _, given := range []string{"file", "environment"} {
			file := fmt.Sprintf("%d.%s", n, given)
			require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(c.text), 0o600))
			args := []string{"coordinator", "--journal", "postgres", "--data", fmt.Sprintf("data-%d-%s", n, given), "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--log-level", "debug"}
			p := &process{}
			if given == "file" {
				p = start(t, dir, leasehold, append(args, "--database", "@"+file)...)
			} else {
				p = start(t, dir, "/usr/bin/env", append([]string{"LEASEHOLD_DATABASE=" + c.text, leasehold}, args...)...)
			}
			if c.code == 0 {
				p.awaitText("waiting for it")
				p.signal(syscall.SIGTERM)
			}
			require.Equal(t, c.code, p.end().ExitCode(), "%s: %s", c.text, p.text())
			require.NotContains(t, p.text(), secret, c.text)
		}
		for _, args := range [][]string{{"--from", "@" + fmt.Sprint(n, ".file"), "--to", "folder"}, {"--from", c.text, "--to", "folder"}, {"--from", "folder", "--to", c.text}, {"--from", c.text, "--to", c.text},
			{"--from", c.text, "--to", "postgres://127.0.0.1:1/d"}, {"--from", "@" + fmt.Sprint(n, ".file"), "--to", "postgres://127.0.0.1:1/d"}} {
			if c.text == secret && args[1] == secret {
				continue // it is the name of a folder
			}
			p := start(t, dir, leasehold, append([]string{"move"}, args...)...)
			require.NotZero(t, p.end().ExitCode(), "%v", args)
			require.NotContains(t, p.text(), secret, "%v", args)
		}
	}
}
