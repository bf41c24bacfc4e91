package node

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/native"
	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/remote"
	"leasehold/shared/tuple"
	"leasehold/worker"
)

const (
	heartbeat   = 2 * time.Second
	sessionLost = 6 * time.Second
	backoff     = 30 * time.Second
	longest     = 24 * time.Hour // TTL of the session of the test
)

// network is an engine with the protocols of tasks behind a gate, in fake time. Real
// workers reach it over faulty networks. Other engines can take over from it.
type network struct {
	*testing.T
	journal *journal.Memory
	repo    space.Repository
	created int // tasks
	running sync.WaitGroup
	ctx     context.Context // of all engines and gates

	mu     sync.Mutex // guards engine, port
	engine *engine.Engine
	port   *pipeListener
}

// onNetwork runs a test on a network. Everything has ended when it returns.
func onNetwork(t *testing.T, test func(n *network)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &network{T: t, journal: &journal.Memory{}}
		var stop context.CancelFunc
		n.ctx, stop = context.WithCancel(context.Background())
		n.serve()
		c, err := remote.Dial(t.Context(), remote.Config{Session: "network", TTL: longest, Dial: n.dial, Log: discard})
		require.NoError(t, err)
		n.repo = space.Over(c)
		for _, defs := range [][]space.Definition{status.Spaces(), lease.Spaces(), task.Spaces(), visit.Spaces()} {
			for _, d := range defs {
				require.NoError(t, n.repo.Create(t.Context(), d.Name, d.Options))
			}
		}
		test(n)
		require.NoError(t, n.repo.Close(t.Context()))
		stop()
		n.running.Wait()
		<-time.After(time.Minute) // for bytes in transit
	})
}

// serve opens an engine that takes the journal over from the one before it, and a gate, which clients reach from now on.
// The gate closes when another one has taken over from the engine, and the engine has learned of that.
func (n *network) serve() {
	policy := task.Policy{MaxAttempts: 100, Backoff: backoff}
	e, err := engine.Open(n.Context(), engine.Config{
		Journal: n.journal.Member(), Log: discard, Grace: sessionLost,
		Procedures: space.Join(status.Procedures(), policy.Procedures(), policy.AdminProcedures(), visit.Policy{Timeout: time.Hour}.Procedures()),
	})
	if errors.Is(err, journal.ErrDeposed) {
		return // the next engine was faster
	}
	require.NoError(n, err)
	port := newPipeListener()
	n.mu.Lock()
	n.engine, n.port = e, port
	n.mu.Unlock()
	ctx, end := context.WithCancel(n.ctx)
	gate := native.New(native.Config{Engine: e, Lost: sessionLost, MaxTTL: longest, Log: discard})
	n.running.Go(func() { require.NoError(n, gate.Serve(ctx, port)) })
	n.running.Go(func() {
		defer end()
		if err := e.Run(ctx); !errors.Is(err, journal.ErrDeposed) {
			require.NoError(n, err)
		} else if n.serves(e) { // the outcome of a commit was unknown, and no other engine has taken over
			<-time.After(time.Second)
			n.serve()
		}
	})
}

// serves reports whether no engine has taken over from e.
func (n *network) serves(e *engine.Engine) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.engine == e
}

// dial connects to the gate of the engine that serves.
func (n *network) dial(ctx context.Context, address string) (net.Conn, error) {
	n.mu.Lock()
	port := n.port
	n.mu.Unlock()
	return port.dial(ctx, address)
}

// over connects through w; the sessions are name-1, name-2 and so on.
func (n *network) over(w *faultyNetwork, name string) status.Connect {
	sessions := 0
	return func(ctx context.Context) (space.Repository, error) {
		sessions++
		c, err := remote.Dial(ctx, remote.Config{Session: fmt.Sprint(name, "-", sessions), Mode: "worker", TTL: sessionLost, Dial: w.over(n.dial), Log: discard})
		if err != nil {
			return nil, err
		}
		return space.Over(c), nil
	}
}

