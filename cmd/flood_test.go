package cmd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
	"leasehold/shared/space/transaction"
	"leasehold/shared/tuple"
)

// floodLimit is the memory of the flooded machine.
const floodLimit = 512 << 20

// A flood is what clients send until the coordinator refuses it.
type flood struct {
	name string
	// pour sends until the coordinator refuses more, and returns how many were accepted.
	pour func(f *floodFixture) int
	// present counts those that are there.
	present func(f *floodFixture) int
	// ebb removes a part, so that the coordinator has memory again.
	ebb func(f *floodFixture)
}

var floods = []flood{
	{"large tuples", pourLargeTuples, countTuples, takeTuples(10)},
	{"small tuples", pourSmallTuples, countTuples, takeTuples(200)},
	{"waiters", pourWaiters, countWaiters, func(f *floodFixture) { f.clients[len(f.clients)-2].close() }},
	{"sessions", pourSessions, countSessions, func(f *floodFixture) { f.endSessions(100) }},
}

// floodFixture is a coordinator in a group of 512 MiB, and its clients.
type floodFixture struct {
	testing.TB
	*coordinatorProcess
	clients []*floodClient
	running sync.WaitGroup

	ownWaiters int // calls of the coordinator that wait before the flood
}

// floodClient is a session of a client.
type floodClient struct {
	repo  space.Repository
	close func()
}

// startFlooded starts a coordinator that may take 512 MiB of memory, or the test fails.
func startFlooded(t testing.TB) *floodFixture {
	leasehold, dir := filepath.Join(realBinary(t), "leasehold"), t.TempDir()
	args := append([]string{"coordinator"}, anyPorts...)
	f := &floodFixture{TB: t}
	if procs := memoryGroup(t); procs != "" {
		f.coordinatorProcess = startCoordinatorProcess(t, dir, "sh", append([]string{"-c", `echo $$ >"$0" && exec "$@"`, procs, leasehold}, args...)...)
	} else {
		t.Log("no cgroup can be made here: the process is not killed at 512 MiB, its resident memory is compared instead")
		f.coordinatorProcess = startCoordinatorProcess(t, dir, leasehold, append(args, "--memory", fmt.Sprint(floodLimit/2))...)
	}
	t.Cleanup(func() {
		for _, c := range f.clients {
			c.close()
		}
		f.running.Wait()
	})
	return f
}

// memoryGroup makes a cgroup of 512 MiB, and returns the file that takes its processes; empty
// if this process may not.
func memoryGroup(t testing.TB) (procs string) {
	name := fmt.Sprintf("leasehold-test-%d-%d", os.Getpid(), time.Now().UnixNano())
	for _, version := range []struct{ root, limit string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, {"/sys/fs/cgroup", "memory.max"},
	} {
		if _, err := os.Stat(filepath.Join(version.root, "cgroup.procs")); err != nil {
			continue
		}
		group := filepath.Join(version.root, name)
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { // the kernel needs a moment after the last process
			for deadline := time.Now().Add(10 * time.Second); os.Remove(group) != nil && time.Now().Before(deadline); {
				<-time.After(10 * time.Millisecond)
			}
		})
		if os.WriteFile(filepath.Join(group, version.limit), fmt.Append(nil, floodLimit), 0o600) == nil {
			return filepath.Join(group, "cgroup.procs")
		}
	}
	return ""
}

// dial opens a session of a mode.
func (f *floodFixture) dial(mode string) *floodClient {
	f.Helper()
	c, err := f.tryDial(mode, 0)
	require.NoError(f, err)
	f.clients = append(f.clients, c)
	return c
}

func (f *floodFixture) tryDial(mode string, ttl time.Duration) (*floodClient, error) {
	ctx, cancel := context.WithTimeout(f.Context(), 20*time.Second)
	defer cancel()
	conn, err := remote.Dial(ctx, remote.Config{Address: f.at.Gate, Mode: mode, Session: remote.SessionID(mode), TTL: ttl})
	if err != nil {
		return nil, err
	}
	repo := space.Over(conn)
	return &floodClient{repo, sync.OnceFunc(func() { _ = repo.Close(context.Background()) })}, nil
}

func pourLargeTuples(f *floodFixture) int {
	large := tuple.New("large", make([]byte, 900_000))
	s := f.dial("client").repo.Space("flood")
	return f.callUntilRefused(4, func() error { return s.PutP(f.Context(), large, 0) })
}

