package node

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/config"
	"leasehold/shared/space"
	"leasehold/shared/space/spacetest"
)

// TestAFleetWhoseSpacesRefuseCallsFindsTheSame runs a coordinator, a manager and two workers on the example. Each of
// their connections refuses the first call of each kind, and then every fifth call.
func TestAFleetWhoseSpacesRefuseCallsFindsTheSame(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load(nil)
	require.NoError(t, err)
	cfg.Data, cfg.Workers, cfg.Journal = t.TempDir(), 2, config.JournalMemory
	d, err := OpenDataDir(t.Context(), cfg, discard)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	var connections atomic.Int32
	d.decorate = func(c space.Conn) space.Conn { connections.Add(1); return spacetest.Refuse(c, 5) }
	origins, err := DetectOrigins([]string{"../examples/podcast"}, "")
	require.NoError(t, err)
	require.NoError(t, d.AddOrigins(t.Context(), origins, true))
	require.NoError(t, d.VisitNow(t.Context(), origins, true))
	require.NoError(t, RunLocal(t.Context(), d, func(ctx context.Context, l *Local) error {
		for again := time.NewTicker(50 * time.Millisecond); ; <-again.C {
			if idle, err := l.Idle(ctx); err != nil || idle {
				return err
			}
		}
	}))
	totals, err := d.Catalog.Totals(t.Context())
	require.NoError(t, err)
	require.Equal(t, 24, totals.Findings)
	require.Zero(t, totals.Problems)
	require.EqualValues(t, 6, connections.Load(), "of the coordinator, its log, the run, the manager and both workers: none was lost")
}
