//go:build unix

package exec_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/process/tracing"
	"leasehold/shared/process/tracing/tracingtest"
	"leasehold/shared/protocol/task"
	"leasehold/worker"
	"leasehold/worker/exec"
)

// job is a claimed task that keeps what its handler reports.
type job struct {
	worker.Job
	task      models.Task
	parents   []task.ParentResult
	readError error

	mu     sync.Mutex // guards the fields below
	result json.RawMessage
	notes  []models.Progress
	lines  []string
}

func (j *job) Log(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

func (j *job) Task() models.Task { return j.task }

func (j *job) Parents() []task.ParentResult { return j.parents }

func (j *job) ReadParents(context.Context) iter.Seq2[task.ParentResult, error] {
	return func(yield func(task.ParentResult, error) bool) {
		for _, p := range j.parents {
			if p.LeftOut {
				p = task.ParentResult{ID: p.ID, State: p.State, Result: `"read"`}
			}
			if !yield(p, nil) {
				return
			}
		}
		if j.readError != nil {
			yield(task.ParentResult{}, j.readError)
		}
	}
}

func (j *job) Note(_ context.Context, p models.Progress) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.notes = append(j.notes, p)
	return nil
}

func (j *job) Resolve(_ context.Context, _ string, body any) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var err error
	j.result, err = json.Marshal(body)
	return err
}

const output = 64 << 10

// sh runs a script as the command of a task.
func sh(t *testing.T, ctx context.Context, script string) (*job, error) {
	t.Helper()
	h, err := exec.New([]string{"sh", "-c", script}, t.TempDir(), output)
	require.NoError(t, err)
	j := &job{task: models.Task{ID: "t7", Action: "resize", Attempts: 2, Data: json.RawMessage(`{"n": 1}`)}}
	return j, h.Handle(ctx, j)
}

func TestWhatACommandPrintsIsTheResult(t *testing.T) {
	for script, want := range map[string]string{
		`echo '{"width": 3}'`:      `{"width":3}`,
		`echo done`:                `"done"`,
		`printf 'two\nlines\n'`:    `"two\nlines"`,
		`:`:                        `""`,
		`printf '\357\273\277[1]'`: `[1]`, // after a byte order mark
		`printf '\377'`:            `"\ufffd"`,
		`cat`:                      `{"n":1}`,
		`echo $LEASEHOLD_TASK_ID $LEASEHOLD_TASK_ACTION $LEASEHOLD_TASK_ATTEMPTS`: `"t7 resize 2"`,
	} {
		j, err := sh(t, t.Context(), script)
		require.NoError(t, err, script)
		require.JSONEq(t, want, string(j.result), script)
	}
}

// The file is removed when the command has ended, so the command prints its path too.
func TestACommandReadsTheResultsOfParentsFromAFile(t *testing.T) {
	h, err := exec.New([]string{"sh", "-c", `printf '%s\n' "$LEASEHOLD_TASK_PARENTS"; cat "$LEASEHOLD_TASK_PARENTS"`}, t.TempDir(), output)
	require.NoError(t, err)
	j := &job{parents: []task.ParentResult{{ID: "t1", State: task.Resolved, Result: `{"n":3}`}, {ID: "t2", State: task.Dead}}}
	require.NoError(t, h.Handle(t.Context(), j))
	var printed string
	require.NoError(t, json.Unmarshal(j.result, &printed))
	path, content, _ := strings.Cut(printed, "\n")
	require.JSONEq(t, `[{"task":"t1","state":"resolved","result":{"n":3}},{"task":"t2","state":"dead"}]`, content)
	require.NoFileExists(t, path)

	j = &job{parents: []task.ParentResult{{ID: "t1", State: task.Resolved, LeftOut: true}}}
	require.NoError(t, h.Handle(t.Context(), j))
	require.NoError(t, json.Unmarshal(j.result, &printed))
	_, content, _ = strings.Cut(printed, "\n")
	require.JSONEq(t, `[{"task":"t1","state":"resolved","result":"read"}]`, content)
	j.readError = errors.New("unreachable")
	require.ErrorIs(t, h.Handle(t.Context(), j), j.readError)
	without, err := sh(t, t.Context(), `echo "parents: $LEASEHOLD_TASK_PARENTS"`)
	require.NoError(t, err)
	require.JSONEq(t, `"parents: "`, string(without.result))
}

func TestACommandDoesNotGetTheSettingsOfTheWorker(t *testing.T) {
	t.Setenv("LEASEHOLD_SLOTS", "3")
	t.Setenv("COLOUR", "red")
	j, err := sh(t, t.Context(), `echo "$LEASEHOLD_SLOTS" "$COLOUR"`)
	require.NoError(t, err)
	require.JSONEq(t, `" red"`, string(j.result))
}

func TestTheExitCodeSaysWhatBecomesOfTheTask(t *testing.T) {
	for script, want := range map[string]worker.Failure{
		`echo hint >&2; exit 3`: {Output: "hint"},
		`exit 65`:               {GiveUp: true},
		`exit 75`:               {Later: 30 * time.Second},
		`exit 137`:              {},
		`kill -TERM $$`:         {},
	} {
		j, err := sh(t, t.Context(), script)
		var f *worker.Failure
		require.ErrorAs(t, err, &f, script)
		require.Nil(t, j.result, script)
		require.ErrorContains(t, err, "command: ")
		f.Err = nil
		require.Equal(t, want, *f, script)
	}
	_, err := sh(t, t.Context(), `echo one >&2; echo "no such colour" >&2; exit 3`)
	require.EqualError(t, err, "command: exit status 3: no such colour")
}