// pourSmallTuples puts 32 tuples in a transaction while these are accepted, because the test would
// spend its time on single calls, and then single ones until these are refused too.
func pourSmallTuples(f *floodFixture) int {
	const calls, each = 64, 32
	small := tuple.New("small", int64(1))
	repo := f.dial("client").repo
	transactions := f.callUntilRefused(calls, func() error {
		_, err := transaction.Client{Repo: repo}.RunP(f.Context(), slices.Repeat([]transaction.Op{transaction.Put("flood", small, 0)}, each)...)
		return err
	})
	s := repo.Space("flood")
	return each*transactions + f.callUntilRefused(calls, func() error { return s.PutP(f.Context(), small, 0) })
}

// callUntilRefused repeats a call, so many at a time, until several were refused as overloaded. It
// returns how many were accepted.
func (f *floodFixture) callUntilRefused(calls int, call func() error) int {
	var accepted atomic.Int64
	var pouring sync.WaitGroup
	for range calls {
		pouring.Go(func() {
			for refused := 0; refused < 5; { // a later one may fit
				err := call()
				switch {
				case err == nil:
					accepted.Add(1)
				case errors.Is(err, fault.ErrOverloaded):
					refused++
				default:
					f.Error(err)
					return
				}
			}
		})
	}
	pouring.Wait()
	return int(accepted.Load())
}

var anyPoured = map[bool]tuple.Template{true: tuple.Match("large", tuple.Formal{Type: tuple.Bytes}), false: tuple.Match("small", tuple.AnyInt64)}

func countTuples(f *floodFixture) int {
	sum := 0
	for _, p := range anyPoured {
		n, err := f.dial("worker").repo.Space("flood").Count(f.Context(), p)
		require.NoError(f, err)
		sum += n
	}
	return sum
}

// takeTuples returns an ebb that takes n tuples.
func takeTuples(n int) func(f *floodFixture) {
	return func(f *floodFixture) {
		s := f.clients[0].repo.Space("flood") // a new client would be refused
		for _, p := range anyPoured {
			for range n {
				_, _, err := s.GetP(f.Context(), p)
				require.NoError(f, err)
			}
		}
	}
}

// pourWaiters has clients wait for tuples that never come, 1,000 calls each.
func pourWaiters(f *floodFixture) int {
	const each, most = 1000, 200
	var refused, waiting atomic.Int64
	for range most {
		c, err := f.tryDial("client", time.Minute)
		if err != nil {
			require.ErrorIs(f, err, fault.ErrOverloaded)
			break
		}
		f.clients = append(f.clients, c)
		before := refused.Load()
		for range each {
			waiting.Add(1)
			f.running.Go(func() {
				if _, err := c.repo.Space("flood").Get(f.Context(), tuple.Match("never")); errors.Is(err, fault.ErrOverloaded) {
					refused.Add(1)
					waiting.Add(-1)
				}
			})
		}
		f.await(func() (string, bool) {
			n := f.metric("leasehold_engine_waiters")
			return fmt.Sprint(n), n-f.ownWaiters >= int(waiting.Load())
		}, "waiters")
		if refused.Load() > before {
			break
		}
	}
	require.Positive(f, refused.Load())
	return int(waiting.Load())
}

func countWaiters(f *floodFixture) int { return f.metric("leasehold_engine_waiters") - f.ownWaiters }

// pourSessions opens sessions that last without a connection.
func pourSessions(f *floodFixture) int {
	var accepted, refused atomic.Int64
	var pouring sync.WaitGroup
	for range 32 {
		pouring.Go(func() {
			for refused.Load() < 32 {
				c, err := net.Dial("tcp", f.at.Gate)
				if err != nil {
					f.Error(err)
					return
				}
				err = greet(c, remote.SessionID("flood"))
				switch {
				case err == nil:
					accepted.Add(1)
				case errors.Is(err, fault.ErrOverloaded):
					refused.Add(1)
				default:
					f.Error(err)
				}
				_ = c.Close()
			}
		})
	}
	pouring.Wait()
	return int(accepted.Load())
}

// floodSessions returns the ids of the sessions of the flood.
func (f *floodFixture) floodSessions() (ids []string) {
	for line := range strings.SplitSeq(f.ask("/api/v1/sessions?limit=10000"), `"id":"`) {
		if id, _, _ := strings.Cut(line, `"`); strings.HasPrefix(id, "flood-") {
			ids = append(ids, id)
		}
	}
	return ids
}

func countSessions(f *floodFixture) int { return len(f.floodSessions()) }

