//go:build linux

package chaos

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/internal/pgserver"
	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Rows 1 to 7 of the catalogue of faults, each at its failpoint.

const notes = "notes"

var anyNote = tuple.Match("note", tuple.AnyInt64)

// putNote puts a tuple through a client. The channel receives the result.
func putNote(c *session, n int64) (answered chan error) {
	answered = make(chan error, 1)
	go func() {
		_, err := c.conn.Do(context.Background(), space.Request{
			Verb: space.VerbPut, Op: space.OpID{Session: c.Session(), Seq: uint64(n)}, Space: notes, Tuple: tuple.New("note", n),
		})
		answered <- err
	}()
	return answered
}

// killAt starts a coordinator, which is killed at killPoint, and calls bring to reach it.
func (h *fixture) killAt(killPoint string, bring func()) {
	h.t.Helper()
	h.Kill()
	h.start(killPoint)
	bring()
	require.True(h.t, h.WaitEnd(binary.WaitLimit), "the failpoint is not reached")
	require.True(h.t, h.Killed(), h.Output())
}

// killedDuringPut returns a fixture whose coordinator was killed at killPoint of a put.
// The wire of the client stays cut.
func killedDuringPut(t *testing.T, killPoint string) (h *fixture, c *session, answered chan error) {
	t.Helper()
	h = newFixture(t, fastDetection...)
	h.mustStart()
	c = h.mustDial("client", longTTL)
	require.NoError(t, c.Create(within(t), notes, space.Options{}))
	require.NoError(t, <-putNote(c, 1))
	h.killAt(killPoint, func() {
		require.NoError(t, <-c.reconnected(t))
		answered = putNote(c, 2)
	})
	c.wire.cut(errCut)
	h.mustStart()
	return h, c, answered
}

// reconnected receives the result of a call, which needs the client to be connected
// again.
func (c *session) reconnected(t *testing.T) chan error {
	there := make(chan error, 1)
	go func() { _, err := c.Space(notes).Count(within(t), anyNote); there <- err }()
	return there
}

// notes counts the tuples that another client sees.
func (h *fixture) notes() int {
	h.t.Helper()
	c := h.mustDial("other", longTTL)
	defer c.abandon()
	n, err := c.Space(notes).Count(within(h.t), anyNote)
	require.NoError(h.t, err)
	return n
}

// requireOneNote reconnects the client and requires that its put is answered, also when
// repeated, and happened once.
func requireOneNote(t *testing.T, h *fixture, c *session, answered chan error) {
	t.Helper()
	c.wire.cut(nil)
	require.NoError(t, <-answered)
	require.NoError(t, <-putNote(c, 2), "the same operation again")
	require.Equal(t, 2, h.notes())
}

func TestFault01APutThatWasNotWrittenIsAbsentUntilItIsRepeated(t *testing.T) {
	t.Parallel()
	for _, killPoint := range []string{"call.before/put:1", "call.before/put:1 append.before/log:1"} {
		t.Run(killPoint, func(t *testing.T) {
			t.Parallel()
			h, c, answered := killedDuringPut(t, killPoint)
			require.Equal(t, 1, h.notes())
			requireOneNote(t, h, c, answered)
		})
	}
}

func TestFault02APutThatWasWrittenAndNotSyncedIsThereOnceOrNotAndNeverTwice(t *testing.T) {
	t.Parallel()
	for _, killPoint := range []string{"call.before/put:1 append.after/log:1", "call.before/put:1 sync.before/log:1"} {
		t.Run(killPoint, func(t *testing.T) {
			t.Parallel()
			h, c, answered := killedDuringPut(t, killPoint)
			require.Contains(t, []int{1, 2}, h.notes())
			requireOneNote(t, h, c, answered)
		})
	}
}

func TestFault03APutThatWasSyncedAndNotAnsweredIsThereAndIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, killPoint := range []string{"call.before/put:1 sync.after/log:1", "call.after/put:1", "reply.after/put:1"} {
		t.Run(killPoint, func(t *testing.T) {
			t.Parallel()
			h, c, answered := killedDuringPut(t, killPoint)
			require.Equal(t, 2, h.notes())
			requireOneNote(t, h, c, answered)
		})
	}
}

// issueOne issues a work-item.
func issueOne(t *testing.T, c *session) {
	t.Helper()
	issued, err := work.Client{Repo: c}.Issue(within(t), work.InProgress{}, models.Task{Action: dig, Subject: "garden", Parts: []string{"north"}, Timeout: 60}, 0)
	require.NoError(t, err)
	require.True(t, issued)
}

func TestFault04AClaimThatWasNotAnsweredIsAnAttemptThatFailed(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fastDetection...)
	h.mustStart()
	issueOne(t, h.mustDial("manager", longTTL))
	var lost *session
	h.killAt("call.after/task.claim:1", func() {
		lost = h.mustDial("worker", loadSafeTTL)
		go func() { _, _ = task.Client{Repo: lost}.Claim(context.Background(), dig) }()
	})
	lost.abandon()
	h.mustStart()
	item, err := task.Client{Repo: h.mustDial("worker", longTTL)}.Claim(within(t), dig)
	require.NoError(t, err)
	require.Equal(t, int64(1), item.Attempts, "the lost claim counts once")
	require.Equal(t, []string{lost.Session()}, item.Claimants)
}

