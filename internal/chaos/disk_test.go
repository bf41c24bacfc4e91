//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/internal/pgserver"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/tuple"
)

// Rows 12 to 15 of the catalogue of faults: disks that fail, fill up or are slow.

// journalLog returns the current log file of the journal.
func (h *fixture) journalLog() string {
	h.t.Helper()
	logs, err := filepath.Glob(filepath.Join(h.dir, "journal", "*.log"))
	require.NoError(h.t, err)
	require.NotEmpty(h.t, logs)
	slices.Sort(logs)
	return logs[len(logs)-1]
}

// inject attaches strace to the running coordinator and injects what into system calls on
// the log of the journal. It returns when strace is attached. Strace ends with the
// coordinator; its output lists the calls.
func (h *fixture) inject(calls, what string) *binary.Process {
	h.t.Helper()
	s := binary.Start(h.t, nil, "strace", "-f", "-p", fmt.Sprint(h.Pid()), "-P", h.journalLog(),
		"-e", "trace="+calls, "-e", "inject="+calls+":"+what)
	binary.Eventually(h.t, "strace is attached", func() bool { return strings.Contains(s.Output(), "attached") || s.Ended() })
	require.False(h.t, s.Ended(), s.Output())
	return s
}

func TestFault13AfterASyncThatFailedTheCoordinatorEndsAndNothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fastDetection...)
	h.mustStart()
	h.fill(50)
	c := h.mustDial("client", longTTL)
	require.NoError(t, <-putNote(c, 50))
	h.inject("fsync,fdatasync", "error=EIO:when=1")
	answered := putNote(c, 51)
	require.NotZero(t, h.Code())
	require.Contains(t, h.Output(), "input/output error")
	require.False(t, acknowledged(answered), "what is not known to be on the disk is not acknowledged")
	h.mustStart()
	require.Contains(t, []int{51, 52}, h.notes(), "it may be there all the same, or be repeated")
}

// acknowledged reports whether there is an answer without an error.
func acknowledged(answered chan error) bool {
	select {
	case err := <-answered:
		return err == nil
	default:
		return false
	}
}

func TestFault14ASlowSyncServesAllThatWaitAndExpiresNobody(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fastDetection...)
	h.mustStart()
	h.requireManyOfEachSync(func() (syncs func() int) {
		s := h.inject("fsync,fdatasync", "delay_exit=50000")
		return func() int { s.Kill(); return strings.Count(s.Text(), "(DELAYED)") }
	})
}

// The database takes 50 ms more for each commit.
func TestFault14ASlowCommitServesAllThatWaitAndExpiresNobody(t *testing.T) {
	t.Parallel()
	server := pgserver.New(t, pgserver.Durable, pgserver.Settings{"commit_siblings": "0"})
	h := fixtureOnDatabase(t, server.Database(t), fastDetection...)
	h.mustStart()
	h.requireManyOfEachSync(func() (commits func() int) {
		before := h.commits()
		server.Exec(t, "ALTER SYSTEM SET commit_delay = 50000")
		server.Exec(t, "SELECT pg_reload_conf()")
		return func() int { return h.commits() - before }
	})
}

