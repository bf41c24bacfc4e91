package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"leasehold/models"
	apiclient "leasehold/shared/api/client"
	"leasehold/shared/api/types"
)

// badInput returns the command that runs the program badinput of a language: two workers whose handlers behave badly.
func badInput(t *testing.T, ctx context.Context, language string, args ...string) *exec.Cmd {
	t.Helper()
	if language == "python" {
		return inPython(t, ctx, "badinput", args...)
	}
	words := []string{"node", "testdata/badinput.mjs"}
	if language == "java" {
		words = compiled(t, ctx, "BadInput")
	}
	c := exec.CommandContext(ctx, words[0], append(words[1:], args...)...)
	c.Env = withoutSettings()
	return c
}

// inPython returns the command that runs a program of testdata in Python.
func inPython(t *testing.T, ctx context.Context, program string, args ...string) *exec.Cmd {
	t.Helper()
	source, err := filepath.Abs("python")
	require.NoError(t, err)
	c := exec.CommandContext(ctx, "python3", append([]string{"-B", "testdata/" + program + ".py"}, args...)...)
	c.Env = append(withoutSettings(), "PYTHONPATH="+source)
	return c
}

// compiled compiles a Java class of testdata, and returns the command that runs it.
func compiled(t *testing.T, ctx context.Context, class string) []string {
	t.Helper()
	built := t.TempDir()
	printed, err := exec.CommandContext(ctx, "javac", "-cp", classes, "-d", built, "testdata/"+class+".java").CombinedOutput()
	require.NoError(t, err, "%s", printed)
	return []string{"java", "-XX:TieredStopAtLevel=1", "-cp", classes + string(os.PathListSeparator) + built, class}
}

// Java's connections throw a NullPointerException if another thread breaks them off at the wrong moment.
func TestABusyJavaWorkerStopsInOrderAtAnyMoment(t *testing.T) {
	t.Parallel()
	c := newCoordinator(t)
	c.start()
	at := c.url()
	inEachLanguage(t, []string{"python", "javascript", "python-async", "go"}, func(t *testing.T, _ language) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*limit)
		defer cancel()
		words := append(compiled(t, ctx, "Stopping"), at, "spin", "150")
		printed, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput()
		require.NoError(t, err, "%s", printed)
	})
}

// Python interrupts the main thread to run the handler of a signal, also while it runs the handler of another signal.
func TestAPythonWorkerMayBeSignalledWhileItStops(t *testing.T) {
	t.Parallel()
	c := newCoordinator(t)
	c.start()
	at := c.url()
	inEachLanguage(t, []string{"go", "java", "javascript", "python-async"}, func(t *testing.T, _ language) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		printed, err := inPython(t, ctx, "signals", at, "signalled").CombinedOutput()
		require.NoError(t, err, "%s", printed)
	})
}