// hire runs a worker with two slots; end drains it and returns what Run did.
func (n *network) startWorker(connect status.Connect, h worker.Handler) (end func() error, ended chan error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended = make(chan error, 1)
	n.running.Go(func() {
		ended <- worker.Run(ctx, connect, worker.Config{
			Handlers: map[string]worker.Handler{"act": h}, Slots: 2, Heartbeat: heartbeat,
			Drain: 30 * time.Second, Grace: 10 * time.Second, Log: discard,
		})
	})
	return func() error { cancel(); return <-ended }, ended
}

func (n *network) create(tasks int) {
	for range tasks {
		n.created++
		_, err := task.Client{Repo: n.repo}.Create(n.Context(), models.Task{Action: "act", Subject: fmt.Sprint(n.created), Timeout: models.SecondsOf(10 * time.Minute), TaskOptions: models.TaskOptions{ResultTuple: true, ResultTTL: 86400 * 30}}, 0)
		require.NoError(n, err)
	}
}

// results returns the results by what they are of: subject, part and token.
func (n *network) results() map[string]int {
	all, err := n.repo.Space(task.Result).QueryAll(n.Context(), task.AnyResult("act"))
	require.NoError(n, err)
	seen := map[string]int{}
	for _, r := range all {
		result := task.DecodeResult(r)
		seen[fmt.Sprint(result.Subject, " ", result.Part, " ", result.Token)]++
	}
	return seen
}

func (n *network) remaining() int {
	infos, err := n.repo.List(n.Context())
	require.NoError(n, err)
	for _, i := range infos {
		if i.Name == task.Space {
			return i.Visible + i.Held
		}
	}
	return -1
}

// holder returns who has a task, if only one is held.
func (n *network) holder() string {
	claim, _, err := n.repo.Space(lease.Space).QueryP(n.Context(), task.AnyClaim())
	require.NoError(n, err)
	return task.DecodeClaim(claim).Worker
}

func (n *network) state(id string) string {
	s, _, err := n.repo.Space(status.Space).QueryP(n.Context(), status.StateOf(id))
	require.NoError(n, err)
	return status.DecodeState(s).State
}

// handlerFunc makes a handler of a function.
type handlerFunc func(ctx context.Context, job worker.Job) error

func (l handlerFunc) Handle(ctx context.Context, job worker.Job) error { return l(ctx, job) }

// quick reports one part and resolves with another.
var quick = handlerFunc(func(ctx context.Context, job worker.Job) error {
	if err := job.Report(ctx, "first", nil); err != nil {
		return err
	}
	return job.Resolve(ctx, "last", nil)
})

// forever holds its task until its context ends.
var forever = handlerFunc(func(ctx context.Context, _ worker.Job) error { <-ctx.Done(); return ctx.Err() })

// Row 35: a second of latency and as much jitter, one byte at a time, and of the
// connections 30 % are reset within each 1,000 bytes.
func TestFault35OverABadNetworkAllTasksFinishAndNothingHappensTwice(t *testing.T) {
	const tasks, workers = 40, 4
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			onNetwork(t, func(n *network) {
				w := &faultyNetwork{latency: time.Second, jitter: time.Second, segment: 1, resets: 30, rand: rand.New(rand.NewPCG(seed, 35))}
				n.create(tasks)
				var ends []func() error
				for i := range workers {
					end, _ := n.startWorker(n.over(w, fmt.Sprint("worker", i)), quick)
					ends = append(ends, end)
				}
				for waited := time.Duration(0); n.remaining() > 0; waited += time.Second {
					require.Less(t, waited, time.Hour)
					<-time.After(time.Second)
				}
				n.requireEachOnce(tasks)
				require.Positive(t, w.resetCount())
				for _, end := range ends {
					_ = end() // its good-bye may get lost
				}
			})
		})
	}
}

