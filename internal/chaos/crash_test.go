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

// points returns the failpoints of the source, in the folders given.
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

// settings under which everything that is timed happens within seconds.
var hasty = append([]string{"LEASEHOLD_QUEUE_TTL=2s", "LEASEHOLD_LEASE_TTL=3s"}, quick...)

// steps are moments of single operations that must be durable before they are
// answered.
var steps = []string{"put", "getp", "ack", "task.claim", "task.report", "task.release", "work.issue", "work.next", "work.ingested",
	"lease.grant", "lease.extend", "lease.revoke"}

// TestWhatClientsWereToldStaysTrueWhateverMomentTheCoordinatorDiesAt kills the
// coordinator under traffic, at each failpoint of the engine, its journal and the
// gate, and then at random until the time is over.
func TestWhatClientsWereToldStaysTrueWhateverMomentTheCoordinatorDiesAt(t *testing.T) {
	t.Parallel()
	seed := newSeed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	h := newHouse(t, hasty...)
	h.mustStart()
	x := startTraffic(t, h, seed)
	defer x.halt()
	moments := moments(t, r)
	after(300 * time.Millisecond)
	for _, n := range r.Perm(len(moments)) {
		h.kill()
		crashAt(t, h, moments[n], visits(r, moments[n]))
	}
	crashes := len(moments)
	for end := time.Now().Add(*timeFlag); time.Now().Before(end) && !t.Failed(); crashes++ {
		h.kill()
		if r.IntN(2) == 0 {
			h.start(fmt.Sprintf("%s:%d", moments[r.IntN(len(moments))], 1+r.IntN(200)))
		} else {
			h.mustStart()
		}
		h.endsIn(time.Duration(r.IntN(400)) * time.Millisecond)
	}
	h.kill()
	h.mustStart()
	t.Logf("%d crashes", crashes)
	x.halt()
	if !t.Failed() {
		x.check()
	}
}

// visits says at which visit to die: of what is seldom, the first.
func visits(r *rand.Rand, moment string) int {
	for _, often := range []string{"call.", "reply.", "commit.", "expiry."} {
		if strings.HasPrefix(moment, often) {
			return 1 + r.IntN(4)
		}
	}
	return 1
}

// moments are when a coordinator may die: at each failpoint of the engine, its
// journal and the gate, and at the steps of single operations and files; of the
// latter some only, if there is little time.
func moments(t *testing.T, r *rand.Rand) []string {
	const some = 25
	points, steps := points(t, "shared/space", "coordinator/gate"), stepMoments()
	r.Shuffle(len(steps), func(i, k int) { steps[i], steps[k] = steps[k], steps[i] })
	if *timeFlag < time.Minute {
		steps = steps[:some]
	}
	return append(points, steps...)
}

func stepMoments() (all []string) {
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

// crashAt starts coordinators until one dies at a moment: not every one flushes
// its journal, or merges tables.
func crashAt(t *testing.T, h *house, moment string, visit int) {
	t.Helper()
	const starts = 20
	for n := range starts { // each has more time, since the machine may be slow
		h.start(fmt.Sprintf("%s:%d", moment, visit))
		if h.endsIn(time.Duration(n+1) * 500 * time.Millisecond) {
			require.Truef(t, h.killed(), "at %s: %v\n%s", moment, h.err, h.output())
			return
		}
		h.kill()
		visit = 1
	}
	require.FailNowf(t, "a failpoint is not met", "%s, in %d starts", moment, starts)
}
