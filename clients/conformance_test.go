package clients

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/faketime"
	apiclient "leasehold/shared/api/client"
	"leasehold/shared/api/types"
)

// limit bounds one step, on a busy machine.
const limit = time.Minute

var (
	stride   = flag.Int("clients.stride", 61, "a connection is cut at each byte of so many; 1: at each")
	seed     = flag.Uint64("clients.seed", uint64(time.Now().UnixNano()), "of the first byte at which a connection is cut")
	caseFlag = flag.String("clients.case", "", "only cases whose names have this text")
)

// The cases of testdata/cases hold for each client.
func TestEachClientConforms(t *testing.T) {
	t.Parallel()
	cases := readCases(t)
	auth := newAuthenticating(t)
	inEachLanguage(t, nil, func(t *testing.T, l language) {
		b := newBench(t, l, auth)
		for n, c := range cases {
			if leavesOut(l, c.Not, nil) || !strings.Contains(c.Name, *caseFlag) || l.worksOnly && !c.works() {
				continue
			}
			t.Run(c.Name, func(t *testing.T) { b.test(t, c, fmt.Sprintf("%s-%d", l.name, n)) })
		}
		b.network.requests.requireUnderstood(t)
	})
}

// leavesOut reports whether a case or a step is not for a language.
func leavesOut(l language, not map[string]string, only []string) bool {
	return not[l.client] != "" || len(only) > 0 && !slices.Contains(only, l.client)
}

// authenticating is a coordinator with tokens, and another server, which never gets a request.
type authenticating struct {
	url, token, admin, ca, other string
}

func newAuthenticating(t *testing.T) authenticating {
	t.Helper()
	at := newCoordinator(t, "--auth")
	at.start()
	dir := t.TempDir()
	a := authenticating{url: at.url(), token: filepath.Join(dir, "token"), admin: filepath.Join(at.data, "identity", "admin.token"), ca: filepath.Join(dir, "ca.pem")}
	require.NoError(t, os.WriteFile(a.token, []byte(at.print("token", "create", "all", "--role", "producer,worker")), 0o600))
	require.NoError(t, os.WriteFile(a.ca, []byte(at.print("identity", "show", "--ca")), 0o600))
	requests := 0
	other := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
	other.Config.ErrorLog = discarded
	other.StartTLS()
	a.other = other.URL
	t.Cleanup(func() {
		other.Close()
		require.Zero(t, requests, "its certificate is of another CA")
	})
	return a
}

// bench runs the cases of one client, one after the other, with a coordinator, the network before it, and a driver, which
// is started again if a case has ended it.
type bench struct {
	*testing.T
	language language
	at       *coordinator
	network  *network
	pair     *pair
	api      *apiclient.Client
	auth     authenticating

	driver *driver
	vars   variables
	clock  string // a file with the clock of the driver
	action string

	signalled bool // the driver, in this case
}

func newBench(t *testing.T, l language, auth authenticating) *bench {
	t.Helper()
	b := &bench{T: t, language: l, at: newCoordinator(t), auth: auth}
	b.at.start()
	b.network, b.pair = newNetwork(t, b.at), newPair(t, b.at)
	api, err := apiclient.New(b.at.url())
	require.NoError(t, err)
	b.api = api
	t.Cleanup(func() {
		if b.driver != nil {
			b.driver.end()
		}
		_ = api.Close()
	})
	return b
}

// test runs one case.
func (b *bench) test(t *testing.T, c conformanceCase, action string) {
	if c.Clock {
		if !faketime.Installed() {
			t.Log("left out: the clock of a client, because libfaketime is not installed")
			return
		}
	}
	outer := b.T
	b.T, b.action, b.clock, b.signalled = t, action, "", false
	defer func() {
		b.T = outer
		b.network.change(nil)
		b.pair.reset()
		if b.at.running == nil { // a failed case has killed it
			b.at.start()
		}
		if (t.Failed() || c.Clock || c.Auth) && b.driver != nil {
			t.Logf("the driver's log:\n%s", b.driver.end())
			b.driver = nil
		}
	}()
	b.vars = variables{"action": action, "language": b.language.name, "url": b.network.api, "pair": b.pair.urls(), "auth": b.auth.url, "ca": b.auth.ca,
		"token": "@" + b.auth.token, "admin": "@" + b.auth.admin, "other": b.auth.other}
	b.begin(c)
	for n, s := range c.Steps {
		b.step(fmt.Sprint(n+1), s)
		if t.Failed() {
			return
		}
	}
}

// begin starts a driver unless one runs that fits, and connects it.
func (b *bench) begin(c conformanceCase) {
	var environment []string
	if c.Clock {
		b.clock = filepath.Join(b.TempDir(), "clock")
		require.NoError(b, os.WriteFile(b.clock, []byte("+0"), 0o600))
		environment = append(faketime.Environment(b.clock), "FAKETIME_NO_CACHE=1")
		if b.driver != nil {
			b.driver.end()
			b.driver = nil
		}
	}
	if b.driver == nil {
		b.driver = startDriver(b.T, b.language, environment...)
	}
	b.driver.t = b.T
	if c.Auth {
		return // the case connects
	}
	for _, name := range []string{"main", "admin"} {
		b.driver.send(map[string]any{"do": "connect", "client": name, "url": b.network.api, "gate": b.network.gate})
		if _, failed := b.driver.answer(); failed != nil {
			b.Fatalf("connect: %s", short(failed))
		}
	}
}

