//go:build linux

package chaos

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/shared/api/client"
	"leasehold/shared/protocol/lease"
)

const example = "../../examples/podcast"

// finding has the compared fields of a finding.
type finding struct {
	Episode string  `json:"episode"`
	Clip    string  `json:"clip"`
	Offset  float64 `json:"offset_s"`
	Score   float64 `json:"score"`
}

// findings returns the sorted findings in a data folder.
func (h *fixture) findings() []finding {
	h.t.Helper()
	said, code := h.run("findings", "--json")
	require.Zero(h.t, code, said)
	var all []finding
	for line := range strings.Lines(said) {
		var f finding
		require.NoError(h.t, json.Unmarshal([]byte(line), &f), line)
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.Episode, b.Episode), cmp.Compare(a.Clip, b.Clip), cmp.Compare(a.Offset, b.Offset))
	})
	return all
}

// undisturbed returns the findings of a run of the example without faults.
func undisturbed(t *testing.T) []finding {
	t.Helper()
	h := newFixture(t)
	said, code := h.run("run", example, "--until-idle")
	require.Zero(t, code, said)
	found := h.findings()
	require.Len(t, found, 24)
	return found
}

// requireNothingLeft checks with a coordinator on the folder that all work has ended: no
// task, result or lease is left, and no work was completed twice.
func (h *fixture) requireNothingLeft(items int) {
	h.t.Helper()
	for _, name := range []string{"task", "result", "dead"} {
		binary.Eventually(h.t, "no tuple is left in "+name, func() bool { // a late report may still be pending
			said, code := h.run("space", "count", name, "--held")
			require.Zero(h.t, code, said)
			return said == "0"
		})
	}
	c := h.mustDial("check", longTTL)
	live, err := c.Space(lease.Space).Count(within(h.t), lease.Any())
	require.NoError(h.t, err)
	require.Zero(h.t, live, "leases")
	totals, err := lease.Totals(within(h.t), c)
	require.NoError(h.t, err)
	require.Equal(h.t, int64(items), totals[lease.Granted], "work-items are not issued twice: %v", totals)
	require.Equal(h.t, int64(items), totals[lease.Revoked], "each is done to the end once: %v", totals)
	require.NoError(h.t, c.close())
}

// TestARunThatIsKilledTenTimesInARowFindsTheSame does what a new user may try.
func TestARunThatIsKilledTenTimesInARowFindsTheSame(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(newSeed(t), 0))
	want := undisturbed(t)
	h := newFixture(t)
	for range 10 {
		p := binary.Start(t, h.env, program, "run", example, "--until-idle")
		p.WaitEnd(100*time.Millisecond + time.Duration(r.IntN(900))*time.Millisecond)
		p.Kill()
	}
	said, code := h.run("run", example, "--until-idle")
	require.Zero(t, code, said)
	require.Equal(t, want, h.findings())
	h.mustStart()
	h.requireNothingLeft(3)
}

// TestFault12ARunWhoseDiskIsFullGoesOnOnceThereIsRoom fills the disk of a run for a
// while, so that neither the spaces nor the catalog can be written.
func TestFault12ARunWhoseDiskIsFullGoesOnOnceThereIsRoom(t *testing.T) {
	t.Parallel()
	want := undisturbed(t)
	disk := smallDisk(t, 48<<20)
	// The task must not become a dead letter, however often a write fails. One worker, so
	// that work is left when the disk is full.
	h := fixtureAt(t, filepath.Join(disk, "data"), append([]string{"LEASEHOLD_MAX_ATTEMPTS=1000", "LEASEHOLD_WORKERS=1"}, fastDetection...)...)
	p := binary.Start(t, append(h.env, "FAILPOINT=research.report:1:stop"), program, "run", example, "--until-idle")
	binary.Eventually(t, "work has begun", p.Stopped)
	filler := filepath.Join(disk, "filler")
	fillUp(t, filler)
	p.Signal(syscall.SIGCONT)
	binary.Eventually(t, "the warning is printed", func() bool { return p.Printed("the disk is almost full") })
	require.NoError(t, os.Remove(filler))
	require.Zero(t, p.Code(), p.Output())
	require.Equal(t, want, h.findings())
}

// deployment is a coordinator with managers and workers, each a process.
type deployment struct {
	*fixture
	members []*member
}

// member is a manager or a worker; each restart is a new process.
type member struct {
	h    *fixture
	mode string
	dir  string
	env  []string // additional settings
	*binary.Process
}

func (m *member) start(failpoint string) {
	env := []string{"FAILPOINT=" + failpoint, "LEASEHOLD_SLOTS=1", "LEASEHOLD_DATA=" + m.dir, "host=" + m.h.gate}
	m.Process = binary.Start(m.h.t, slices.Concat(env, fastDetection, m.env), program, m.mode)
}

// newMember returns a manager or a worker without starting it.
func (h *fixture) newMember(mode string) *member {
	return &member{h: h, mode: mode, dir: filepath.Join(h.t.TempDir(), mode)}
}

