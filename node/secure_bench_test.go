//go:build unix

package node

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/config"
	"leasehold/shared/identity"
	"leasehold/shared/process/datadir"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
	"leasehold/shared/space/wire"
	"leasehold/shared/tuple"
	"leasehold/worker"
)

// benched is a coordinator of a benchmark, which may authenticate its clients.
type benched struct {
	*testing.B
	cfg  config.Config
	stop func()
	ca   identity.Fingerprint
	// certificate of a worker, and token of an administrator; without authentication there are none
	certificate *tls.Certificate
	token       string
}

func newBenched(b *testing.B, auth bool) *benched {
	cfg, err := config.Load(nil)
	require.NoError(b, err)
	cfg.Data, cfg.Listen, cfg.HTTP, cfg.Auth = b.TempDir(), freePort(b), freePort(b), auth
	cfg.QuotaExempt = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	s := &benched{B: b, cfg: cfg}
	s.start()
	if auth {
		s.join()
	}
	return s
}

func freePort(b *testing.B) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	require.NoError(b, l.Close())
	return l.Addr().String()
}

// start starts the coordinator, until stop.
func (s *benched) start() {
	ctx, stop := context.WithCancel(context.Background())
	listening, ended := make(chan datadir.Addresses, 1), make(chan error, 1)
	go func() { ended <- RunCoordinator(ctx, s.cfg, discard, func(at datadir.Addresses) { listening <- at }) }()
	if at := <-listening; at.CA != "" {
		var err error
		s.ca, err = identity.ParseFingerprint(at.CA)
		require.NoError(s, err)
	}
	s.stop = func() { stop(); require.NoError(s, <-ended) }
}

// join gets the token, and a certificate.
func (s *benched) join() {
	token, err := os.ReadFile(filepath.Join(s.cfg.Data, identityDir, datadir.TokenFile))
	require.NoError(s, err)
	s.token = strings.TrimSpace(string(token))
	api, err := client.NewWith("http://"+s.cfg.HTTP, client.Options{Token: s.token})
	require.NoError(s, err)
	defer api.Close()
	invite, err := api.CreateInvite(s.Context(), types.NewInvite{Role: "worker"})
	require.NoError(s, err)
	line, err := identity.ParseLine(invite.Join)
	require.NoError(s, err)
	key, err := identity.LoadOrCreateKey("")
	require.NoError(s, err)
	csr, err := identity.Request(key)
	require.NoError(s, err)
	joined, err := api.Join(s.Context(), types.NewJoin{Invite: line.ID, Secret: line.Secret.Reveal(), Request: csr})
	require.NoError(s, err)
	s.certificate, err = identity.NewCertificate(joined.Chain, key)
	require.NoError(s, err)
}

// tls returns the configuration of a worker; nil without authentication.
func (s *benched) tls() *tls.Config {
	if s.certificate == nil {
		return nil
	}
	return identity.ClientConfig(s.ca, func() *tls.Certificate { return s.certificate }, time.Now)
}

// session opens a session of a worker, or of a client with the token.
func (s *benched) session(mode string) *remote.Conn {
	c := remote.Config{Address: s.cfg.Listen, Mode: mode, Session: remote.SessionID(mode), TTL: time.Minute, TLS: s.tls(), Log: discard}
	if mode == "client" {
		c.Token = s.token
	}
	conn, err := remote.Dial(s.Context(), c)
	require.NoError(s, err)
	return conn
}

// counted is a handler that counts its tasks, and closes done after the last one.
type counted struct {
	left atomic.Int64
	done chan struct{}
}

func (c *counted) Handle(context.Context, worker.Job) error {
	if c.left.Add(-1) == 0 {
		close(c.done)
	}
	return nil
}

// cycles creates tasks, which a worker with eight slots does, and returns the time on the clock and of the processors.
func (s *benched) cycles(tasks int) (elapsed, processors time.Duration) {
	h := &counted{done: make(chan struct{})}
	h.left.Store(int64(tasks))
	producer := space.Over(s.session("client"))
	defer producer.Close(context.Background())
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		err := worker.Run(ctx, func(context.Context) (space.Repository, error) { return space.Over(s.session("worker")), nil },
			worker.Config{Handlers: map[string]worker.Handler{"count": h}, Slots: 8, Heartbeat: 2 * time.Second, Drain: 10 * time.Second, Grace: time.Second, Log: discard})
		if err != nil {
			s.Error(err)
		}
	})
	began, used := time.Now(), processorTime(s.B)
	for range 8 {
		running.Go(func() {
			for range tasks / 8 {
				if _, err := (task.Client{Repo: producer}).Create(ctx, models.Task{Action: "count", Timeout: 60}, 0); err != nil {
					s.Error(err)
					return
				}
			}
		})
	}
	<-h.done
	elapsed, processors = time.Since(began), processorTime(s.B)-used
	stop()
	running.Wait()
	return elapsed, processors
}