// commits returns the number of commits of the coordinator to its journal.
func (h *fixture) commits() int {
	h.t.Helper()
	answer, err := http.Get("http://" + h.http + "/metrics")
	require.NoError(h.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(h.t, err)
	_, count, _ := strings.Cut(string(text), "\nleasehold_journal_commit_seconds_count")
	count, _, _ = strings.Cut(count[strings.Index(count, " ")+1:], "\n")
	n, err := strconv.Atoi(count)
	require.NoError(h.t, err)
	return n
}

// requireManyOfEachSync requires that syncs of 50 ms serve several puts each, and that a worker's lease outlives them.
// slow makes them so, and returns a function that counts those that were slow.
func (h *fixture) requireManyOfEachSync(slow func() (syncs func() int)) {
	h.t.Helper()
	h.fill(1)
	issueOne(h.t, h.mustDial("manager", longTTL))
	worker := h.mustDial("worker", loadSafeTTL)
	item, err := task.Client{Repo: worker}.Claim(within(h.t), dig)
	require.NoError(h.t, err)
	syncs := slow()
	const clients, each = 64, 20
	var running sync.WaitGroup
	var failed atomic.Int64
	c := h.mustDial("client", longTTL)
	began := time.Now()
	for range clients {
		running.Go(func() {
			for range each {
				if c.Space(notes).Put(context.Background(), tuple.New("note", int64(1)), 0) != nil {
					failed.Add(1)
				}
			}
		})
	}
	running.Wait()
	require.Zero(h.t, failed.Load())
	n := syncs()
	h.t.Logf("%d puts, %d syncs of 50 ms in %s", clients*each, n, time.Since(began).Round(time.Millisecond))
	require.Positive(h.t, n)
	require.Greater(h.t, clients*each, 2*n, "one sync serves several")
	require.GreaterOrEqual(h.t, time.Since(began), 20*each*time.Millisecond, "they were slow")
	require.NoError(h.t, task.Client{Repo: worker}.Report(within(h.t), item, "north", true, 1), "the task is still the worker's")
}

func TestFault15AWriteThatIsInterruptedIsTriedAgain(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fastDetection...)
	h.mustStart()
	h.fill(10)
	h.inject("write,pwrite64,writev", "error=EINTR:when=1+3")
	c := h.mustDial("client", longTTL)
	for n := range int64(50) {
		require.NoError(t, <-putNote(c, n+100))
	}
	h.Kill()
	h.mustStart()
	require.Equal(t, 60, h.notes())
}

// A limit on the file size cuts one write short and fails the next.
func TestFault15AWriteThatIsCutShortEndsTheCoordinatorAndLeavesNoHole(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fastDetection...)
	h.mustStart()
	h.fill(10)
	info, err := os.Stat(h.journalLog())
	require.NoError(t, err)
	limit := info.Size() + 5000
	out, err := exec.Command("prlimit", "--pid", fmt.Sprint(h.Pid()), fmt.Sprint("--fsize=", limit, ":")).CombinedOutput()
	require.NoError(t, err, string(out))
	c := h.mustDial("client", longTTL)
	there := 10
	var last chan error
	for n := int64(100); last == nil; n++ {
		answered := putNote(c, n)
		select {
		case err := <-answered:
			if err == nil {
				there++
				continue
			}
			require.ErrorIs(t, err, fault.ErrClosed)
			answered <- err
		case <-h.Done():
		}
		last = answered
	}
	require.NotZero(t, h.Code())
	require.Contains(t, h.Output(), "file too large")
	require.NotContains(t, h.Output(), "goroutine ", "an error, and no crash")
	h.mustStart()
	if <-last == nil { // the client repeated it at this coordinator
		there++
	}
	require.Contains(t, []int{there, there + 1}, h.notes())
}

// ready reports whether the coordinator is ready.
func (h *fixture) ready() bool {
	answer, err := http.Get("http://" + h.http + "/readyz")
	require.NoError(h.t, err)
	require.NoError(h.t, answer.Body.Close())
	return answer.StatusCode == http.StatusOK
}

// smallDisk mounts a file system of size bytes, which needs root.
func smallDisk(t *testing.T, size int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "disk")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprint("size=", size)), "a small disk is mounted by root only")
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

func TestFault12AFullDiskRefusesPutsAndLetsTheRestGoOnUntilThereIsRoom(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 16<<20)
	h := fixtureAt(t, filepath.Join(disk, "data"), fastDetection...)
	h.mustStart()
	h.fill(100)
	issueOne(t, h.mustDial("manager", longTTL))
	tasks := task.Client{Repo: h.mustDial("worker", longTTL)}
	item, err := tasks.Claim(within(t), dig)
	require.NoError(t, err)
	require.True(t, h.ready())

	filler := filepath.Join(disk, "filler")
	fillUp(t, filler)
	c := h.mustDial("client", longTTL)
	acknowledged := 100
	binary.Eventually(t, "puts are refused", func() bool {
		err := c.Space(notes).PutP(within(t), tuple.New("note", int64(1)), 0)
		if err == nil {
			acknowledged++
			return false
		}
		require.ErrorIs(t, err, fault.ErrOverloaded)
		return true
	})
	require.False(t, h.ready())
	for range 50 {
		_, ok, err := c.Space(notes).GetP(within(t), anyNote)
		require.NoError(t, err)
		require.True(t, ok)
	}
	require.NoError(t, tasks.Report(within(t), item, "north", true, 1), "work that was begun ends")
	require.ErrorIs(t, c.Space(notes).PutP(within(t), tuple.New("note", int64(1)), 0), fault.ErrOverloaded)

	require.NoError(t, os.Remove(filler))
	binary.Eventually(t, "it recovers", func() bool { return c.Space(notes).PutP(within(t), tuple.New("note", int64(1)), 0) == nil })
	binary.Eventually(t, "it is ready", h.ready)
	h.Kill()
	h.mustStart()
	require.Equal(t, acknowledged-50+1, h.notes())
	n, err := h.mustDial("check", longTTL).Space(lease.Space).Count(within(t), lease.Any())
	require.NoError(t, err)
	require.Equal(t, 1, n, "the lease lives until its result is ingested")
}