// manyAttempts are settings under which tasks do not become dead letters, however often a process is killed.
var manyAttempts = append([]string{"LEASEHOLD_MAX_ATTEMPTS=100"}, fastDetection...)

// newDeployment starts a coordinator, and adds the example as origin. The members are not started.
func newDeployment(h *fixture, managers, workers int) *deployment {
	h.t.Helper()
	c := &deployment{fixture: h}
	c.mustStart()
	said, code := c.run("origin", "add", example)
	require.Zero(h.t, code, said)
	for range managers {
		c.members = append(c.members, c.newMember("manager"))
	}
	for range workers {
		c.members = append(c.members, c.newMember("worker"))
	}
	return c
}

// status returns the status of the coordinator, and whether it answered.
func (h *fixture) status() (client.Status, bool) {
	s, err := h.api().Status(within(h.t))
	return s, err == nil
}

// idle reports whether all pairs are researched and no visit, task or result is left.
func (c *deployment) idle() bool {
	s, ok := c.status()
	if !ok || s.Totals.Researched < 24 {
		return false
	}
	for _, i := range s.Spaces {
		switch i.Name {
		case "visit", "task", "result":
			if i.Visible+i.Held > 0 {
				return false
			}
		}
	}
	return true
}

// injectFault kills a random process, restarts it with a failpoint, or stops it for a
// while.
func (c *deployment) injectFault(r *rand.Rand, killPoints map[string][]string) {
	n := r.IntN(1 + len(c.members))
	if n == len(c.members) {
		c.Kill()
		c.start(anyOf(r, killPoints["coordinator"]))
		return
	}
	c.members[n].disturb(r, anyOf(r, killPoints[c.members[n].mode]))
}

// anyOf returns a failpoint and the number of the hit at which it kills; often it returns none.
func anyOf(r *rand.Rand, killPoints []string) string {
	if r.IntN(2) == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", killPoints[r.IntN(len(killPoints))], 1+r.IntN(10))
}

// disturb stops the process for a while, or kills it and restarts it with a failpoint.
func (m *member) disturb(r *rand.Rand, failpoint string) {
	if r.IntN(3) == 0 {
		m.Signal(syscall.SIGSTOP)
		m.WaitEnd(time.Duration(r.IntN(2000)) * time.Millisecond)
		m.Signal(syscall.SIGCONT)
		return
	}
	m.Kill()
	m.start(failpoint)
}

// restartKilled restarts the processes that were killed at a failpoint.
func (c *deployment) restartKilled() {
	c.t.Helper()
	if c.Ended() {
		require.True(c.t, c.Killed(), c.Output())
		c.mustStart()
	}
	restartKilled(c.members)
}

func restartKilled(members []*member) {
	for _, m := range members {
		m.restartKilled()
	}
}

// restartKilled restarts the process if it was killed at a failpoint.
func (m *member) restartKilled() {
	m.h.t.Helper()
	if m.Ended() {
		require.True(m.h.t, m.Killed(), "%s: %v\n%s", m.mode, m.Err(), m.Output())
		m.start("")
	}
}

// TestFault56ACompanyUnderChaosFindsTheSame kills, stops and continues the processes of a
// whole system at random, for chaos.time.
func TestFault56ACompanyUnderChaosFindsTheSame(t *testing.T) {
	t.Parallel()
	seed := newSeed(t)
	want := undisturbed(t)
	killPoints := map[string][]string{
		"coordinator": points(t, "shared/space", "coordinator"),
		"manager":     points(t, "manager"),
		"worker":      points(t, "worker"),
	}
	for n, end := uint64(0), time.Now().Add(*timeFlag); n == 0 || time.Now().Before(end); n++ {
		r := rand.New(rand.NewPCG(seed, n))
		c := newDeployment(newFixture(t, manyAttempts...), 2, 3)
		for _, m := range c.members {
			m.start("")
		}
		faults := 0
		for begun := time.Now(); time.Since(begun) < *timeFlag && (faults < 5 || !c.idle()); faults++ {
			c.injectFault(r, killPoints)
			c.WaitEnd(time.Duration(r.IntN(700)) * time.Millisecond)
			c.restartKilled()
		}
		t.Logf("%d faults", faults)
		binary.Eventually(t, "all is done", func() bool { c.restartKilled(); return c.idle() })
		c.restartCleanly()
		require.Equal(t, want, c.findings())
		c.requireNothingLeft(3)
		c.killAll()
	}
}

// restartCleanly ends the workers, because one may still have a late report, and restarts
// the others without failpoints, so that they ingest the remaining results.
func (c *deployment) restartCleanly() {
	c.t.Helper()
	c.killAll()
	c.mustStart()
	for _, m := range c.members {
		if m.mode == "manager" {
			m.start("")
		}
	}
	binary.Eventually(c.t, "all is done to the end", c.idle)
}

func (c *deployment) killAll() {
	c.Kill()
	for _, m := range c.members {
		m.Kill()
	}
}