// BenchmarkSecureTasks compares whole cycles of tasks (create, claim, resolve) at a durable coordinator, of a worker with
// eight slots, with and without authentication, in turns. Coordinator, worker and producer are one process.
//
//	go test ./node -run '^$' -bench SecureTasks -benchtime 1x
func BenchmarkSecureTasks(b *testing.B) {
	const tasks, rounds = 1_000, 6
	plain, secure := newBenched(b, false), newBenched(b, true)
	defer plain.stop()
	defer secure.stop()
	for b.Loop() {
		var elapsed, processors [2]time.Duration
		for range rounds {
			for i, s := range []*benched{plain, secure} {
				e, p := s.cycles(tasks)
				elapsed[i] += e
				processors[i] += p
			}
		}
		b.ReportMetric(elapsed[1].Seconds()/elapsed[0].Seconds(), "times-as-long")
		b.ReportMetric(processors[1].Seconds()/processors[0].Seconds(), "times-cpu")
		b.ReportMetric(tasks*rounds/elapsed[1].Seconds(), "tasks/s")
	}
}

// BenchmarkSecureConnections measures what connected workers that send nothing take of the memory of a coordinator, with
// and without authentication.
//
//	go test ./node -run '^$' -bench SecureConnections -benchtime 1x
func BenchmarkSecureConnections(b *testing.B) {
	for b.Loop() {
		var each [2]float64
		for i, auth := range []bool{false, true} {
			s := newBenched(b, auth)
			each[i] = s.idle(1_500)
			s.stop()
		}
		b.ReportMetric(each[0], "B/plain")
		b.ReportMetric(each[1], "B/secure")
		b.ReportMetric(each[1]-each[0], "B/TLS")
	}
}

// idle opens sessions, and returns the bytes that each takes. Of the clients only the bare connections are kept.
func (s *benched) idle(sessions int) float64 {
	used := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc + m.StackInuse)
	}
	const warm = 200 // sessions, after which the coordinator has what it needs for all
	var before float64
	kept := make([]net.Conn, warm+sessions)
	for n := range kept {
		if n == warm {
			before = used()
		}
		var err error
		kept[n], err = net.Dial("tcp", s.cfg.Listen)
		require.NoError(s, err)
		s.greet(kept[n], n)
	}
	each := (used() - before) / float64(sessions)
	for _, c := range kept {
		_ = c.Close()
	}
	return each
}

// greet opens a session over a connection, with TLS if the coordinator authenticates.
func (s *benched) greet(c net.Conn, n int) {
	if config := s.tls(); config != nil {
		secured := tls.Client(c, config)
		require.NoError(s, secured.Handshake())
		c = secured
	}
	hello := wire.Hello{Session: fmt.Sprint("worker-", n), Mode: "worker", Key: []byte("0123456789abcdef"), TTL: time.Minute}
	require.NoError(s, wire.Send(c, wire.AppendPreamble(nil), wire.Frame{Kind: wire.Greeting, Body: wire.AppendHello(nil, hello)}))
	_, err := c.Read(make([]byte, 5))
	require.NoError(s, err)
}

// BenchmarkSecureHerd restarts a coordinator under a thousand workers, and measures until all are connected again. They
// cannot resume their sessions of TLS, because a new process has other keys for that. All are in one process.
//
//	go test ./node -run '^$' -bench SecureHerd -benchtime 1x
func BenchmarkSecureHerd(b *testing.B) {
	const workers = 1_000
	for name, auth := range map[string]bool{"plain": false, "secure": true} {
		b.Run(name, func(b *testing.B) {
			s := newBenched(b, auth)
			conns := make([]*remote.Conn, workers)
			for n := range conns {
				conns[n] = s.session("worker")
			}
			for b.Loop() {
				s.stop()
				began, used := time.Now(), processorTime(b)
				s.start()
				var back sync.WaitGroup
				for _, c := range conns {
					back.Go(func() {
						if _, err := space.Over(c).Space("status").Count(b.Context(), tuple.Match(tuple.AnyInt64)); err != nil {
							b.Error(err)
						}
					})
				}
				back.Wait()
				b.ReportMetric(time.Since(began).Seconds(), "s")
				b.ReportMetric((processorTime(b) - used).Seconds(), "cpu-s")
			}
			for _, c := range conns {
				_ = space.Over(c).Close(context.Background())
			}
			s.stop()
		})
	}
}

// processorTime returns the CPU time of this process so far.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
