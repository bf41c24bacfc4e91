//go:build browser && linux

package drill

import (
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/models"
)

// waiting is a script of a task that does not end.
const waiting = "exec sleep 600"

var workerFaults = []fault{
	{cause: models.CauseLost, begin: func(r *rig) {
		p := r.worker("dig", waiting)
		id := r.create("dig")
		r.awaitState(id, "claimed")
		r.worker("dig", waiting)
		r.lose(p)
	}},
	{alone: true, cause: models.CauseSuspect, begin: func(r *rig) {
		p := r.worker("dig", waiting)
		id := r.create("dig")
		for range 2 {
			r.awaitState(id, "claimed")
			next := r.worker("dig", waiting)
			r.lose(p)
			p = next
		}
	}},
	{
		cause: models.CauseOwnFault,
		begin: func(r *rig) {
			r.worker("convert", "cat")
			scripts, err := filepath.Glob(filepath.Join(r.dir, "convert-*.sh"))
			require.NoError(r, err)
			require.Len(r, scripts, 1)
			require.NoError(r, os.Remove(scripts[0]))
			r.create("convert")
		},
	},
	{alone: true, cause: models.CauseClocks, begin: func(r *rig) {
		r.more = []string{"CLOCK_OFFSET=" + r.write("offset", "1h")}
		r.worker("mail", "cat")
	}},
	{cause: models.CauseVersions, begin: func(r *rig) {
		older := filepath.Join(r.dir, "older")
		require.NoError(r, binary.Build(older, "-ldflags", "-X leasehold/shared/process/build.commit=000000000000"))
		r.start(older, "worker", "--actions", "", "--exec", "mail="+r.script("mail", "cat"))
	}},
}

// lose kills a worker and waits until its session is lost.
func (r *rig) lose(p *binary.Process) {
	r.Helper()
	n := r.workers("dig")
	p.Kill()
	binary.Eventually(r.T, "the session is lost", func() bool { return r.workers("dig") < n })
}