// endSessions ends one session with the command, and the others with the API, because a hundred commands take as long
// as sessions last without a connection.
func (f *floodFixture) endSessions(n int) {
	ids := f.floodSessions()[:n]
	c := start(f, f.TempDir(), filepath.Join(realBinary(f), "leasehold"), "session", "end", ids[0], "--http", f.at.HTTP)
	require.True(f, c.end().Success(), c.text())
	for _, id := range ids[1:] {
		f.send("DELETE", "/api/v1/sessions/"+id, "", http.StatusNoContent)
	}
}

// metric returns the value of a metric without labels.
func (f *floodFixture) metric(name string) int {
	var v float64
	_, text, _ := strings.Cut(f.ask("/metrics"), "\n"+name+" ")
	_, _ = fmt.Sscan(text, &v) // 0 while the coordinator does not answer
	return int(v)
}

// run floods a coordinator, and returns how many were accepted and its maximum resident memory.
// Tasks that were created before are done after the flood.
func (x flood) run(t *testing.T) (accepted int, residentMB float64) {
	const tasks = 20
	f := startFlooded(t)
	admin, worker := f.dial("manager"), f.dial("worker")
	require.NoError(t, admin.repo.Create(t.Context(), "flood", space.Options{}))
	create := func() error {
		_, err := task.Client{Repo: admin.repo}.Create(t.Context(), models.Task{Action: "dig", Subject: "site", Timeout: 60}, 0)
		return err
	}
	for range tasks {
		require.NoError(t, create())
	}
	f.ownWaiters = f.metric("leasehold_engine_waiters")
	accepted = x.pour(f)
	require.Equal(t, accepted, x.present(f), "each that was accepted, and no more")
	digger := task.Client{Repo: worker.repo}
	for range tasks {
		i, err := digger.Claim(t.Context(), "dig")
		require.NoError(t, err, "work goes on")
		require.NoError(t, digger.Report(t.Context(), i, "", true, "found"))
	}
	x.ebb(f)
	f.await(func() (string, bool) { err := create(); return fmt.Sprint(err), err == nil }, "memory for a new task")
	resident, ok := statusMB("VmHWM", f.cmd.Process.Pid)
	require.True(t, ok, "the coordinator was killed: %s", f.text())
	require.Less(t, resident, float64(floodLimit>>20))
	return accepted, resident
}

// With -v it prints how many of each flood were accepted, and the maximum resident memory.
func TestACoordinatorOf512MiBSurvivesFloods(t *testing.T) {
	for _, x := range floods {
		t.Run(x.name, func(t *testing.T) {
			accepted, resident := x.run(t)
			require.Greater(t, accepted, 131)
			t.Logf("%d accepted, %.0f MB resident at most", accepted, resident)
		})
	}
}

var largeClients = flag.Int("flood.large", 12, "clients that each put 25 large tuples on a busy machine; 48 put twice the memory")

// While other programs use the processors, the garbage collector of the coordinator falls behind, and requests wait
// with their bytes in memory. make soak puts 1,200 tuples of 900 kB, because other tests are slow meanwhile.
func TestACoordinatorOf512MiBSurvivesLargePutsOnABusyMachine(t *testing.T) {
	f := startFlooded(t)
	require.NoError(t, f.dial("manager").repo.Create(t.Context(), "flood", space.Options{}))
	ctx, stop := context.WithCancel(context.Background())
	busy := exec.CommandContext(ctx, "sh", "-c", `for i in 1 2 3 4 5 6 7 8; do while :; do :; done & done; wait`)
	platform.KillWithChildren(busy)
	require.NoError(t, busy.Start())
	t.Cleanup(func() { stop(); _ = busy.Wait() })
	large := tuple.New("large", make([]byte, 900_000))
	var accepted, refused atomic.Int64
	var pouring sync.WaitGroup
	for range *largeClients {
		s := f.dial("client").repo.Space("flood")
		pouring.Go(func() {
			for range 25 {
				switch err := s.PutP(t.Context(), large, 0); {
				case err == nil:
					accepted.Add(1)
				case errors.Is(err, fault.ErrOverloaded):
					refused.Add(1)
				default:
					t.Error(err)
				}
			}
		})
	}
	pouring.Wait()
	resident, ok := statusMB("VmHWM", f.cmd.Process.Pid)
	require.True(t, ok, "the coordinator was killed: %s", f.text())
	require.EqualValues(t, accepted.Load(), countTuples(f), "each that was accepted, and no more")
	require.Less(t, resident, float64(floodLimit>>20))
	t.Logf("%d accepted, %d refused, %.0f MB resident at most", accepted.Load(), refused.Load(), resident)
}