// step does one step.
func (b *bench) step(at string, s step) {
	b.Helper()
	if leavesOut(b.language, s.Not, s.Only) {
		return
	}
	if w, ok := s.In[b.language.client]; ok {
		s.Want = w
	}
	switch {
	case s.Do != "":
		b.do(at, s)
	case s.Answer:
		b.check(at, s)
	case s.Event != "":
		b.driver.await(s.Event, b.vars.fill(s.With["task"]).(string), s.within())
	case s.Pause > 0:
		<-time.After(seconds(s.Pause))
	case s.Sweep != nil:
		b.sweep(at, *s.Sweep)
	case s.Network != nil || s.Quiet:
		b.network.change(s.Network)
	case s.Coordinator == "kill":
		b.at.kill()
		b.network.closeAll()
	case s.Coordinator == "start":
		b.at.start()
	case s.Signal == "term":
		b.signalled = true
		require.NoError(b, b.driver.process.Process.Signal(syscall.SIGTERM))
	case s.Ended:
		if b.driver.finish(s.within(), b.signalled) {
			b.driver = nil
		}
	case s.Clock != "":
		require.NoError(b, os.WriteFile(b.clock, []byte(s.Clock), 0o600))
	case s.Roles != "":
		b.pair.do(s.Roles)
	default:
		b.observe(at, s)
	}
}

// observe does a step for which the test itself asks the coordinator.
func (b *bench) observe(at string, s step) {
	b.Helper()
	switch {
	case s.Create != nil:
		b.create(s)
	case s.Cancel != "":
		require.NoError(b, b.api.CancelTask(b.Context(), b.vars.fill(s.Cancel).(string), "a test"), at)
	case s.Await != "":
		b.until(at, s, func() (any, error) { return b.api.Task(b.Context(), b.vars.fill(s.Await).(string)) })
	case s.Count != nil:
		filter := b.vars.fill(s.Count).(map[string]any)
		state, _ := filter["state"].(string)
		b.until(at, s, func() (any, error) {
			if state == "resolved" {
				found, _, err := b.api.Tasks(b.Context(), apiclient.TaskFilter{State: state, Action: filter["action"].(string)}, -1)
				return len(found), err
			}
			n, err := b.api.CountTasks(b.Context(), apiclient.TaskFilter{State: state, Action: filter["action"].(string)})
			return n.Count, err
		})
	case s.Sessions != "":
		b.endSessions(s.Sessions)
	case s.Once != "":
		b.onceOnly(at, b.vars.fill(s.Once).([]any))
	case s.Refused != nil && s.Soon:
		require.Eventually(b, func() bool { return b.pair.refusals() == *s.Refused }, limit, 10*time.Millisecond, "step %s", at)
	case s.Refused != nil:
		require.Equal(b, *s.Refused, b.pair.refusals(), "step %s", at)
	case s.Strayed != nil:
		require.Equal(b, *s.Strayed, b.pair.strays(), "step %s", at)
	default:
		b.Fatalf("step %s has no action: %+v", at, s)
	}
}

// do has the driver do a verb.
func (b *bench) do(at string, s step) {
	b.Helper()
	b.driver.send(b.arguments(s))
	if s.Later {
		return
	}
	for end := time.Now().Add(limit); s.Soon && time.Now().Before(end); b.driver.send(b.arguments(s)) {
		value, _ := b.driver.answer()
		if differs(plain(b.vars.fill(s.Want)), value, "") == "" {
			return
		}
	}
	b.check(at, s)
}

// arguments returns the line of a verb.
func (b *bench) arguments(s step) map[string]any {
	line := map[string]any{"do": s.Do}
	if s.Do == "work" {
		line["action"], line["asynchronous"] = b.action, b.language.worksOnly
	}
	for name, value := range s.With {
		line[name] = b.vars.fill(value)
	}
	return line
}

// check compares the answer of the driver.
func (b *bench) check(at string, s step) {
	b.Helper()
	value, failed := b.driver.answer()
	if s.Fails != nil {
		b.checkFailure(at, *s.Fails, value, failed)
		return
	}
	if failed != nil {
		b.Fatalf("step %s, %s: %s", at, s.Do, short(failed))
	}
	if s.Save != "" {
		b.vars[s.Save] = value
	}
	if s.Want == nil {
		return
	}
	if d := differs(plain(b.vars.fill(s.Want)), value, s.Do); d != "" {
		b.Fatalf("step %s: %s", at, d)
	}
}