// fillUp writes a file until its disk is full.
func fillUp(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	for block := make([]byte, 64<<10); err == nil; {
		_, err = f.Write(block)
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, f.Close())
}

// Strace injects ENOSPC although statfs shows free space: the disk fills up between two
// checks. It injects once per thread, so a write may fail twice; then the coordinator
// ends, as after any other failed write.
func TestFault12AWriteThatFindsNoRoomIsNoTornRecord(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fastDetection...)
	h.mustStart()
	h.fill(20)
	c := h.mustDial("client", longTTL) // first, because the records of lost sessions could use up the failing write
	h.inject("write,pwrite64", "error=ENOSPC:when=1")
	there, unknown := 20, 0
	for n := range int64(10) {
		answered := putNote(c, n+100)
		select {
		case err := <-answered:
			if err == nil {
				there++
			} else if !errors.Is(err, fault.ErrOverloaded) {
				require.ErrorIs(t, err, fault.ErrClosed)
				unknown++
			}
		case <-h.Done():
			unknown++
		}
	}
	c.abandon()
	h.Kill()
	h.mustStart()
	n := h.notes()
	require.GreaterOrEqual(t, n, there)
	require.LessOrEqual(t, n, there+unknown)
}

// runUnprivileged runs the coordinator of the fixture as a user without rights.
func (h *fixture) runUnprivileged(args ...string) *binary.Process {
	h.t.Helper()
	for _, dir := range []string{filepath.Dir(program), filepath.Dir(filepath.Dir(h.dir)), filepath.Dir(h.dir)} {
		require.NoError(h.t, os.Chmod(dir, 0o755))
	}
	return binary.Start(h.t, append([]string{"HOME=/"}, h.env...), "setpriv", append([]string{"--reuid=65534", "--regid=65534", "--clear-groups", program, "coordinator",
		"--listen", h.gate, "--http", h.http}, args...)...)
}

func TestFault15AFolderThatCannotBeUsedIsSaidAndHasItsExitCode(t *testing.T) {
	t.Parallel()
	wrong := newFixture(t)
	require.NoError(t, os.Mkdir(wrong.dir, 0o700))
	p := wrong.runUnprivileged()
	require.Equal(t, fault.Of(fault.ErrPermission).ExitCode, p.Code(), p.Output())
	require.Contains(t, p.Output(), wrong.dir)
	require.Contains(t, p.Output(), "permission denied")

	locked := newFixture(t)
	require.NoError(t, os.Mkdir(locked.dir, 0o555))
	require.NoError(t, os.Chown(locked.dir, 65534, 65534))
	p = locked.runUnprivileged()
	require.Equal(t, fault.Of(fault.ErrPermission).ExitCode, p.Code(), p.Output())

	missing := newFixture(t)
	require.NoError(t, os.WriteFile(missing.dir, nil, 0o600))
	missing.begin("")
	require.Equal(t, fault.Of(fault.ErrFolder).ExitCode, missing.Code(), missing.Output())
	require.Contains(t, missing.Output(), missing.dir)
}

func TestFault15AFolderThatIsRemovedUnderARunningCoordinatorEndsIt(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fastDetection...)
	h.mustStart()
	h.fill(1)
	c := h.mustDial("client", longTTL)
	binary.Eventually(t, "the folder is gone", func() bool { return os.RemoveAll(h.dir) == nil }) // the coordinator may be writing into it
	binary.Eventually(t, "it ends", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		_ = c.Space(notes).Put(ctx, tuple.New("note", int64(2)), 0) // makes the coordinator notice
		return h.Ended()
	})
	require.Equal(t, fault.Of(fault.ErrFolder).ExitCode, h.Code(), h.Output())
	require.Contains(t, h.Output(), h.dir+"/journal was removed")
}