func TestFault05AResultThatWasIngestedBeforeTheLeaseEndedIsIngestedAgainToNoEffect(t *testing.T) {
	t.Parallel()
	for _, killPoint := range []string{"call.before/work.ingested:1", "call.before/work.ingested:1 commit.after:1", "call.after/work.ingested:1"} {
		t.Run(killPoint, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, fastDetection...)
			h.mustStart()
			manager, worker := h.mustDial("manager", loadSafeTTL), h.mustDial("worker", longTTL)
			issueOne(t, manager)
			tasks := task.Client{Repo: worker}
			item, err := tasks.Claim(within(t), dig)
			require.NoError(t, err)
			require.NoError(t, tasks.Report(within(t), item, "north", true, "a coin"))
			h.killAt(killPoint, func() { ingestOne(manager) })
			manager.abandon() // the catalog has the result, the coordinator may not
			h.mustStart()
			require.Error(t, tasks.Report(within(t), item, "north", true, "a coin"), "a second, identical result is late")
			ingestAll(t, h.mustDial("manager", longTTL))
			totals, err := lease.Totals(within(t), worker)
			require.NoError(t, err)
			require.Equal(t, map[string]int64{lease.Granted: 1, lease.Revoked: 1, lease.Late: 1}, totals)
		})
	}
}

// ingestOne takes a result and acknowledges that the catalog has it.
func ingestOne(c *session) {
	client := work.Client{Repo: c}
	go func() {
		if step, err := client.Next(context.Background(), dig, false); err == nil {
			_ = client.Ingested(context.Background(), step.Result) // the coordinator is killed meanwhile
		}
	}()
}

// ingestAll ingests all results, including those that a lost manager held.
func ingestAll(t *testing.T, c *session) {
	t.Helper()
	client := work.Client{Repo: c}
	for c.countTuples(t, task.Result) > 0 {
		step, err := client.Next(within(t), dig, false)
		require.NoError(t, err)
		require.Equal(t, "garden", step.Result.Subject)
		require.NoError(t, client.Ingested(within(t), step.Result))
	}
}

// fill puts n notes.
func (h *fixture) fill(n int) {
	h.t.Helper()
	c := h.mustDial("filler", longTTL)
	require.NoError(h.t, c.Create(within(h.t), notes, space.Options{}))
	for i := range n {
		require.NoError(h.t, c.Space(notes).Put(within(h.t), tuple.New("note", int64(i)), 0))
	}
	require.NoError(h.t, c.close())
}

func TestFault06AFlushOrACompactionThatIsInterruptedLosesNothing(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fastDetection...)
	h.mustStart()
	h.fill(200)
	for _, killPoint := range []string{
		"flush.before", "append.before/table", "append.after/table", "sync.before/table", "sync.after/table",
		"append.before/index", "append.after/index", "sync.before/index", "sync.after/index",
		"flush.after", "remove.before/log", "remove.after/log", "compaction.before", "compaction.after",
	} {
		h.Kill()
		crashAt(t, h, killPoint, 1)
	}
	h.mustStart()
	require.Equal(t, 200, h.notes())
}

func TestFault07RecoveryThatIsInterruptedTwentyTimesIsTheSame(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fastDetection...)
	h.mustStart()
	h.fill(100)
	killPoints := []string{"recovery.before:1", "recovery.loaded:1", "recovery.after:1"}
	for n := len(killPoints); n < 20; n++ {
		killPoints = append(killPoints, fmt.Sprint("recovery.fact:", 1+n*5))
	}
	for _, killPoint := range killPoints {
		h.Kill()
		h.start(killPoint)
		require.True(t, h.WaitEnd(binary.WaitLimit) && h.Killed(), "%s: %s", killPoint, h.Output())
	}
	h.mustStart()
	require.Equal(t, 100, h.notes())
}

func TestFault16ASecondCoordinatorOnOneFolderRefusesAndNamesTheFirst(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.mustStart()
	second := fixtureAt(t, h.dir)
	second.begin("")
	require.Equal(t, 1, second.Code())
	require.Contains(t, second.Output(), fmt.Sprintf("is in use by process %d", h.Pid()))
}

// Each of two coordinators on one realm has a name of its own, which is that of its machine and its folder. Containers
// with one machine name and one path are two members with one name.
func TestFault16ASecondMemberWithOneNameRefusesAndTheFirstGoesOn(t *testing.T) {
	t.Parallel()
	h := fixtureOnDatabase(t, pgserver.Database(t))
	h.mustStart()
	h.fill(1)
	second := &fixture{t: t, dir: h.dir, gate: freeAddress(t), http: freeAddress(t), env: h.env}
	second.begin("")
	require.Equal(t, 1, second.Code())
	require.Contains(t, second.Output(), fmt.Sprintf("is in use by process %d", h.Pid()), "the folder is locked")
	require.NoError(t, os.Rename(h.dir, h.dir+"-of-the-first"))
	second.begin("")
	require.Equal(t, fault.Of(fault.ErrConflict).ExitCode, second.Code(), second.Output())
	require.Contains(t, second.Output(), "a data folder or a machine name of its own")
	require.Equal(t, 1, h.notes(), "the first goes on")
}
