package clients

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	apiclient "leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/identity"
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
	inEachLanguage(t, func(t *testing.T, name string, client program) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		printed, err := client(ctx, at, name+"-verbs").CombinedOutput()
		require.NoError(t, err, "%s", printed)
		require.Equal(t, "create\nkey\nerrors\nclaim\nparents\nname\nselection\nsession\n", string(printed))
		api, err := apiclient.New(at)
		require.NoError(t, err)
		defer api.Close()
		testWorker(t, api, name, client(t.Context(), refuseOneReport(t, at), name, "worker"))
		if name == "python" {
			testWorker(t, api, name+"-async", client(t.Context(), refuseOneReport(t, at), name+"-async", "async"))
		}
	})
}

// A client with a token and the CA calls every verb and works over TLS. A wrong token is refused with an error of its own.
// A server whose certificate is of another CA gets no request, so it does not see the token.
func TestEachClientAuthenticates(t *testing.T) {
	t.Parallel()
	at := newCoordinator(t, "--auth")
	at.start()
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte(at.print("token", "create", "all", "--role", "producer,worker")), 0o600))
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, []byte(at.print("identity", "show", "--ca")), 0o600))
	var requests atomic.Int64
	other := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	other.Config.ErrorLog = log.New(io.Discard, "", 0)
	other.StartTLS()
	t.Cleanup(func() {
		other.Close()
		require.Zero(t, requests.Load())
	})
	inEachLanguage(t, func(t *testing.T, name string, client program) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		with := func(args ...string) *exec.Cmd {
			c := client(ctx, append([]string{at.url(), name}, args...)...)
			c.Env = append(os.Environ(), "LEASEHOLD_TOKEN=@"+token, "LEASEHOLD_CA="+ca, "ADMIN_TOKEN=@"+filepath.Join(at.data, "identity", "admin.token"))
			return c
		}
		printed, err := with().CombinedOutput()
		require.NoError(t, err, "%s", printed)
		require.Equal(t, "create\nkey\nerrors\nclaim\nparents\nname\nselection\nsession\n", string(printed))
		testWorker(t, at.client(), name, with("worker"))
		printed, err = with("refused", other.URL).CombinedOutput()
		require.NoError(t, err, "%s", printed)
		require.Equal(t, "refused\n", string(printed))
	})
}

// program returns the command that runs the conformance program of a client.
type program func(ctx context.Context, args ...string) *exec.Cmd

// inEachLanguage builds each client, and tests it beside the others. A client whose programs are not installed is left
// out.
func inEachLanguage(t *testing.T, test func(t *testing.T, name string, client program)) {
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
			test(t, l.name, func(ctx context.Context, args ...string) *exec.Cmd {
				words := append(l.run(out), args...)
				c := exec.CommandContext(ctx, words[0], words[1:]...)
				c.Dir = l.name
				return c
			})
		})
	}
}

// A program's own tests start a coordinator and end it.
func TestEachClientStartsACoordinatorForTests(t *testing.T) {
	t.Parallel()
	leasehold := filepath.Join(t.TempDir(), "leasehold")
	require.NoError(t, binary.Build(leasehold))
	inEachLanguage(t, func(t *testing.T, name string, client program) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		folders := t.TempDir()
		c := client(ctx, "", name, "coordinator")
		c.Env = append(withoutSettings(), "PATH="+filepath.Dir(leasehold)+":"+os.Getenv("PATH"), "TMPDIR="+folders, "JAVA_TOOL_OPTIONS=-Djava.io.tmpdir="+folders)
		printed, err := c.Output()
		require.NoError(t, err, "%s", printed)
		require.Equal(t, "waiting\n", string(printed))
		left, err := filepath.Glob(filepath.Join(folders, "*leasehold*"))
		require.NoError(t, err)
		require.Empty(t, left, "its folder is removed")
	})
}

// outage is longer than a client repeats a request to a coordinator that has never answered.
const outage = 3 * time.Second

// A client goes on over a restart of the coordinator, and what it repeats happens once. If it gives up, its error tells
// whether the operation happened.
func TestEachClientGoesOnOverARestartOfTheCoordinator(t *testing.T) {
	t.Parallel()
	inEachLanguage(t, func(t *testing.T, name string, client program) {
		at := newCoordinator(t)
		at.start()
		ctx, cancel := context.WithTimeout(t.Context(), 2*limit)
		defer cancel()
		c := client(ctx, at.url(), name, "restart")
		var failed bytes.Buffer
		c.Stderr = &failed
		in, err := c.StdinPipe()
		require.NoError(t, err)
		out, err := c.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, c.Start())
		lines := bufio.NewScanner(out)
		step := func(want string) {
			t.Helper()
			if !lines.Scan() || lines.Text() != want {
				_ = c.Wait()
				t.Fatalf("want %s, got %s\n%s", want, lines.Text(), &failed)
			}
		}
		next := func() {
			_, err := io.WriteString(in, "\n")
			require.NoError(t, err)
		}
		step("ready")
		at.kill()
		next()
		<-time.After(outage)
		at.start()
		step("restarted")
		next()
		step("told")
		require.NoError(t, c.Wait(), "%s", &failed)
		api, err := apiclient.New(at.url())
		require.NoError(t, err)
		defer api.Close()
		counts, err := api.Action(t.Context(), name)
		require.NoError(t, err)
		require.EqualValues(t, 2, counts.Tasks["waiting"], "what was repeated happened once")
	})
}

