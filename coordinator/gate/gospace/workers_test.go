package gospace_test

import (
	"bufio"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/foreign"
	"leasehold/coordinator/gate/foreign/foreigntest"
	"leasehold/coordinator/gate/gospace"
	"leasehold/coordinator/gate/pspace"
	"leasehold/models"
	"leasehold/shared/protocol/task"
	"leasehold/shared/tuple"
)

// taskCount is how many tasks the workers of each language do.
const taskCount = 1_000

// worker claims tasks and puts results, in one of the languages. Both return false when
// the connection is broken, as by kill.
type worker interface {
	claim(action string) (id string, token int64, ok bool)
	result(action, id string, token int64) (ok bool)
	kill()
}

// goWorker is a worker that speaks as goSpace does: a connection for each operation, and a
// port for each space.
type goWorker struct {
	tasks, results string // addresses

	mu   sync.Mutex // guards what follows
	conn net.Conn
	dead bool
}

// open opens a connection, and reports false if that fails or the worker is dead. kill closes
// the connection that it opened last.
func (w *goWorker) open(address string) (net.Conn, bool) {
	c, err := net.Dial("tcp", address)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil || w.dead {
		if err == nil {
			_ = c.Close()
		}
		return nil, false
	}
	w.conn = c
	return c, true
}

// ask sends a request over a connection of its own, and reports whether it read an answer.
func (w *goWorker) ask(address, operation string, body, answer any) bool {
	c, ok := w.open(address)
	if !ok {
		return false
	}
	defer c.Close()
	return gob.NewEncoder(c).Encode(message{operation, body}) == nil && gob.NewDecoder(c).Decode(answer) == nil
}

// claim waits for a task of an action, and returns its id and token. It reports false after
// kill.
func (w *goWorker) claim(action string) (string, int64, bool) {
	var t Tuple
	if !w.ask(w.tasks, "GET_REQUEST", templateOf("task", action, formal("string"), formal("string"), formal("int64"), formal("int64"), formal("string")), &t) {
		return "", 0, false
	}
	return t.Flds[2].(string), t.Flds[4].(int64), true
}

func (w *goWorker) result(action, id string, token int64) bool {
	var stored bool
	return w.ask(w.results, "PUT_REQUEST", tupleOf("result", action, "subject", id, "", token, "gopher", true, `"done"`), &stored) && stored
}

// kill breaks the worker's connection, as the death of its machine does: without the end that an
// ordinary close sends.
func (w *goWorker) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = true
	if w.conn != nil {
		_ = w.conn.(*net.TCPConn).SetLinger(0)
		_ = w.conn.Close()
	}
}

// javaWorker is a worker that speaks as jSpace does in keep mode.
type javaWorker struct {
	conn    net.Conn
	lines   *bufio.Reader
	session int
}

type typedValue struct {
	Type  string `json:"type"`
	Value any    `json:"value"`
}

type templateField struct {
	Formal bool `json:"formal"`
	Value  any  `json:"value"`
}

// ask sends a request with a session of its own, and reads the answer. It reports false if the
// connection fails or the request was refused.
func (w *javaWorker) ask(request map[string]any) (tuples [][]typedValue, ok bool) {
	w.session++
	request["clientSession"] = fmt.Sprint(w.session)
	if json.NewEncoder(w.conn).Encode(request) != nil {
		return nil, false
	}
	line, err := w.lines.ReadBytes('\n')
	var answer struct {
		Status bool
		Tuples [][]typedValue
	}
	if err != nil || json.Unmarshal(line, &answer) != nil {
		return nil, false
	}
	return answer.Tuples, answer.Status
}

// claim waits for a task of an action, and returns its id and token.
func (w *javaWorker) claim(action string) (string, int64, bool) {
	template := []templateField{{false, typedValue{"pspace:string", "task"}}, {false, typedValue{"pspace:string", action}}}
	for _, name := range []string{"string", "string", "long", "long", "string"} {
		template = append(template, templateField{true, "pspace:" + name})
	}
	tuples, ok := w.ask(map[string]any{"messageType": "GET_REQUEST", "target": task.Space, "blocking": true, "template": template})
	if !ok || len(tuples) != 1 {
		return "", 0, false
	}
	return tuples[0][2].Value.(string), int64(tuples[0][4].Value.(float64)), true
}

// result puts the final result of a task, and reports whether that succeeded.
func (w *javaWorker) result(action, id string, token int64) bool {
	var fields []typedValue
	for _, text := range []string{"result", action, "subject", id, ""} {
		fields = append(fields, typedValue{"pspace:string", text})
	}
	fields = append(fields, typedValue{"pspace:long", token}, typedValue{"pspace:string", "duke"}, typedValue{"pspace:boolean", true}, typedValue{"pspace:string", `"done"`})
	_, ok := w.ask(map[string]any{"messageType": "PUT_REQUEST", "target": task.Result, "tuple": fields})
	return ok
}

func (w *javaWorker) kill() {
	_ = w.conn.(*net.TCPConn).SetLinger(0)
	_ = w.conn.Close()
}

// workers returns a function that starts a worker of a language at the gates of a fixture.
func workers(f *foreigntest.Fixture) map[string]func() worker {
	access, quiet := foreign.Access{Write: true}, slog.New(slog.DiscardHandler)
	open := func(name string) string {
		return f.Listen(gospace.New(gospace.Config{Hub: f.Hub, Space: name, Access: access, Log: quiet}).Serve)
	}
	tasks, results := open(task.Space), open(task.Result)
	keep := f.Listen(pspace.New(pspace.Config{Hub: f.Hub, Access: access, Log: quiet}).Serve)
	return map[string]func() worker{
		"goSpace": func() worker { return &goWorker{tasks: tasks, results: results} },
		"jSpace": func() worker {
			c, err := net.Dial("tcp", keep)
			require.NoError(f, err)
			f.Cleanup(func() { _ = c.Close() })
			return &javaWorker{conn: c, lines: bufio.NewReader(c)}
		},
	}
}

