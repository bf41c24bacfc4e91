package node

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/manager"
	"leasehold/models"
	"leasehold/shared/config"
	"leasehold/shared/process/datadir"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
)

// visiting is a flow whose visits last until their context ends.
type visiting struct{}

func (visiting) Visit(ctx context.Context, _ models.Visit) (models.Outcome, error) {
	<-ctx.Done()
	return models.Outcome{}, ctx.Err()
}

func (visiting) Run(ctx context.Context, _ space.Repository) error { <-ctx.Done(); return nil }

// startManager runs a manager; end stops it and returns what Run did.
func (n *network) startManager(connect func(context.Context) (space.Repository, error)) (end func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	n.running.Go(func() {
		ended <- manager.Run(ctx, connect, manager.Config{
			Flows: map[models.FlowName]manager.Flow{models.ArchiveFlow: visiting{}}, Heartbeat: heartbeat, Grace: 10 * time.Second, Log: discard,
		})
	})
	return func() error { cancel(); return <-ended }
}

// A manager or worker is stopped while it is idle, works or visits, and while its
// coordinator answers, is gone, or goes a second later.
func TestAStopEndsWithinDrainAndGrace(t *testing.T) {
	const drain, grace, awayLimit = 30 * time.Second, 10 * time.Second, 3 * time.Second // a call that is cancelled, the last line of the log, the end of the session
	modes := map[string]struct {
		busy  func(n *network)
		start func(n *network, w *faultyNetwork) (end func() error)
		limit time.Duration
	}{
		"worker": {
			func(n *network) { n.create(3) },
			func(n *network, w *faultyNetwork) func() error {
				end, _ := n.startWorker(n.over(w, "x"), forever)
				return end
			},
			drain + grace,
		},
		"manager": {
			func(n *network) {
				o := models.Origin{ID: "o1", Kind: models.Media, URI: "/x"}
				require.NoError(n, visit.Client{Repo: n.repo}.Put(n.Context(), models.Visit{ID: "v1", Origin: o}))
			},
			func(n *network, w *faultyNetwork) func() error { return n.startManager(n.over(w, "x")) },
			grace,
		},
	}
	gone := map[string]func(w *faultyNetwork){
		"there":           func(*faultyNetwork) {},
		"gone":            func(w *faultyNetwork) { w.set(&w.closed, true); w.reset() },
		"silent":          func(w *faultyNetwork) { w.set(&w.mute[up], true); w.set(&w.mute[down], true) },
		"gone in 1 s":     func(w *faultyNetwork) { time.AfterFunc(time.Second, func() { w.set(&w.closed, true); w.reset() }) },
		"gone since 20 s": func(w *faultyNetwork) { w.set(&w.closed, true); w.reset(); <-time.After(20 * time.Second) },
	}
	for mode, m := range modes {
		for _, busy := range []bool{false, true} {
			for when, cut := range gone {
				t.Run(mode+map[bool]string{false: " idle", true: " busy"}[busy]+", coordinator "+when, func(t *testing.T) {
					onNetwork(t, func(n *network) {
						w := &faultyNetwork{}
						end := m.start(n, w)
						if busy {
							m.busy(n)
						}
						<-time.After(10 * time.Second)
						cut(w)
						began := time.Now()
						err := end()
						require.LessOrEqual(t, time.Since(began), m.limit)
						if !busy && strings.HasPrefix(when, "gone") {
							require.LessOrEqual(t, time.Since(began), awayLimit, "nothing has to reach the coordinator")
						}
						if when == "there" || mode == "worker" {
							require.NoError(t, err)
						}
					})
				})
			}
		}
	}
}

// peers are a worker and a manager of a coordinator, over connections that can be cut.
type peers struct {
	*testing.T
	gate string

	mu    sync.Mutex // guards what follows
	gone  bool
	conns []net.Conn
}

// cut closes the connections, and refuses new ones.
func (p *peers) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
	for _, c := range p.conns {
		_ = c.Close()
	}
}

// open opens a session of a mode.
func (p *peers) open(mode string) space.Repository {
	c, err := remote.Dial(p.Context(), remote.Config{
		Address: p.gate, Mode: mode, Session: remote.SessionID(mode), TTL: sessionLost, Log: discard,
		Dial: func(ctx context.Context, address string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
			if err != nil {
				return nil, err
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.gone {
				return nil, errors.Join(io.ErrClosedPipe, c.Close())
			}
			p.conns = append(p.conns, c)
			return c, nil
		},
	})
	require.NoError(p, err)
	repo := space.Over(c)
	p.Cleanup(func() {
		p.cut()
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = repo.Close(ended) // it is gone
	})
	return repo
}

// A coordinator is stopped while its managers and workers are idle, work or visit, and while
// they are there, gone, or go a second later.
func TestAStopOfTheCoordinatorEndsWithinDrainAndGrace(t *testing.T) {
	t.Parallel()
	const limit = 40 * time.Second
	doing := map[string]func(t *testing.T, worker, manager space.Repository){
		"idle": func(*testing.T, space.Repository, space.Repository) {},
		"busy": func(t *testing.T, worker, _ space.Repository) {
			client := task.Client{Repo: worker}
			_, err := client.Create(t.Context(), models.Task{Action: "act", Subject: "s", Timeout: 600}, 0)
			require.NoError(t, err)
			_, err = client.Claim(t.Context(), "act")
			require.NoError(t, err)
		},
		"visiting": func(t *testing.T, _, manager space.Repository) {
			client := visit.Client{Repo: manager}
			require.NoError(t, client.Put(t.Context(), models.Visit{ID: "v1", Origin: models.Origin{ID: "o1", Kind: models.Media, URI: "/x"}}))
			_, err := client.Take(t.Context())
			require.NoError(t, err)
		},
	}
	for what, do := range doing {
		for when, cut := range map[string]func(p *peers){
			"there": func(*peers) {},
			"gone":  (*peers).cut,
			"gone in 1 s": func(p *peers) {
				timer := time.AfterFunc(time.Second, p.cut)
				p.Cleanup(func() { timer.Stop() })
			},
		} {
			t.Run(what+", managers and workers "+when, func(t *testing.T) {
				t.Parallel()
				cfg, err := config.Load(nil)
				require.NoError(t, err)
				cfg.Data, cfg.Listen, cfg.HTTP = t.TempDir(), "127.0.0.1:0", "127.0.0.1:0"
				ctx, stop := context.WithCancel(context.Background())
				defer stop()
				listening, ended := make(chan string, 1), make(chan error, 1)
				go func() {
					ended <- RunCoordinator(ctx, cfg, discard, func(at datadir.Addresses) { listening <- at.Gate })
				}()
				p := &peers{T: t, gate: <-listening}
				worker, manager := p.open(config.Worker), p.open(config.Manager)
				do(t, worker, manager)
				waits, cancel := context.WithCancel(context.Background())
				var waiting sync.WaitGroup
				waiting.Go(func() { _, _ = task.Client{Repo: worker}.Claim(waits, "never") })
				cut(p)
				began := time.Now()
				stop()
				require.NoError(t, <-ended)
				require.LessOrEqual(t, time.Since(began), limit)
				cancel()
				waiting.Wait()
			})
		}
	}
}