// requireEachOnce requires both results of each task, and each result of one attempt once.
func (n *network) requireEachOnce(tasks int) {
	n.Helper()
	finished := map[string]bool{}
	for what, times := range n.results() {
		require.Equal(n, 1, times, "%s: what one attempt reports is there once", what)
		var subject, part string
		_, err := fmt.Sscan(what, &subject, &part)
		require.NoError(n, err)
		finished[subject+" "+part] = true
	}
	require.Len(n, finished, 2*tasks)
}

var seedsFlag = flag.Uint64("network.seeds", 20, "simulated networks whose coordinators take over from each other")

var errCommit = errors.New("the outcome of the commit is unknown")

// Row 57: networks, disks and take-overs at random, in fake time. A commit may be slow, and its outcome may stay unknown:
// it has happened or not.
func TestFault57InASimulationOfTakeOversAllTasksFinishAndNothingHappensTwice(t *testing.T) {
	const tasks, workers = 20, 3
	for seed := range *seedsFlag {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			onNetwork(t, func(n *network) {
				n.create(tasks)
				disk := rand.New(rand.NewPCG(seed, 57))
				fails := func(d time.Duration) error {
					<-time.After(d)
					if disk.IntN(100) == 0 {
						return errCommit
					}
					return nil
				}
				n.journal.Before = func(context.Context, []journal.Record) error {
					return fails(time.Duration(disk.IntN(50)) * time.Millisecond)
				}
				n.journal.After = func(context.Context, []journal.Record) error { return fails(0) }
				r := rand.New(rand.NewPCG(seed, 58))
				networks, ends := make([]*faultyNetwork, workers), make([]func() error, workers)
				for i := range networks {
					networks[i] = &faultyNetwork{latency: time.Duration(r.IntN(300)) * time.Millisecond, jitter: time.Second, resets: r.IntN(30), rand: rand.New(rand.NewPCG(seed, uint64(i)))}
					ends[i], _ = n.startWorker(n.over(networks[i], fmt.Sprint("worker", i)), quick)
				}
				overs := 0
				for began := time.Now(); n.remaining() > 0 || overs < 5; {
					require.Less(t, time.Since(began), time.Hour)
					<-time.After(time.Duration(r.IntN(5000)) * time.Millisecond)
					w, way := networks[r.IntN(workers)], r.IntN(2)
					switch r.IntN(4) {
					case 0:
						w.set(&w.mute[way], !w.is(&w.mute[way]))
					case 1:
						w.reset()
					default:
						n.serve()
						overs++
					}
					if r.IntN(2) == 0 {
						w.set(&w.mute[up], false)
						w.set(&w.mute[down], false)
					}
				}
				n.requireEachOnce(tasks)
				for i, w := range networks {
					w.set(&w.mute[up], false)
					w.set(&w.mute[down], false)
					_ = ends[i]() // its good-bye may get lost
				}
			})
		})
	}
}

// Row 34: the coordinator detects a partitioned worker within session-lost after its last beat, and its work goes
// to another at once. One beat more may come through from a worker that receives nothing.
func TestFault34APartitionedWorkersTaskGoesToAnother(t *testing.T) {
	for name, cut := range map[string]func(w *faultyNetwork){
		"both ways":             func(w *faultyNetwork) { w.set(&w.mute[up], true); w.set(&w.mute[down], true) },
		"to the coordinator":    func(w *faultyNetwork) { w.set(&w.mute[up], true) },
		"to the worker":         func(w *faultyNetwork) { w.set(&w.mute[down], true) },
		"reset, and then none":  func(w *faultyNetwork) { w.set(&w.closed, true); w.reset() },
		"none, and then a mute": func(w *faultyNetwork) { w.set(&w.mute[up], true); w.reset() },
	} {
		t.Run(name, func(t *testing.T) {
			onNetwork(t, func(n *network) {
				bad := &faultyNetwork{}
				endBad, _ := n.startWorker(n.over(bad, "cut"), forever)
				n.create(1)
				<-time.After(time.Minute)
				require.Equal(t, "cut-1", n.holder())
				endGood, _ := n.startWorker(n.over(&faultyNetwork{}, "good"), forever)
				cut(bad)
				<-time.After(heartbeat + sessionLost + 1)
				require.Empty(t, n.state("cut-1"), "it is lost")
				<-time.After(time.Second)
				require.Equal(t, "good-1", n.holder())

				bad.set(&bad.closed, false)
				bad.set(&bad.mute[up], false)
				bad.set(&bad.mute[down], false)
				<-time.After(time.Minute)
				require.NotEmpty(t, n.state("cut-2"), "it is back, as a new session")
				require.NoError(t, endBad())
				require.NoError(t, endGood())
			})
		})
	}
}