// checkFailure compares an error. Those of Go have a kind and a text only.
func (b *bench) checkFailure(at string, want failure, value any, got map[string]any) {
	b.Helper()
	if got == nil {
		b.Fatalf("step %s: want the error %s, got %s", at, want.Kind, short(value))
	}
	wanted := map[string]any{}
	if want.Kind != "" {
		wanted["kind"] = want.Kind
	}
	if want.Text != nil {
		wanted["text"] = b.vars.fill(want.Text)
	}
	if b.language.client != "go" {
		if want.Status != nil {
			wanted["status"], wanted["code"], wanted["title"], wanted["detail"] = *want.Status, some, some, some
		}
		if want.Happened != "" {
			wanted["happened"] = map[string]any{"no": false, "unknown": nil}[want.Happened]
		}
	}
	if d := differs(plain(wanted), got, "error"); d != "" {
		b.Fatalf("step %s: %s in %s", at, d, short(got))
	}
}

var some = map[string]any{"$some": true}

// create creates tasks of the case's action.
func (b *bench) create(s step) {
	b.Helper()
	number, many := s.Create["n"].(int)
	text, err := json.Marshal(b.vars.fill(s.Create["data"]))
	require.NoError(b, err)
	n := types.NewTask{Action: b.action, Data: text}
	if options, ok := s.Create["options"]; ok {
		text, err := json.Marshal(b.vars.fill(options))
		require.NoError(b, err)
		require.NoError(b, json.Unmarshal(text, &n))
	}
	for part := max(1, number); part > 0; part -= 500 {
		made, err := b.api.CreateTasks(b.Context(), types.NewTasks{Tasks: slices.Repeat([]types.NewTask{n}, min(part, 500))})
		require.NoError(b, err)
		if many {
			before, _ := b.vars[s.Save].([]any)
			b.vars[s.Save] = append(before, plain(made).([]any)...)
		} else {
			b.vars[s.Save] = plain(made[0])
		}
	}
}

// until asks until the answer looks as wanted.
func (b *bench) until(at string, s step, ask func() (any, error)) {
	b.Helper()
	want, last := plain(b.vars.fill(s.Want)), ""
	for end := time.Now().Add(limit); time.Now().Before(end); <-time.After(10 * time.Millisecond) {
		now, err := ask()
		if err != nil {
			last = err.Error()
			continue
		}
		last = differs(want, plain(now), "it")
		if last == "" {
			return
		}
	}
	b.Fatalf("step %s: %s\n%s", at, last, b.driver.end())
}

// endSessions ends or drains the sessions of the worker of the case.
func (b *bench) endSessions(how string) {
	b.Helper()
	all, err := b.api.Sessions(b.Context())
	require.NoError(b, err)
	found := 0
	for _, s := range all {
		if s.Name != b.action {
			continue
		}
		found++
		if how == "drain" {
			require.NoError(b, b.api.Drain(b.Context(), s.ID))
		} else {
			require.NoError(b, b.api.EndSession(b.Context(), s.ID))
		}
	}
	require.Positive(b, found, "the worker has no session")
}

// sweep does the steps with a connection that is cut after ever more bytes, until the answer has fewer.
func (b *bench) sweep(at string, s sweep) {
	b.Helper()
	first := rand.New(rand.NewPCG(*seed, 0)).IntN(*stride)
	b.Logf("-clients.seed %d -clients.stride %d", *seed, *stride)
	done := 0
	for n := first; ; n += *stride {
		b.vars["n"] = n
		b.network.change([]*disturbance{{Cut: &cut{Of: s.Of, After: n}}})
		for i, one := range s.Steps {
			b.step(fmt.Sprintf("%s.%d after %d bytes", at, i+1, n), one)
		}
		done++
		b.vars["done"] = done
		if b.Failed() || !b.network.hasCut() {
			break
		}
	}
	b.network.change(nil)
	require.Greater(b, done, 1, "no connection was cut")
}

// A program's own tests start a coordinator and end it.
func TestEachClientStartsACoordinatorForTests(t *testing.T) {
	t.Parallel()
	leasehold, err := buildLeasehold()
	require.NoError(t, err)
	inEachLanguage(t, []string{"go", "python-async"}, func(t *testing.T, l language) { // Go has leaseholdtest
		folders := t.TempDir()
		d := startDriver(t, l, "PATH="+filepath.Dir(leasehold)+":"+os.Getenv("PATH"), "TMPDIR="+folders, "JAVA_TOOL_OPTIONS=-Djava.io.tmpdir="+folders)
		for _, do := range []string{"connect", "test_coordinator"} {
			line := map[string]any{"do": do}
			if do == "connect" {
				line["url"] = "http://127.0.0.1:1" // a client that is not used
			}
			d.send(line)
			value, failed := d.answer()
			require.Nil(t, failed, "%s", short(failed))
			if do == "test_coordinator" {
				require.Equal(t, "waiting", value.(map[string]any)["state"])
			}
		}
		d.end()
		left, err := filepath.Glob(filepath.Join(folders, "*leasehold*"))
		require.NoError(t, err)
		require.Empty(t, left, "its folder is removed")
	})
}
