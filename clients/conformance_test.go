package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
)

// languages are the clients: the programs that each needs, how it is built in its folder (out is
// an empty folder), and how its conformance program is started.
var languages = []struct {
	name       string
	needs      []string
	build, run func(out string) []string
}{
	{name: "python", needs: []string{"python3"}, run: func(string) []string { return []string{"python3", "-B", "conformance.py"} }},
	{name: "javascript", needs: []string{"node"}, run: func(string) []string { return []string{"node", "conformance.js"} }},
	{
		name: "java", needs: []string{"java", "javac"},
		build: func(out string) []string { return []string{"javac", "-d", out, "Leasehold.java", "Conformance.java"} },
		run: func(out string) []string {
			return []string{"java", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp", out, "Conformance"}
		},
	},
}

// limit bounds one step, on a busy machine.
const limit = time.Minute

func TestEachClientCallsEveryVerbAndWorks(t *testing.T) {
	t.Parallel()
	at := startCoordinator(t)
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			for _, program := range l.needs {
				if _, err := exec.LookPath(program); err != nil {
					t.Logf("left out: the client for %s, because %s is not installed", l.name, program)
					return
				}
			}
			out := t.TempDir()
			if l.build != nil {
				c := exec.CommandContext(t.Context(), l.build(out)[0], l.build(out)[1:]...)
				c.Dir = l.name
				printed, err := c.CombinedOutput()
				require.NoError(t, err, "%s", printed)
			}
			client := func(ctx context.Context, args ...string) *exec.Cmd {
				words := append(l.run(out), args...)
				c := exec.CommandContext(ctx, words[0], words[1:]...)
				c.Dir = l.name
				return c
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			printed, err := client(ctx, at, l.name+"-verbs").CombinedOutput()
			require.NoError(t, err, "%s", printed)
			require.Equal(t, "create\nkey\nerrors\nclaim\nparents\nname\nsession\n", string(printed))
			testWorker(t, at, l.name, client(t.Context(), refuseOneReport(t, at), l.name, "worker"))
		})
	}
}

// testWorker starts a worker with two slots, whose session lives for 1 s without a heartbeat, has
// it do tasks of every outcome, and stops it with SIGTERM while it has two.
func testWorker(t *testing.T, at, action string, worker *exec.Cmd) {
	t.Helper()
	api, err := client.New(at)
	require.NoError(t, err)
	defer api.Close()
	var printed bytes.Buffer
	worker.Stdout, worker.Stderr = &printed, &printed
	require.NoError(t, worker.Start())
	ended := make(chan error, 1)
	go func() { ended <- worker.Wait() }()
	defer func() { _ = worker.Process.Kill() }()

	create := func(do string) string {
		n := types.NewTask{Action: action, Data: json.RawMessage(fmt.Sprintf(`{"do":%q,"n":21}`, do)), TaskOptions: types.TaskOptions{MaxAttempts: 1}}
		made, err := api.CreateTask(t.Context(), n)
		require.NoError(t, err)
		return made.ID
	}
	await := func(id string, done func(types.Task) bool) (now types.Task) {
		require.Eventually(t, func() bool {
			now, err = api.Task(t.Context(), id)
			return err == nil && done(now)
		}, limit, 20*time.Millisecond, "%s: %+v, %v\n%s", id, &now, &err, &printed)
		return now
	}
	claimed := func(now types.Task) bool { return now.State == "claimed" }

	ids := map[string]string{}
	for _, do := range []string{"slow", "double", "fail", "exit", "giveup", "later", "unsendable"} {
		ids[do] = create(do)
	}
	for do, want := range map[string]string{"slow": `"done"`, "double": `42`, "later": `"later"`} {
		now := await(ids[do], types.Task.HasEnded)
		require.Equal(t, "resolved", now.State, do)
		require.JSONEq(t, want, string(now.Result), do)
		require.Zero(t, now.Attempts, do)
	}
	for do, want := range map[string]string{"fail": "broken", "exit": "leave", "giveup": "never", "unsendable": "its result was refused"} {
		now := await(ids[do], types.Task.HasEnded)
		require.Equal(t, "dead", now.State, do)
		require.Contains(t, now.Note, want)
	}
	cancelled := create("stuck")
	await(cancelled, claimed)
	require.NoError(t, api.CancelTask(t.Context(), cancelled, "a test"))

	// Both slots are free again, although the handler of the cancelled task ends only when it is
	// stopped.
	finishes, stuck := create("finish"), create("stuck")
	await(finishes, claimed)
	await(stuck, claimed)
	require.NoError(t, worker.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-ended:
		if exit := (*exec.ExitError)(nil); err != nil { // a JVM that a signal ends exits with 143
			require.ErrorAs(t, err, &exit, "%s", &printed)
			require.Equal(t, 128+int(syscall.SIGTERM), exit.ExitCode(), "%s", &printed)
		}
	case <-time.After(limit):
		t.Fatalf("the worker does not end\n%s", &printed)
	}
	now := await(finishes, types.Task.HasEnded)
	require.JSONEq(t, `"finished"`, string(now.Result), "%s", &printed)
	now = await(stuck, func(now types.Task) bool { return now.State == "waiting" })
	require.Zero(t, now.Attempts, "what was handed back does not count")
}

// refuseOneReport starts a proxy of the coordinator for which the first report of a result is
// unavailable, more often than one call of a client repeats it. It returns the URL of the proxy.
func refuseOneReport(t *testing.T, coordinator string) string {
	t.Helper()
	target, err := url.Parse(coordinator)
	require.NoError(t, err)
	through := httputil.NewSingleHostReverseProxy(target)
	through.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) } // a worker breaks its claim off
	var mu sync.Mutex
	refused, path := 0, ""
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if strings.HasSuffix(r.URL.Path, "/resolve") && path == "" {
			path = r.URL.Path
		}
		refuse := r.URL.Path == path && refused < 7
		if refuse {
			refused++
		}
		mu.Unlock()
		if refuse {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"code":"unavailable","title":"unavailable","detail":"a test"}`)
			return
		}
		r.Host = target.Host // the coordinator refuses unknown hosts
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// startCoordinator runs the real binary until the test ends, and returns the URL of its API.
func startCoordinator(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "leasehold")
	require.NoError(t, binary.Build(program))
	gate, err := binary.FreeAddress()
	require.NoError(t, err)
	api, err := binary.FreeAddress()
	require.NoError(t, err)
	c := exec.Command(program, "coordinator", "--data", filepath.Join(dir, "data"), "--listen", gate, "--http", api)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "LEASEHOLD_") && !strings.HasPrefix(v, "mode=") && !strings.HasPrefix(v, "host=") {
			c.Env = append(c.Env, v)
		}
	}
	var printed bytes.Buffer
	c.Stdout, c.Stderr = &printed, &printed
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		require.NoError(t, c.Wait(), "%s", &printed)
	})
	require.Eventually(t, func() bool {
		r, err := http.Get("http://" + api + "/readyz")
		if err == nil {
			r.Body.Close()
		}
		return err == nil && r.StatusCode == http.StatusOK
	}, limit, 20*time.Millisecond, "%s", &printed)
	return "http://" + api
}