func TestLinesOfProgressAreNotedAndOthersAreKept(t *testing.T) {
	j, err := sh(t, t.Context(), `echo "progress 0.25 a quarter" >&2; echo "progress 2" >&2; echo "progress x" >&2; echo last >&2; exit 1`)
	var f *worker.Failure
	require.ErrorAs(t, err, &f)
	require.Equal(t, []models.Progress{{Fraction: 0.25, Text: "a quarter"}}, j.notes)
	require.Equal(t, "progress 2\nprogress x\nlast", f.Output)
}

func TestMessagesAreBounded(t *testing.T) {
	_, err := sh(t, t.Context(), `i=0; while [ $i -lt 1000 ]; do echo line $i >&2; i=$((i+1)); done; head -c 3000000 /dev/zero | tr '\0' x >&2; exit 1`)
	var f *worker.Failure
	require.ErrorAs(t, err, &f)
	lines := strings.Split(f.Output, "\n")
	require.Len(t, lines, 20)
	require.Equal(t, "line 999", lines[18])
	require.Len(t, lines[19], 1<<10)
}

func TestACommandThatPrintsTooMuchIsEnded(t *testing.T) {
	_, err := sh(t, t.Context(), `yes`)
	require.ErrorIs(t, err, fault.ErrTooLarge)
	require.ErrorContains(t, err, "more than 65536 bytes")
}

func TestACommandEndsWithItsContextAndAllThatItStarted(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pid")
	require.NoError(t, syscall.Mkfifo(pids, 0o600))
	timeout := errors.New("its time is over")
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := sh(t, ctx, `sleep 1000 & echo $! >`+pids+`; wait`)
		ended <- err
	}()
	content, err := os.ReadFile(pids)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	require.NoError(t, err)
	cancel(timeout)
	require.ErrorIs(t, <-ended, timeout)
	requireGone(t, pid)
}

func TestACommandIsAskedToEndBeforeItIsKilled(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	require.NoError(t, syscall.Mkfifo(ready, 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := sh(t, ctx, `trap 'echo cleaned >&2; exit 1' TERM; echo >`+ready+`; while :; do sleep 0.01; done`)
		ended <- err
	}()
	_, err := os.ReadFile(ready)
	require.NoError(t, err)
	cancel()
	var f *worker.Failure
	require.ErrorAs(t, <-ended, &f)
	require.Contains(t, f.Output, "cleaned")
}

func TestACommandThatIgnoresItsEndIsKilledWithAllThatItStarted(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	require.NoError(t, syscall.Mkfifo(ready, 0o600))
	h, err := exec.New([]string{"sh", "-c", `trap '' TERM; sleep 1000 & echo $! >` + ready + `; while :; do sleep 1000; done`}, t.TempDir(), output)
	require.NoError(t, err)
	h.KillAfter(50 * time.Millisecond)
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Handle(ctx, &job{}) }()
	content, err := os.ReadFile(ready)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	require.NoError(t, err)
	timeout := errors.New("its time is over")
	cancel(timeout)
	require.ErrorIs(t, <-ended, timeout)
	requireGone(t, pid)
}

func TestChildrenThatACommandLeavesAreEnded(t *testing.T) {
	j, err := sh(t, t.Context(), `sleep 1000 >/dev/null 2>&1 & echo $!`)
	require.NoError(t, err)
	var pid int
	require.NoError(t, json.Unmarshal(j.result, &pid))
	requireGone(t, pid)
}

func TestACommandHasSucceededAlsoIfAChildKeepsItsOutputOpen(t *testing.T) {
	t.Parallel()
	j, err := sh(t, t.Context(), `sleep 1000 & echo $!`)
	require.NoError(t, err)
	var pid int
	require.NoError(t, json.Unmarshal(j.result, &pid))
	requireGone(t, pid)
	_, err = sh(t, t.Context(), `sleep 1000 & exit 65`)
	var failed *worker.Failure
	require.ErrorAs(t, err, &failed)
	require.True(t, failed.GiveUp)
}

func TestAnUnknownProgramIsNamedAtOnce(t *testing.T) {
	_, err := exec.New([]string{"no-such-program"}, "", output)
	require.ErrorIs(t, err, fault.ErrNotFound)
	require.ErrorContains(t, err, "no-such-program")
}

func TestARelativeProgramIsInTheFolderOfTheCommands(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "here.sh"), []byte("#!/bin/sh\necho $PWD\n"), 0o700))
	_, err := exec.New([]string{"./here.sh"}, dir, output)
	require.NoError(t, err)
	_, err = exec.New([]string{"sh"}, filepath.Join(dir, "missing"), output)
	require.ErrorIs(t, err, fault.ErrNotFound)
	require.ErrorContains(t, err, "--exec-dir")
}

// requireGone waits until a process has ended, and at most until the test's deadline. A process
// whose parent has not reaped it yet has ended too.
func requireGone(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, time.Minute, time.Millisecond)
}

func TestACommandGetsTheSpanOfItsAttempt(t *testing.T) {
	_, spans := tracingtest.Start(t)
	ctx, end := spans.BeginAttempt(t.Context(), tracing.Attempt{Action: "resize"})
	defer end("done", "")
	traced, err := sh(t, ctx, `echo "$TRACEPARENT"`)
	require.NoError(t, err)
	require.Contains(t, tracing.Environment(ctx), "TRACEPARENT="+strings.Trim(string(traced.result), `"`))
}