// Two workers are killed while they have a task, whose lease ends after 3 s, so that another one
// does it. The first worker goes on until all results are there. No task may have two results,
// and none may be left.
func TestForeignWorkersDoEachTaskOnceAlthoughTwoOfThreeAreKilled(t *testing.T) {
	t.Parallel()
	f := foreigntest.New(t, 0)
	for language, start := range workers(f) {
		t.Run(language, func(t *testing.T) {
			admin := task.Client{Repo: f.Repo}
			ids := map[string]bool{}
			for range taskCount {
				created, err := admin.Create(t.Context(), models.Task{Action: language, Timeout: 3, TaskOptions: models.TaskOptions{ResultTuple: true, ResultTTL: 600}}, 0)
				require.NoError(t, err)
				ids[created.ID] = true
			}
			var running sync.WaitGroup
			all := []worker{start(), start(), start()}
			for i, w := range all {
				running.Go(func() {
					for n := 0; ; n++ {
						id, token, ok := w.claim(language)
						if i > 0 && n == 100*i { // with a task
							w.kill()
							return
						}
						if !ok || !w.result(language, id, token) {
							return
						}
					}
				})
			}
			results := task.AnyResult(language)
			require.Eventually(t, func() bool {
				n, err := f.Repo.Space(task.Result).Count(t.Context(), results)
				return err == nil && n >= taskCount
			}, foreigntest.Wait, 5*time.Millisecond)
			all[0].kill() // it waits for a task
			running.Wait()
			got, err := f.Repo.Space(task.Result).GetAll(t.Context(), results)
			require.NoError(t, err)
			for _, r := range got {
				part := task.DecodeResult(r).Part
				require.True(t, ids[part], "%s had a second effect, or is unknown", part)
				delete(ids, part)
			}
			require.Empty(t, ids)
			left, err := f.Repo.Space(task.Space).Count(t.Context(), task.AnyOf(language))
			require.NoError(t, err)
			require.Zero(t, left)
			f.AwaitCount(task.Space, task.Any(), 0)
		})
	}
}

func TestATaskWhoseWorkerDiesBeforeItReadsTheAnswerIsHandedBack(t *testing.T) {
	t.Parallel()
	f := foreigntest.New(t, 0)
	created, err := task.Client{Repo: f.Repo}.Create(t.Context(), models.Task{Action: "a", Timeout: 3600}, 0)
	require.NoError(t, err)
	address := f.Listen(gospace.New(gospace.Config{Hub: f.Hub, Space: task.Space, Access: foreign.Access{Write: true}}).Serve)
	c := dial(t, address)
	_, err = c.Write(request(t, "GETP_REQUEST", templateOf("task", formal("string"), formal("string"), formal("string"), formal("int64"), formal("int64"), formal("string"))))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return f.Engine.Stats().Held == 1 }, foreigntest.Wait, time.Millisecond)
	require.NoError(t, c.(*net.TCPConn).SetLinger(0))
	require.NoError(t, c.Close())
	f.AwaitCount(task.Space, task.WithID(created.ID), 1)
	again, err := task.Client{Repo: f.Repo}.Claim(t.Context(), "a")
	require.NoError(t, err)
	require.Zero(t, again.Attempts, "it was not counted")
}

// A get from the space of the tasks must become a claim, because a plain get would take a task
// without a lease, and it would be lost with its taker.
func TestAGetOfATaskIsAClaim(t *testing.T) {
	t.Parallel()
	f := foreigntest.New(t, 0)
	address := f.Listen(gospace.New(gospace.Config{Hub: f.Hub, Space: task.Space, Access: foreign.Access{Write: true}}).Serve)
	anyTask := []any{"task", formal("string"), formal("string"), formal("string"), formal("int64"), formal("int64"), formal("string")}
	require.Nil(t, getP(t, address, "GETP_REQUEST", anyTask...), "there is none")
	created, err := task.Client{Repo: f.Repo}.Create(t.Context(), models.Task{Action: "a", Timeout: 3600}, 0)
	require.NoError(t, err)
	one := append([]any{}, anyTask...)
	one[2] = created.ID
	require.Nil(t, getP(t, address, "GETP_REQUEST", one...), "a claim takes the first task, so that it cannot name one")
	_, err = call[[]Tuple](t, address, "GETALL_REQUEST", templateOf(anyTask...))
	require.Error(t, err)
	require.NotNil(t, getP(t, address, "QUERYP_REQUEST", one...), "a query reads")
	other := append([]any{}, anyTask...)
	other[1] = "b"
	require.Nil(t, getP(t, address, "GETP_REQUEST", other...))
	claimed := getP(t, address, "GETP_REQUEST", anyTask...)
	require.NotNil(t, claimed)
	require.Equal(t, created.ID, claimed.Flds[2])
	held, err := f.Repo.List(t.Context())
	require.NoError(t, err)
	for _, info := range held {
		if info.Name == task.Space {
			require.Equal(t, 1, info.Held)
		}
	}
	n, err := f.Repo.Space(task.Space).Count(t.Context(), tuple.Match())
	require.NoError(t, err)
	require.Zero(t, n)
}
