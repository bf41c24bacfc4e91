package node

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/manager"
	"leasehold/models"
	"leasehold/shared/space"
	"leasehold/shared/visit"
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
	const drain, grace = 30 * time.Second, 10 * time.Second
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
						if when == "there" || mode == "worker" {
							require.NoError(t, err)
						}
					})
				})
			}
		}
	}
}
