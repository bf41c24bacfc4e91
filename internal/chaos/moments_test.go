package chaos

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
	"leasehold/shared/work"
)

// Rows 1 to 7 of the catalogue of faults, each at its moment.

const notes = "notes"

var anyNote = tuple.Match("note", tuple.AnyInt64)

// putNote puts a tuple through a client, and tells when it is answered.
func putNote(c *client, n int64) (answered chan error) {
	answered = make(chan error, 1)
	go func() {
		_, err := c.conn.Do(context.Background(), space.Request{
			Verb: space.VerbPut, Op: space.OpID{Session: c.Session(), Seq: uint64(n)}, Space: notes, Tuple: tuple.New("note", n),
		})
		answered <- err
	}()
	return answered
}

// dies starts a coordinator that dies at a moment, and lets clients bring that
// about.
func (h *house) dies(moment string, bring func()) {
	h.t.Helper()
	h.kill()
	h.start(moment)
	bring()
	require.True(h.t, h.endsIn(patience), "the failpoint is not met")
	require.True(h.t, h.killed(), h.output())
}

// died is a house whose coordinator died at a moment of a put, whose client does
// not come back until it is let.
func died(t *testing.T, moment string) (h *house, c *client, answered chan error) {
	t.Helper()
	h = newHouse(t, quick...)
	h.mustStart()
	c = h.mustDial("client", survives)
	require.NoError(t, c.Create(within(t), notes, space.Options{}))
	require.NoError(t, <-putNote(c, 1))
	h.dies(moment, func() {
		require.NoError(t, <-c.back(t))
		answered = putNote(c, 2)
	})
	c.wire.cut(errCut)
	h.mustStart()
	return h, c, answered
}

// back tells when the client is at the coordinator again.
func (c *client) back(t *testing.T) chan error {
	there := make(chan error, 1)
	go func() { _, err := c.Space(notes).Count(within(t), anyNote); there <- err }()
	return there
}

// notes counts the tuples that another client sees.
func (h *house) notes() int {
	h.t.Helper()
	c := h.mustDial("other", survives)
	defer c.abandon()
	n, err := c.Space(notes).Count(within(h.t), anyNote)
	require.NoError(h.t, err)
	return n
}

// oneNoteIsThere lets the client come back: its put is answered, once more when it
// is repeated, and has happened once.
func oneNoteIsThere(t *testing.T, h *house, c *client, answered chan error) {
	t.Helper()
	c.wire.cut(nil)
	require.NoError(t, <-answered)
	require.NoError(t, <-putNote(c, 2), "the same operation again")
	require.Equal(t, 2, h.notes())
}

func TestFault01APutThatWasNotWrittenIsAbsentUntilItIsRepeated(t *testing.T) {
	t.Parallel()
	for _, moment := range []string{"call.before/put:1", "call.before/put:1 append.before/log:1"} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			h, c, answered := died(t, moment)
			require.Equal(t, 1, h.notes())
			oneNoteIsThere(t, h, c, answered)
		})
	}
}

func TestFault02APutThatWasWrittenAndNotSyncedIsThereOnceOrNotAndNeverTwice(t *testing.T) {
	t.Parallel()
	for _, moment := range []string{"call.before/put:1 append.after/log:1", "call.before/put:1 sync.before/log:1"} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			h, c, answered := died(t, moment)
			require.Contains(t, []int{1, 2}, h.notes())
			oneNoteIsThere(t, h, c, answered)
		})
	}
}

func TestFault03APutThatWasSyncedAndNotAnsweredIsThereAndIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, moment := range []string{"call.before/put:1 sync.after/log:1", "call.after/put:1", "reply.after/put:1"} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			h, c, answered := died(t, moment)
			require.Equal(t, 2, h.notes())
			oneNoteIsThere(t, h, c, answered)
		})
	}
}

// issueOne issues a work-item.
func issueOne(t *testing.T, c *client) {
	t.Helper()
	issued, err := work.Client{Repo: c}.Issue(within(t), work.InProgress{}, models.Task{Action: dig, Subject: "garden", Parts: []string{"north"}, Timeout: 60}, 0)
	require.NoError(t, err)
	require.True(t, issued)
}