// testWorker starts a worker with two slots, whose session lives for 1 s without a heartbeat, has
// it do tasks of every outcome, and stops it with SIGTERM while it has two.
func testWorker(t *testing.T, api *apiclient.Client, action string, worker *exec.Cmd) {
	t.Helper()
	var printed bytes.Buffer
	worker.Stdout, worker.Stderr = &printed, &printed
	require.NoError(t, worker.Start())
	ended := make(chan error, 1)
	go func() { ended <- worker.Wait() }()
	defer func() { _ = worker.Process.Kill() }()

	create := func(do string) string {
		n := types.NewTask{Action: action, Data: json.RawMessage(fmt.Sprintf(`{"do":%q,"n":21}`, do)), TaskOptions: types.TaskOptions{MaxAttempts: 1}}
		if do == "hopeless" {
			n.MaxAttempts = 5
		}
		made, err := api.CreateTask(t.Context(), n)
		require.NoError(t, err)
		return made.ID
	}
	await := func(id string, done func(types.Task) bool) (now types.Task) {
		var err error
		require.Eventually(t, func() bool {
			now, err = api.Task(t.Context(), id)
			return err == nil && done(now)
		}, limit, 20*time.Millisecond, "%s: %+v, %v\n%s", id, &now, &err, &printed)
		return now
	}
	claimed := func(now types.Task) bool { return now.State == "claimed" }

	ids := map[string]string{}
	for _, do := range []string{"slow", "double", "fail", "exit", "giveup", "later", "unsendable", "never", "shout"} {
		ids[do] = create(do)
	}
	for do, want := range map[string]string{"slow": `"done"`, "double": `42`, "later": `"later"`} {
		now := await(ids[do], types.Task.HasEnded)
		require.Equal(t, "resolved", now.State, do)
		require.JSONEq(t, want, string(now.Result), do)
		require.Zero(t, now.Attempts, do)
	}
	for do, want := range map[string]string{"fail": "broken", "exit": "leave", "giveup": "never", "unsendable": "its result was refused", "never": "its delay was refused", "shout": "its error was refused"} {
		now := await(ids[do], types.Task.HasEnded)
		require.Equal(t, "dead", now.State, do)
		require.Contains(t, now.Note, want)
	}
	hopeless := await(create("hopeless"), types.Task.HasEnded)
	require.Equal(t, "dead", hopeless.State)
	require.EqualValues(t, 1, hopeless.Attempts, "retry has none for the class of its error")
	require.Contains(t, hopeless.History[0].Output, "a note\n")
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

// refuseOneReport starts a proxy of the coordinator for which the first report of how tasks ended is unavailable, more
// often than one call of a client repeats it. It returns the URL of the proxy.
func refuseOneReport(t *testing.T, coordinator string) string {
	t.Helper()
	var mu sync.Mutex
	refused, key := 0, ""
	return proxyOf(t, coordinator, func(w http.ResponseWriter, r *http.Request, body string) bool {
		mu.Lock()
		defer mu.Unlock()
		if strings.Contains(body, `"finish"`) && key == "" {
			key = r.Header.Get("Idempotency-Key")
		}
		if key == "" || r.Header.Get("Idempotency-Key") != key || refused == 7 {
			return false
		}
		refused++
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"code":"unavailable","title":"unavailable","detail":"a test"}`)
		return true
	})
}

// proxyOf starts a proxy of the coordinator. answers may answer a request with a body itself, which it says by true. It
// returns the URL of the proxy.
func proxyOf(t *testing.T, coordinator string, answers func(w http.ResponseWriter, r *http.Request, body string) bool) string {
	t.Helper()
	target, err := url.Parse(coordinator)
	require.NoError(t, err)
	through := httputil.NewSingleHostReverseProxy(target)
	through.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) } // a worker breaks its claim off
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a worker breaks its claim off
		r.Body = io.NopCloser(bytes.NewReader(body))
		if answers(w, r, string(body)) {
			return
		}
		r.Host = target.Host // the coordinator refuses unknown hosts
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// A worker with eight slots has eight tasks, and none is left. Seven end, one after the other. A claim that waits is not
// answered before the worker has told all of them, so that an end which waited for it would wait for ever.
func TestAnEndDoesNotWaitForAClaimThatWaits(t *testing.T) {
	t.Parallel()
	at := startCoordinator(t)
	inEachLanguage(t, func(t *testing.T, name string, client program) {
		name += "-ends"
		api, err := apiclient.New(at)
		require.NoError(t, err)
		defer api.Close()
		var ids []string
		for n := range 8 {
			data := `{"do":"stuck"}`
			if n > 0 {
				data = fmt.Sprintf(`{"do":"wait","n":%d}`, n*100)
			}
			made, err := api.CreateTask(t.Context(), types.NewTask{Action: name, Data: json.RawMessage(data)})
			require.NoError(t, err)
			ids = append(ids, made.ID)
		}
		var claimed atomic.Int64
		told := make(chan struct{})
		proxy := proxyOf(t, at, func(_ http.ResponseWriter, r *http.Request, body string) bool {
			if strings.HasSuffix(r.URL.Path, "/claims") && !strings.Contains(body, `"finish"`) && claimed.Add(1) > 1 {
				select {
				case <-told:
				case <-r.Context().Done():
				}
			}
			return false
		})
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		var printed bytes.Buffer
		worker := client(ctx, proxy, name, "worker", "8")
		worker.Stdout, worker.Stderr = &printed, &printed
		require.NoError(t, worker.Start())
		for _, id := range ids[1:] {
			require.Eventually(t, func() bool {
				now, err := api.Task(t.Context(), id)
				return err == nil && now.State == "resolved"
			}, limit, 20*time.Millisecond, "%s", &printed)
		}
		close(told)
		require.NoError(t, api.CancelTask(t.Context(), ids[0], "a test"))
		require.NoError(t, worker.Process.Signal(syscall.SIGTERM))
		_ = worker.Wait() // a JVM that a signal ends exits with 143
	})
}

// startCoordinator runs the real binary until the test ends, and returns the URL of its API.
func startCoordinator(t *testing.T) string {
	t.Helper()
	c := newCoordinator(t)
	c.start()
	return c.url()
}

// coordinator is the real binary, which can be killed and started again.
type coordinator struct {
	*testing.T
	program, data, gate, api string
	flags                    []string
	running                  *exec.Cmd
	printed                  bytes.Buffer
}

// newCoordinator returns one that runs with more flags; --auth among them has it authenticate.
func newCoordinator(t *testing.T, flags ...string) *coordinator {
	t.Helper()
	dir := t.TempDir()
	c := &coordinator{T: t, program: filepath.Join(dir, "leasehold"), data: filepath.Join(dir, "data"), flags: flags}
	require.NoError(t, binary.Build(c.program))
	var err error
	c.gate, err = binary.FreeAddress()
	require.NoError(t, err)
	c.api, err = binary.FreeAddress()
	require.NoError(t, err)
	t.Cleanup(func() {
		if c.running != nil {
			_ = c.running.Process.Signal(syscall.SIGTERM)
			require.NoError(t, c.running.Wait(), "%s", &c.printed)
		}
	})
	return c
}

func (c *coordinator) url() string {
	if slices.Contains(c.flags, "--auth") {
		return "https://" + c.api
	}
	return "http://" + c.api
}

// print returns what a command prints that asks the coordinator.
func (c *coordinator) print(args ...string) string {
	c.Helper()
	var failed bytes.Buffer
	command := exec.Command(c.program, append(args, "--data", c.data)...)
	command.Env, command.Stderr = withoutSettings(), &failed
	printed, err := command.Output()
	require.NoError(c, err, "%s", &failed)
	return string(printed)
}

// client returns a client of the API of a coordinator that authenticates, with the token of its user.
func (c *coordinator) client() *apiclient.Client {
	c.Helper()
	ca, err := identity.ParseFingerprint(strings.TrimSpace(c.print("identity", "show")))
	require.NoError(c, err)
	token, err := os.ReadFile(filepath.Join(c.data, "identity", "admin.token"))
	require.NoError(c, err)
	api, err := apiclient.NewWith(c.url(), apiclient.Options{Token: strings.TrimSpace(string(token)),
		TLS: identity.ClientConfig(ca, func() *tls.Certificate { return nil }, time.Now)})
	require.NoError(c, err)
	c.Cleanup(func() { _ = api.Close() })
	return api
}

// withoutSettings returns the environment without settings of leasehold.
func withoutSettings() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "LEASEHOLD_") || strings.HasPrefix(v, "mode=") || strings.HasPrefix(v, "host=")
	})
}

// start starts it, and returns when it is ready.
func (c *coordinator) start() {
	c.Helper()
	c.running = exec.Command(c.program, append([]string{"coordinator", "--data", c.data, "--listen", c.gate, "--http", c.api}, c.flags...)...)
	c.running.Env = withoutSettings()
	c.running.Stdout, c.running.Stderr = &c.printed, &c.printed
	require.NoError(c, c.running.Start())
	anyServer := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	require.Eventually(c, func() bool {
		r, err := anyServer.Get(c.url() + "/readyz")
		if err == nil {
			r.Body.Close()
		}
		return err == nil && r.StatusCode == http.StatusOK
	}, limit, 20*time.Millisecond, "%s", &c.printed)
}

// kill ends it at once.
func (c *coordinator) kill() {
	c.Helper()
	require.NoError(c, c.running.Process.Kill())
	_ = c.running.Wait() // it was killed
	c.running = nil
}