// Row 25: work that a manager issued before it was killed is completed, and the next
// manager does not issue it again.
func TestFault25AManagerThatDiesAmidIssuingLeavesNoOrphans(t *testing.T) {
	onBoth(t, manyAttempts, func(t *testing.T, h *fixture) {
		c := newDeployment(h, 2, 3)
		for _, m := range c.members[2:] {
			m.start("")
		}
		c.members[0].start("issue.after:2")
		require.True(t, c.members[0].WaitEnd(binary.WaitLimit) && c.members[0].Killed())
		c.members[1].start("")
		binary.Eventually(t, "all is done", c.idle)
		c.requireNothingLeft(3)
		require.Len(t, c.findings(), 24)
	})
}

// oneEpisode adds an episode and two clips as origins, and returns their folders.
func (h *fixture) oneEpisode() (origins []string) {
	h.t.Helper()
	dir := h.t.TempDir()
	for kind, names := range map[string][]string{"media": {"episodes/one.mp3"}, "clips": {"clips/ding.wav", "clips/lock.wav"}} {
		folder := filepath.Join(dir, kind)
		require.NoError(h.t, os.Mkdir(folder, 0o755))
		for _, name := range names {
			data, err := os.ReadFile(filepath.Join(example, name))
			require.NoError(h.t, err)
			require.NoError(h.t, os.WriteFile(filepath.Join(folder, filepath.Base(name)), data, 0o644))
		}
		said, code := h.run("origin", "add", folder, "--kind", kind)
		require.Zero(h.t, code, said)
		origins = append(origins, folder)
	}
	return origins
}

// Row 5 with the real processes: at each step of ingesting and recording a process is
// killed, and each finding is stored exactly once.
func TestFault05AManagerThatDiesAtEachStepOfIngestingLosesNothing(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fastDetection...)
	for _, origin := range h.oneEpisode() {
		said, code := h.run("origin", "save-now", origin)
		require.Zero(t, code, said)
	}
	manager, worker := h.newMember("manager"), h.newMember("worker")
	manager.start("")
	for _, killPoint := range points(t, "coordinator/visits.go") {
		h.start(killPoint + ":1")
		require.True(t, h.WaitEnd(binary.WaitLimit) && h.Killed(), "%s: %s", killPoint, h.Output())
	}
	manager.Kill()
	h.mustStart()
	worker.start("") // only now, because a result could otherwise be ingested too early
	for _, killPoint := range points(t, "manager/clips/ingest.go") {
		manager.start(killPoint + ":1")
		require.True(t, manager.WaitEnd(binary.WaitLimit) && manager.Killed(), "%s: %s", killPoint, manager.Output())
		binary.Eventually(t, "it is lost", func() bool { s, ok := h.status(); return ok && len(s.Sessions) == 1 })
	}
	manager.start("")
	binary.Eventually(t, "all is done", func() bool { s, ok := h.status(); return ok && s.Totals.Researched == 2 && s.Totals.Problems == 0 })
	require.NotEmpty(t, h.findings())
}

// Row 31: each death of a worker is an attempt; after too many the task is a dead letter
// with its history, and after a requeue it is completed.
func TestFault31AWorkerThatDiesAtEachStepMakesADeadLetterWithItsHistory(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fastDetection...)
	h.oneEpisode()
	h.mustStart()
	manager, worker := h.newMember("manager"), h.newMember("worker")
	worker.env = []string{"LEASEHOLD_SESSION_LOST=" + loadSafeTTL.String()} // so that a session is lost only by a death
	manager.start("")
	api := h.api()
	for attempts, killPoint := range points(t, "worker/clips") {
		worker.start(killPoint + ":1")
		require.True(t, worker.WaitEnd(binary.WaitLimit), "%s: %s", killPoint, worker.Output())
		require.True(t, worker.Killed(), "%s: %s", killPoint, worker.Output())
		binary.Eventually(t, "the attempt is counted", func() bool {
			tasks, _, err := api.Tasks(within(t), client.TaskFilter{}, -1)
			require.NoError(t, err)
			dead, _, err := api.Dead(within(t), client.TaskFilter{}, -1)
			require.NoError(t, err)
			all := append(tasks, dead...)
			return len(all) == 1 && all[0].Attempts == int64(attempts)+1
		})
	}
	dead, _, err := api.Dead(within(t), client.TaskFilter{}, -1)
	require.NoError(t, err)
	require.Len(t, dead, 1)
	require.Len(t, dead[0].History, 4)
	require.Contains(t, dead[0].History[3].Error, "its worker was lost")
	binary.Eventually(t, "its failure is recorded, and it is put again", func() bool {
		_, code := h.run("dead", "requeue", dead[0].ID)
		return code == 0
	})
	worker.start("")
	binary.Eventually(t, "it is done", func() bool { s, ok := h.status(); return ok && s.Totals.Researched == 2 })
	require.NotEmpty(t, h.findings())
}
