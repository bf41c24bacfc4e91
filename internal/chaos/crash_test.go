//go:build linux

package chaos

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// points returns the names of the failpoints in the source of the given folders.
func points(t *testing.T, folders ...string) (all []string) {
	t.Helper()
	call := regexp.MustCompile(`failpoint\.Reached\("([^"]+)"`)
	for _, folder := range folders {
		require.NoError(t, filepath.WalkDir(filepath.Join("../..", folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range call.FindAllSubmatch(text, -1) {
				all = append(all, string(m[1]))
			}
			return err
		}))
	}
	require.NotEmpty(t, all)
	return all
}

// shortTTLs are settings under which all timers fire within seconds.
var shortTTLs = append([]string{"LEASEHOLD_QUEUE_TTL=2s", "LEASEHOLD_LEASE_TTL=3s"}, fastDetection...)

// steps are the operations that must be durable before they are answered.
var steps = []string{"put", "getp", "ack", "task.claim", "task.next", "task.report", "task.release", "work.issue", "work.next", "work.ingested",
	"lease.grant", "lease.extend", "lease.revoke"}

// TestWhatClientsWereToldStaysTrueWhateverMomentTheCoordinatorDiesAt kills the
// coordinator under traffic, at each failpoint of the engine, its journal and the gate,
// and then at random for chaos.time.
func TestWhatClientsWereToldStaysTrueWhateverMomentTheCoordinatorDiesAt(t *testing.T) {
	t.Parallel()
	seed := newSeed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	h := newFixture(t, shortTTLs...)
	h.mustStart()
	x := startTraffic(t, h, seed)
	defer x.stopTraffic()
	killPoints := killPointsOf(t, r)
	after(300 * time.Millisecond)
	for _, n := range r.Perm(len(killPoints)) {
		h.Kill()
		crashAt(t, h, killPoints[n], hitToKill(r, killPoints[n]))
	}
	crashes := len(killPoints)
	for end := time.Now().Add(*timeFlag); time.Now().Before(end) && !t.Failed(); crashes++ {
		h.Kill()
		if r.IntN(2) == 0 {
			h.start(fmt.Sprintf("%s:%d", killPoints[r.IntN(len(killPoints))], 1+r.IntN(200)))
		} else {
			h.mustStart()
		}
		h.WaitEnd(time.Duration(r.IntN(400)) * time.Millisecond)
	}
	h.Kill()
	h.mustStart()
	t.Logf("%d crashes", crashes)
	x.stopTraffic()
	if !t.Failed() {
		x.check()
	}
}

// hitToKill returns the number of the hit at which to kill; rare failpoints kill at the
// first.
func hitToKill(r *rand.Rand, killPoint string) int {
	for _, often := range []string{"call.", "reply.", "commit.", "expiry."} {
		if strings.HasPrefix(killPoint, often) {
			return 1 + r.IntN(4)
		}
	}
	return 1
}

// killPointsOf returns the failpoints of the engine, its journal and the gate, and the
// steps of single operations and files. Without much time it returns only some of the
// steps.
func killPointsOf(t *testing.T, r *rand.Rand) []string {
	const some = 25
	points, steps := points(t, "shared/space", "coordinator/gate"), stepKillPoints()
	r.Shuffle(len(steps), func(i, k int) { steps[i], steps[k] = steps[k], steps[i] })
	if *timeFlag < time.Minute {
		steps = steps[:some]
	}
	return append(points, steps...)
}

func stepKillPoints() (all []string) {
	for _, step := range steps {
		all = append(all, "call.before/"+step, "call.after/"+step, "reply.after/"+step)
	}
	for _, file := range []string{"log", "table", "index"} {
		for _, step := range []string{"append.before", "append.after", "sync.before", "sync.after"} {
			all = append(all, step+"/"+file)
		}
	}
	return append(all, "remove.before/log", "remove.after/log")
}

// crashAt starts coordinators until one is killed at killPoint, because not every run
// flushes its journal or merges tables.
func crashAt(t *testing.T, h *fixture, killPoint string, hit int) {
	t.Helper()
	const starts = 20
	for n := range starts { // each start waits longer, because the machine may be slow
		h.start(fmt.Sprintf("%s:%d", killPoint, hit))
		if h.WaitEnd(time.Duration(n+1) * 500 * time.Millisecond) {
			require.Truef(t, h.Killed(), "at %s: %v\n%s", killPoint, h.Err(), h.Output())
			return
		}
		h.Kill()
		hit = 1
	}
	require.FailNowf(t, "the failpoint is not reached", "%s, in %d starts", killPoint, starts)
}
