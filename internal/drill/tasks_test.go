//go:build browser && linux

package drill

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/models"
)

var taskFaults = []fault{
	{cause: models.CauseNoWorker, begin: func(r *rig) { r.create("transcode") }},
	{cause: models.CausePaused, begin: func(r *rig) {
		r.worker("mail", "cat")
		r.run("task", "pause", "mail", "--reason", "the server moves")
		r.create("mail")
	}},
	{
		cause: models.CauseDead,
		begin: func(r *rig) {
			broken := r.write("broken", "")
			r.worker("resize", fmt.Sprintf("[ ! -e %s ] || { echo no space on /mnt/thumbs >&2; exit 1; }", broken))
			for range 3 {
				r.awaitState(r.create("resize", "--max-attempts", "1"), "dead")
			}
		},
		repair: func(r *rig) { require.NoError(r, os.Remove(filepath.Join(r.dir, "broken"))) },
	},
	{alone: true, cause: models.CauseSlow, begin: func(r *rig) {
		const ended = 20 // from so many on the cause counts
		r.worker("report", `read -r how; [ "$how" != '"slow"' ] || exec sleep 600`)
		for range ended {
			r.awaitState(r.create("report", `"fast"`), "resolved")
		}
		r.awaitState(r.create("report", `"slow"`, "--timeout", "1h"), "claimed")
		pass(time.Minute)
	}},
	{cause: models.CauseRunsLeft, begin: func(r *rig) {
		r.worker("poll", "exec sleep 600")
		r.run("schedule", "add", "poll", "poll", "--every", "1s", "--overlap", "skip")
		binary.Eventually(r.T, "a run is left out", func() bool { return r.skipped("poll") })
	}},
}

// skipped reports whether a schedule has left out a run.
func (r *rig) skipped(name string) bool {
	r.Helper()
	var s struct{ Note string }
	said := r.run("schedule", "show", name, "--json")
	require.NoError(r, json.Unmarshal([]byte(said), &s), said)
	return s.Note != ""
}
