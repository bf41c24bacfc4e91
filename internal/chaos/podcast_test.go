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

	"leasehold/shared/apiclient"
	"leasehold/shared/lease"
)

const example = "../../examples/podcast"

// finding is what is compared of one.
type finding struct {
	Episode string  `json:"episode"`
	Clip    string  `json:"clip"`
	Offset  float64 `json:"offset_s"`
	Score   float64 `json:"score"`
}

// findings returns those of a data folder, in an order.
func (h *house) findings() []finding {
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

// peace returns what a run of the example finds that nothing disturbs.
func peace(t *testing.T) []finding {
	t.Helper()
	h := newHouse(t)
	said, code := h.run("run", example, "--until-idle")
	require.Zero(t, code, said)
	found := h.findings()
	require.Len(t, found, 24)
	return found
}

// nothingIsLeft checks, at a coordinator on the folder, that all that was begun is
// done: no task or result, held or not, and no lease; and that no work was done to the end twice.
func (h *house) nothingIsLeft(items int) {
	h.t.Helper()
	for _, name := range []string{"task", "result", "dead"} {
		eventually(h.t, "no tuple is left in "+name, func() bool { // somebody may have said something late
			said, code := h.run("space", "count", name, "--held")
			require.Zero(h.t, code, said)
			return said == "0"
		})
	}
	c := h.mustDial("check", survives)
	live, err := c.Space(lease.Space).Count(within(h.t), lease.Any())
	require.NoError(h.t, err)
	require.Zero(h.t, live, "leases")
	totals, err := lease.Totals(within(h.t), c)
	require.NoError(h.t, err)
	require.Equal(h.t, int64(items), totals[lease.Granted], "work-items are not issued twice: %v", totals)
	require.Equal(h.t, int64(items), totals[lease.Revoked], "each is done to the end once: %v", totals)
	require.NoError(h.t, c.close())
}

// TestARunThatIsKilledTenTimesInARowFindsTheSame is what a new user may try.
func TestARunThatIsKilledTenTimesInARowFindsTheSame(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(newSeed(t), 0))
	want := peace(t)
	h := newHouse(t)
	for range 10 {
		p := launch(t, h.env, program, "run", example, "--until-idle")
		p.endsIn(100*time.Millisecond + time.Duration(r.IntN(900))*time.Millisecond)
		p.kill()
	}
	said, code := h.run("run", example, "--until-idle")
	require.Zero(t, code, said)
	require.Equal(t, want, h.findings())
	h.mustStart()
	h.nothingIsLeft(3)
}

// TestFault12ARunWhoseDiskIsFullGoesOnOnceThereIsRoom is what a new user may try
// next: neither the spaces nor the catalog have room for a while.
func TestFault12ARunWhoseDiskIsFullGoesOnOnceThereIsRoom(t *testing.T) {
	t.Parallel()
	want := peace(t)
	disk := smallDisk(t, 48<<20)
	// However often it finds no room, no work is given up. One episode is researched
	// after the other, so that there is work left when the disk is full.
	h := houseAt(t, filepath.Join(disk, "data"), append([]string{"LEASEHOLD_MAX_ATTEMPTS=1000", "LEASEHOLD_WORKERS=1"}, quick...)...)
	p := launch(t, append(h.env, "FAILPOINT=research.report:1:stop"), program, "run", example, "--until-idle")
	eventually(t, "work has begun", p.stopped)
	filler := filepath.Join(disk, "filler")
	fillUp(t, filler)
	p.signal(syscall.SIGCONT)
	eventually(t, "it says so", func() bool { return p.says("the disk is almost full") })
	require.NoError(t, os.Remove(filler))
	require.Zero(t, p.code(), p.output())
	require.Equal(t, want, h.findings())
}

// company is a coordinator, managers and workers, each a process.
type company struct {
	*house
	members []*member
}

// member is a manager or a worker, one process after the other.
type member struct {
	h    *house
	mode string
	dir  string
	env  []string // settings of its own
	*process
}

