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
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/process/datadir"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
	"leasehold/shared/tuple"
)

// An attack goes on until ctx ends. It keeps what it has opened until then.
type attack struct {
	name string
	run  func(ctx context.Context, f *floodFixture)
}

var attacks = []attack{
	{"blocked_gets", attackWithWaiters},
	{"large_tuples", attackWithTuples(4, tuple.New("large", make([]byte, 900_000)))},
	{"small_tuples", attackWithTuples(64, tuple.New("small", int64(1)))},
	{"new_sessions", attackWithSessions},
	{"requests_of_one_byte_a_second", attackWithSockets(300, "POST /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")},
	{"headers_of_one_byte_a_second", attackWithSockets(300, "POST /api/v1/tasks HTTP/1.1\r\nHost: ")},
	{"followers_of_the_page", attackWithSockets(300, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")},
}

// largePuts is a flood of BenchmarkAnotherSession. What it puts it takes again.
var largePuts = attack{"puts_of_200_kB", func(ctx context.Context, f *floodFixture) {
	s, large := f.dial("client").repo.Space("flood"), tuple.New("large", make([]byte, 200_000))
	f.repeat(ctx, 64, func() error {
		if err := s.PutP(ctx, large, 0); err != nil {
			return err
		}
		_, _, err := s.GetP(ctx, tuple.Match("large", tuple.Formal{Type: tuple.Bytes}))
		return err
	})
}}

// repeat runs do in so many goroutines, repeatedly until ctx ends.
func (f *floodFixture) repeat(ctx context.Context, goroutines int, do func() error) {
	var running sync.WaitGroup
	for range goroutines {
		running.Go(func() {
			for ctx.Err() == nil {
				if err := do(); err != nil && ctx.Err() == nil && !errors.Is(err, fault.ErrOverloaded) {
					f.Log(err)
					return
				}
			}
		})
	}
	running.Wait()
}

func attackWithTuples(calls int, t tuple.Tuple) func(context.Context, *floodFixture) {
	return func(ctx context.Context, f *floodFixture) {
		s := f.dial("client").repo.Space("flood")
		f.repeat(ctx, calls, func() error { return s.PutP(ctx, t, 0) })
	}
}

// attackWithWaiters has 20,000 calls wait, which is more than fit. A refused call is repeated after a second.
func attackWithWaiters(ctx context.Context, f *floodFixture) {
	var clients []*floodClient
	for range 20 {
		clients = append(clients, f.dial("client"))
	}
	var running sync.WaitGroup
	for _, c := range clients {
		running.Go(func() {
			f.repeat(ctx, 1000, func() error {
				_, err := c.repo.Space("flood").Get(ctx, tuple.Match("never"))
				select {
				case <-ctx.Done():
				case <-time.After(time.Second):
				}
				return err
			})
		})
	}
	running.Wait()
}

func attackWithSessions(ctx context.Context, f *floodFixture) {
	f.repeat(ctx, 32, func() error {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", f.at.Gate)
		if err != nil {
			return err
		}
		defer c.Close()
		return greet(c, remote.SessionID("flood"))
	})
}

// attackWithSockets sends the beginning of a request over each socket, and then one byte a second. Another
// socket replaces each closed one.
func attackWithSockets(sockets int, head string) func(context.Context, *floodFixture) {
	return func(ctx context.Context, f *floodFixture) {
		f.repeat(ctx, sockets, func() error {
			c, err := (&net.Dialer{}).DialContext(ctx, "tcp", f.at.HTTP)
			if err != nil {
				return err
			}
			defer c.Close()
			defer context.AfterFunc(ctx, func() { _ = c.Close() })()
			_, err = c.Write([]byte(head))
			for received := make([]byte, 4096); err == nil; {
				_ = c.SetReadDeadline(time.Now().Add(time.Second))
				_, err = c.Read(received)
				if isTimeout(err) {
					_, err = c.Write([]byte("x"))
				}
			}
			return nil // closed by the coordinator
		})
	}
}

func isTimeout(err error) bool {
	timeout := net.Error(nil)
	return errors.As(err, &timeout) && timeout.Timeout()
}

// p99 repeats a call for a while, and returns the 99th percentile of its duration.
func p99(b *testing.B, during time.Duration, call func() error) time.Duration {
	var all []time.Duration
	for end := time.Now().Add(during); time.Now().Before(end); {
		began := time.Now()
		require.NoError(b, call())
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	return all[len(all)*99/100]
}

// The test binary is the attacker, in a process of its own, if these are set.
var (
	attackName = flag.String("attack", "", "attack the coordinator at -attack.gate and -attack.http in this way")
	attackGate = flag.String("attack.gate", "", "address")
	attackHTTP = flag.String("attack.http", "", "address")
)

// startAttacker starts this test binary as an attacker with a priority of the scheduler, and
// returns what ends it.
func (f *floodFixture) startAttacker(name, nice string) (stop func()) {
	args := []string{"-n", nice, os.Args[0], "-test.run", "^$", "-test.bench", "^BenchmarkBesideAttacks$", "-test.benchtime", "1x",
		"-attack", name, "-attack.gate", f.at.Gate, "-attack.http", f.at.HTTP}
	c := exec.Command("nice", args...)
	require.NoError(f, c.Start())
	return sync.OnceFunc(func() { _ = c.Process.Kill(); _ = c.Wait() })
}

// attackOnly attacks until the process is killed.
func attackOnly(b *testing.B) {
	f := &floodFixture{TB: b, coordinatorProcess: &coordinatorProcess{at: datadir.Addresses{Gate: *attackGate, HTTP: *attackHTTP}}}
	for _, x := range append(slices.Clone(attacks), largePuts) {
		if x.name == *attackName {
			x.run(b.Context(), f)
		}
	}
}

// BenchmarkBesideAttacks measures, alone and beside each attack on a coordinator in a cgroup of
// 512 MiB, the 99th percentile of a worker that extends its task, which is a write to the disk,
// and that of a client that reads the totals over HTTP. The ratios are of one run. The attacker is a
// process of its own on the same processors; with nice 19 it gets only what the coordinator and the
// clients leave, as an attacker on another machine would.
//
//	go test ./cmd -run '^$' -bench BesideAttacks -benchtime 1x
func BenchmarkBesideAttacks(b *testing.B) {
	if *attackName != "" {
		attackOnly(b)
		return
	}
	for _, x := range attacks {
		b.Run(x.name, func(b *testing.B) {
			for b.Loop() {
				measureBeside(b, x)
			}
		})
	}
}

func measureBeside(b *testing.B, x attack) {
	const alone, beside = 5 * time.Second, 5 * time.Second
	f := startFlooded(b)
	admin, worker := f.dial("manager"), task.Client{Repo: f.dial("worker").repo}
	require.NoError(b, admin.repo.Create(b.Context(), "flood", space.Options{}))
	_, err := worker.Create(b.Context(), models.Task{Action: "dig", Subject: "site", Timeout: 600}, 0)
	require.NoError(b, err)
	i, err := worker.Claim(b.Context(), "dig")
	require.NoError(b, err)
	healthy := map[string]func() error{
		"worker": func() error { return worker.Extend(b.Context(), i) },
		"http": func() error {
			answer, err := http.Get("http://" + f.at.HTTP + "/api/v1/totals")
			if err != nil {
				return err
			}
			defer answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				return fmt.Errorf("status %s", answer.Status)
			}
			return nil
		},
	}
	before := map[string]time.Duration{}
	for name, call := range healthy {
		before[name] = p99(b, alone, call)
		b.ReportMetric(float64(before[name].Microseconds())/1000, name+"-alone-ms-p99")
	}
	for _, nice := range []string{"0", "19"} {
		stop := f.startAttacker(x.name, nice)
		b.Cleanup(stop)
		<-time.After(2 * time.Second) // it has begun
		for name, call := range healthy {
			crowded := p99(b, beside, call)
			b.ReportMetric(float64(crowded.Microseconds())/1000, name+"-ms-p99-nice"+nice)
			b.ReportMetric(float64(crowded)/float64(before[name]), name+"-of-alone-nice"+nice)
		}
		stop()
	}
	b.ReportMetric(residentMB(b, "VmHWM", f.cmd.Process.Pid), "MB-resident")
	b.ReportMetric(0, "ns/op")
}