// A handler that returns no JSON fails, one that never returns has its task time out and keeps no other from a slot, one
// that starts a process works, and the tasks of a process that a handler ends are offered to another.
func TestAWorkerOutlivesHandlersThatBehaveBadly(t *testing.T) {
	t.Parallel()
	c := newCoordinator(t)
	c.start()
	at := c.url()
	inEachLanguage(t, []string{"go", "python-async"}, func(t *testing.T, l language) { // their handlers are another program's
		name := l.name
		ctx, cancel := context.WithTimeout(t.Context(), 2*limit)
		defer cancel()
		api, err := apiclient.New(at)
		require.NoError(t, err)
		defer api.Close()
		action := name + "-bad"
		create := func(action, do string) string {
			attempts := int64(1)
			if do == "exit" { // the loss of its worker counts
				attempts = 2
			}
			made, err := api.CreateTask(ctx, types.NewTask{Action: action, Data: json.RawMessage(fmt.Sprintf(`{"do":%q}`, do)), TaskOptions: types.TaskOptions{MaxAttempts: attempts}})
			require.NoError(t, err)
			return made.ID
		}
		var printed bytes.Buffer
		start := func() (ended chan struct{}) {
			c := badInput(t, ctx, name, at, action)
			c.Stdout, c.Stderr = &printed, &printed
			require.NoError(t, c.Start())
			ended = make(chan struct{})
			go func() {
				defer close(ended)
				_ = c.Wait() // a handler ends it, or the test does
			}()
			return ended
		}
		await := func(id string) (now types.Task) {
			require.Eventually(t, func() bool {
				now, err = api.Task(ctx, id)
				return err == nil && now.HasEnded()
			}, limit, 20*time.Millisecond, "%s", id)
			return now
		}
		first := start()
		for _, do := range []string{"function", "nan", "cycle", "bytes"} {
			now := await(create(action+"-one", do))
			require.Equal(t, "dead", now.State, do)
			require.Contains(t, now.Note, "its result was refused", do)
		}
		second := models.Seconds(1)
		made, err := api.CreateTask(ctx, types.NewTask{Action: action + "-one", Timeout: &second, Data: json.RawMessage(`{"do":"hang"}`), TaskOptions: types.TaskOptions{MaxAttempts: 1}})
		require.NoError(t, err)
		require.Equal(t, "dead", await(made.ID).State)
		for _, end := range []string{"-one", "-two"} { // both workers go on
			now := await(create(action+end, "fork"))
			require.JSONEq(t, "0", string(now.Result))
			require.Len(t, now.History, 1, "what it logged is kept")
			require.Contains(t, now.History[0].Output, "fork in ")
			require.Empty(t, now.History[0].Error)
		}
		exits := create(action+"-two", "exit")
		select {
		case <-first:
		case <-ctx.Done():
			t.Fatal("the process does not end")
		}
		var now types.Task
		if !assert.Eventually(t, func() bool {
			now, err = api.Task(ctx, exits)
			return err == nil && now.State == "waiting" && now.Lost == 1
		}, limit, 20*time.Millisecond, "it is offered again") {
			t.Fatalf("%v %+v\n%s", err, now, &printed)
		}
		require.NoError(t, api.CancelTask(ctx, exits, "it ends each process that does it"))
		last := create(action+"-two", "last")
		again := start()
		require.Equal(t, "resolved", await(last).State)
		cancel()
		<-again
	})
}

// A client needs no more of a proxy than that it passes requests on: one that reads each request and each answer whole,
// has the API under a path, and has a certificate of a CA that the system does not know.
func TestEachClientWorksBehindAProxyUnderAPathWithAPrivateCA(t *testing.T) {
	t.Parallel()
	c := newCoordinator(t)
	c.start()
	at := c.url()
	target, err := url.Parse(at)
	require.NoError(t, err)
	proxy := httptest.NewTLSServer(http.StripPrefix("/queue", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { passWhole(w, r, target) })))
	t.Cleanup(proxy.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: proxy.Certificate().Raw}), 0o600))
	inEachLanguage(t, []string{"go", "python-async"}, func(t *testing.T, l language) {
		name := l.name
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		api, err := apiclient.New(at)
		require.NoError(t, err)
		defer api.Close()
		action := name + "-proxy"
		var printed bytes.Buffer
		worker := badInput(t, ctx, name, proxy.URL+"/queue", action)
		worker.Env = append(worker.Env, "LEASEHOLD_CA="+ca)
		worker.Stdout, worker.Stderr = &printed, &printed
		require.NoError(t, worker.Start())
		made, err := api.CreateTask(ctx, types.NewTask{Action: action + "-one", Data: json.RawMessage(`{"do":"far"}`)})
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			now, err := api.Task(ctx, made.ID)
			return err == nil && string(now.Result) == `"far"`
		}, limit, 20*time.Millisecond)
		cancel()
		_ = worker.Wait() // the test ended it
		if t.Failed() {
			t.Logf("%s", &printed)
		}
	})
}

// passWhole sends a request to the target, and passes the answer on when it has all of it.
func passWhole(w http.ResponseWriter, r *http.Request, target *url.URL) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, target.JoinPath(r.URL.EscapedPath()).String()+query(r), bytes.NewReader(body))
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	out.Header = r.Header.Clone()
	answer, err := http.DefaultClient.Do(out)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(answer.StatusCode)
	_, _ = w.Write(text) // the client may be gone
}

func query(r *http.Request) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	return "?" + strings.TrimPrefix(r.URL.RawQuery, "?")
}