func (m *member) start(failpoint string) {
	env := []string{"FAILPOINT=" + failpoint, "LEASEHOLD_SLOTS=1", "LEASEHOLD_DATA=" + m.dir, "host=" + m.h.gate}
	m.process = launch(m.h.t, slices.Concat(env, quick, m.env), program, m.mode)
}

// newMember makes a manager or a worker of a house, which is not there yet.
func (h *house) newMember(mode string) *member {
	return &member{h: h, mode: mode, dir: filepath.Join(h.t.TempDir(), mode)}
}

// newCompany has the example as its origin.
func newCompany(t *testing.T, managers, workers int) *company {
	t.Helper()
	// However often it is killed, no work is given up.
	c := &company{house: newHouse(t, append([]string{"LEASEHOLD_MAX_ATTEMPTS=100"}, quick...)...)}
	said, code := c.run("origin", "add", example)
	require.Zero(t, code, said)
	for range managers {
		c.members = append(c.members, c.newMember("manager"))
	}
	for range workers {
		c.members = append(c.members, c.newMember("worker"))
	}
	return c
}

// status asks the coordinator; it may be away.
func (h *house) status() (apiclient.Status, bool) {
	s, err := h.api().Status(within(h.t))
	return s, err == nil
}

// idle says that everything has been researched, and nothing is in hand.
func (c *company) idle() bool {
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

// disturb does one harm to one process: it is killed, told to die at a failpoint
// after a new start, or stopped for a while.
func (c *company) disturb(r *rand.Rand, moments map[string][]string) {
	victim := r.IntN(1 + len(c.members))
	moment := func(mode string) string {
		if r.IntN(2) == 0 {
			return ""
		}
		return fmt.Sprintf("%s:%d", moments[mode][r.IntN(len(moments[mode]))], 1+r.IntN(10))
	}
	if victim == len(c.members) {
		c.kill()
		c.start(moment("coordinator"))
		return
	}
	m := c.members[victim]
	if r.IntN(3) == 0 {
		m.signal(syscall.SIGSTOP)
		c.endsIn(time.Duration(r.IntN(2000)) * time.Millisecond)
		m.signal(syscall.SIGCONT)
		return
	}
	m.kill()
	m.start(moment(m.mode))
}

// restartTheDead starts again what has died at a failpoint.
func (c *company) restartTheDead() {
	c.t.Helper()
	if c.ended() {
		require.True(c.t, c.killed(), c.output())
		c.mustStart()
	}
	for _, m := range c.members {
		if m.ended() {
			require.True(c.t, m.killed(), "%s: %v\n%s", m.mode, m.err, m.output())
			m.start("")
		}
	}
}

// TestFault56ACompanyUnderChaosFindsTheSame kills, stops and continues the
// processes of a whole system at random, until the time is over.
func TestFault56ACompanyUnderChaosFindsTheSame(t *testing.T) {
	t.Parallel()
	seed := newSeed(t)
	want := peace(t)
	moments := map[string][]string{
		"coordinator": points(t, "shared/space", "coordinator"),
		"manager":     points(t, "manager"),
		"worker":      points(t, "worker"),
	}
	for n, end := uint64(0), time.Now().Add(*timeFlag); n == 0 || time.Now().Before(end); n++ {
		r := rand.New(rand.NewPCG(seed, n))
		c := newCompany(t, 2, 3)
		c.mustStart()
		for _, m := range c.members {
			m.start("")
		}
		harms := 0
		for begun := time.Now(); time.Since(begun) < *timeFlag && (harms < 5 || !c.idle()); harms++ {
			c.disturb(r, moments)
			c.endsIn(time.Duration(r.IntN(700)) * time.Millisecond)
			c.restartTheDead()
		}
		t.Logf("%d harms", harms)
		eventually(t, "all is done", func() bool { c.restartTheDead(); return c.idle() })
		c.calm()
		require.Equal(t, want, c.findings())
		c.nothingIsLeft(3)
		c.endAll()
	}
}

// calm ends the workers, one of which may have something to say that comes late, and
// replaces those who are to die at a failpoint; what is left is ingested.
func (c *company) calm() {
	c.t.Helper()
	c.endAll()
	c.mustStart()
	for _, m := range c.members {
		if m.mode == "manager" {
			m.start("")
		}
	}
	eventually(c.t, "all is done to the end", c.idle)
}

func (c *company) endAll() {
	c.kill()
	for _, m := range c.members {
		m.kill()
	}
}

// Row 25: what a manager issued before it died is done all the same, and is not
// issued again by the next one.
func TestFault25AManagerThatDiesAmidIssuingLeavesNoOrphans(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2, 3)
	c.mustStart()
	for _, m := range c.members[2:] {
		m.start("")
	}
	c.members[0].start("issue.after:2")
	require.True(t, c.members[0].endsIn(patience) && c.members[0].killed())
	c.members[1].start("")
	eventually(t, "all is done", c.idle)
	c.nothingIsLeft(3)
	require.Len(t, c.findings(), 24)
}