func TestADrainIsHeardOverTheGate(t *testing.T) {
	onNetwork(t, func(n *network) {
		_, ended := n.startWorker(n.over(&faultyNetwork{latency: time.Second}, "far"), forever)
		n.create(1)
		<-time.After(time.Minute)
		require.Equal(t, "far-1", n.holder())
		began := time.Now()
		require.NoError(t, status.Drain(n.Context(), n.repo, "far-1"))
		require.NoError(t, <-ended)
		require.Less(t, time.Since(began), 40*time.Second)
		require.Empty(t, n.state("far-1"))
		require.Empty(t, n.holder())
		i, err := task.Client{Repo: n.repo}.Claim(n.Context(), "act")
		require.NoError(t, err)
		require.Zero(t, i.Attempts, "it was handed back")
		require.ErrorIs(t, status.Drain(n.Context(), n.repo, "far-1"), fault.ErrNotFound)
	})
}

// skewed is a connection of a worker whose wall clock is off: every time of day that
// leaves it is.
type skewed struct {
	space.Conn
	by    time.Duration
	times atomic.Int64
}

var timeOfDay = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)

func (s *skewed) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	r.Tuple, r.Args = s.skew(r.Tuple), s.skew(r.Args)
	return s.Conn.Do(ctx, r)
}

func (s *skewed) skew(t tuple.Tuple) tuple.Tuple {
	off := make(tuple.Tuple, len(t))
	for i, f := range t {
		switch v := f.(type) {
		case tuple.Tuple:
			f = s.skew(v)
		case string:
			f = timeOfDay.ReplaceAllStringFunc(v, func(text string) string {
				at, err := time.Parse(time.RFC3339Nano, text)
				if err != nil {
					return text
				}
				s.times.Add(1)
				return at.Add(s.by).Format(time.RFC3339Nano)
			})
		}
		off[i] = f
	}
	return off
}

func TestAWorkersClockThatIsAnHourOffChangesNothing(t *testing.T) {
	for _, by := range []time.Duration{-time.Hour, time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			onNetwork(t, func(n *network) {
				var conn *skewed
				working := handlerFunc(func(ctx context.Context, job worker.Job) error {
					require.NoError(t, job.Report(ctx, "first", json.RawMessage(`{"at":"2000-01-01T00:00:00Z"}`)))
					<-ctx.Done()
					return ctx.Err()
				})
				end, _ := n.startWorker(func(ctx context.Context) (space.Repository, error) {
					c, err := n.engine.Connect(ctx, "off", sessionLost)
					conn = &skewed{Conn: c, by: by}
					return space.Over(conn), err
				}, working)
				n.create(1)
				<-time.After(9 * time.Minute)
				require.Equal(t, "off", n.holder(), "it lives, and holds its task")
				<-time.After(time.Minute - time.Second)
				require.Equal(t, "off", n.holder())
				<-time.After(2 * time.Second)
				require.Empty(t, n.holder(), "its task timed out when it should")
				require.NotEmpty(t, n.state("off"))
				require.Greater(t, conn.times.Load(), int64(1))
				require.NoError(t, end())
			})
		})
	}
}