func TestFault04AClaimThatWasNotAnsweredIsAnAttemptThatFailed(t *testing.T) {
	t.Parallel()
	h := newHouse(t, quick...)
	h.mustStart()
	issueOne(t, h.mustDial("manager", survives))
	var victim *client
	h.dies("call.after/task.claim:1", func() {
		victim = h.mustDial("worker", noticed)
		go func() { _, _ = task.Client{Repo: victim}.Claim(context.Background(), dig) }()
	})
	victim.abandon()
	h.mustStart()
	item, err := task.Client{Repo: h.mustDial("worker", survives)}.Claim(within(t), dig)
	require.NoError(t, err)
	require.Equal(t, int64(1), item.Attempts, "the lost claim counts once")
	require.Equal(t, []string{victim.Session()}, item.Claimants)
}

func TestFault05AResultThatWasIngestedBeforeTheLeaseEndedIsIngestedAgainToNoEffect(t *testing.T) {
	t.Parallel()
	for _, moment := range []string{"call.before/work.ingested:1", "call.before/work.ingested:1 commit.after:1", "call.after/work.ingested:1"} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, quick...)
			h.mustStart()
			manager, worker := h.mustDial("manager", noticed), h.mustDial("worker", survives)
			issueOne(t, manager)
			tasks := task.Client{Repo: worker}
			item, err := tasks.Claim(within(t), dig)
			require.NoError(t, err)
			require.NoError(t, tasks.Report(within(t), item, "north", true, "a coin"))
			h.dies(moment, func() { ingestOne(manager) })
			manager.abandon() // it has told the catalog, and nobody else
			h.mustStart()
			require.Error(t, tasks.Report(within(t), item, "north", true, "a coin"), "a second, identical result is late")
			ingestAll(t, h.mustDial("manager", survives))
			totals, err := lease.Totals(within(t), worker)
			require.NoError(t, err)
			require.Equal(t, map[string]int64{lease.Granted: 1, lease.Revoked: 1, lease.Late: 1}, totals)
		})
	}
}

// ingestOne takes a result and says that it is in the catalog.
func ingestOne(c *client) {
	client := work.Client{Repo: c}
	go func() {
		if step, err := client.Next(context.Background(), dig, false); err == nil {
			_ = client.Ingested(context.Background(), step.Result) // the coordinator dies of it
		}
	}()
}

// ingestAll ingests all results that there are, those that a lost manager held
// included.
func ingestAll(t *testing.T, c *client) {
	t.Helper()
	client := work.Client{Repo: c}
	for c.there(t, task.Result) > 0 {
		step, err := client.Next(within(t), dig, false)
		require.NoError(t, err)
		require.Equal(t, "garden", step.Result.Subject)
		require.NoError(t, client.Ingested(within(t), step.Result))
	}
}

// fill puts notes until the journal holds so many.
func (h *house) fill(n int) {
	h.t.Helper()
	c := h.mustDial("filler", survives)
	require.NoError(h.t, c.Create(within(h.t), notes, space.Options{}))
	for i := range n {
		require.NoError(h.t, c.Space(notes).Put(within(h.t), tuple.New("note", int64(i)), 0))
	}
	require.NoError(h.t, c.close())
}

func TestFault06AFlushOrACompactionThatIsInterruptedLosesNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t, quick...)
	h.mustStart()
	h.fill(200)
	for _, moment := range []string{
		"flush.before", "append.before/table", "append.after/table", "sync.before/table", "sync.after/table",
		"append.before/index", "append.after/index", "sync.before/index", "sync.after/index",
		"flush.after", "remove.before/log", "remove.after/log", "compaction.before", "compaction.after",
	} {
		h.kill()
		crashAt(t, h, moment, 1)
	}
	h.mustStart()
	require.Equal(t, 200, h.notes())
}

func TestFault07RecoveryThatIsInterruptedTwentyTimesIsTheSame(t *testing.T) {
	t.Parallel()
	h := newHouse(t, quick...)
	h.mustStart()
	h.fill(100)
	moments := []string{"recovery.before:1", "recovery.loaded:1", "recovery.after:1"}
	for n := len(moments); n < 20; n++ {
		moments = append(moments, fmt.Sprint("recovery.fact:", 1+n*5))
	}
	for _, moment := range moments {
		h.kill()
		h.start(moment)
		require.True(t, h.endsIn(patience) && h.killed(), "%s: %s", moment, h.output())
	}
	h.mustStart()
	require.Equal(t, 100, h.notes())
}

func TestFault16ASecondCoordinatorOnOneFolderRefusesAndNamesTheFirst(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.mustStart()
	second := houseAt(t, h.dir)
	second.begin("")
	require.Equal(t, 1, second.code())
	require.Contains(t, second.output(), fmt.Sprintf("is in use by process %d", h.cmd.Process.Pid))
}