// oneEpisode adds an episode and two clips as the origins of a house, whose folders
// it returns.
func (h *house) oneEpisode() (origins []string) {
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

// Row 5 with the real processes: whoever dies at whatever step of ingesting and
// recording, what was found is there once.
func TestFault05AManagerThatDiesAtEachStepOfIngestingLosesNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t, quick...)
	for _, origin := range h.oneEpisode() {
		said, code := h.run("origin", "save-now", origin)
		require.Zero(t, code, said)
	}
	manager, worker := h.newMember("manager"), h.newMember("worker")
	manager.start("")
	for _, moment := range points(t, "coordinator/visits.go") {
		h.start(moment + ":1")
		require.True(t, h.endsIn(patience) && h.killed(), "%s: %s", moment, h.output())
	}
	manager.kill()
	h.mustStart()
	worker.start("") // not before: what is found may not be ingested yet
	for _, moment := range points(t, "manager/archive/ingest.go") {
		manager.start(moment + ":1")
		require.True(t, manager.endsIn(patience) && manager.killed(), "%s: %s", moment, manager.output())
		eventually(t, "it is lost", func() bool { s, ok := h.status(); return ok && len(s.Sessions) == 1 })
	}
	manager.start("")
	eventually(t, "all is done", func() bool { s, ok := h.status(); return ok && s.Totals.Researched == 2 && s.Totals.Problems == 0 })
	require.NotEmpty(t, h.findings())
}

// Row 31: each death of a worker is an attempt; after too many the task is a dead
// letter with its history, and requeued it is done.
func TestFault31AWorkerThatDiesAtEachStepMakesADeadLetterWithItsHistory(t *testing.T) {
	t.Parallel()
	h := newHouse(t, quick...)
	h.oneEpisode()
	h.mustStart()
	manager, worker := h.newMember("manager"), h.newMember("worker")
	worker.env = []string{"LEASEHOLD_SESSION_LOST=" + noticed.String()} // by its death only is it lost
	manager.start("")
	api := h.api()
	for attempts, moment := range points(t, "worker") {
		worker.start(moment + ":1")
		require.True(t, worker.endsIn(patience), "%s: %s", moment, worker.output())
		require.True(t, worker.killed(), "%s: %s", moment, worker.output())
		eventually(t, "the attempt is counted", func() bool {
			tasks, err := api.Tasks(within(t), "", -1)
			require.NoError(t, err)
			dead, err := api.Dead(within(t), "", -1)
			require.NoError(t, err)
			all := append(tasks.Items, dead.Items...)
			return len(all) == 1 && all[0].Attempts == int64(attempts)+1
		})
	}
	dead, err := api.Dead(within(t), "", -1)
	require.NoError(t, err)
	require.Len(t, dead.Items, 1)
	require.Len(t, dead.Items[0].History, 4)
	require.Contains(t, dead.Items[0].History[3], "its worker was lost")
	eventually(t, "its failure is recorded, and it is put again", func() bool {
		_, code := h.run("dead", "requeue", dead.Items[0].ID)
		return code == 0
	})
	worker.start("")
	eventually(t, "it is done", func() bool { s, ok := h.status(); return ok && s.Totals.Researched == 2 })
	require.NotEmpty(t, h.findings())
}
