package api

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	schedule "leasehold/shared/protocol/visit/policy"
	"leasehold/shared/space/transaction"
	"leasehold/shared/tuple"
)

func TestADeadTaskHasItsLastAttemptUnlessItDiedLater(t *testing.T) {
	t.Parallel()
	claimed, failed := time.Unix(1000, 0), time.Unix(1060, 0)
	attempts := []models.Attempt{{Worker: "v", ClaimedAt: time.Unix(500, 0), EndedAt: time.Unix(600, 0)}, {Worker: "w", ClaimedAt: claimed, EndedAt: failed}}
	for name, c := range map[string]struct {
		history []models.Attempt
		died    time.Time
		ended   time.Time
		worker  string
	}{
		"with its attempt":     {attempts, failed, failed, "w"},
		"before it was noted":  {attempts, time.Time{}, failed, "w"},
		"later":                {attempts, failed.Add(time.Second), failed.Add(time.Second), ""},
		"without an attempt":   {nil, failed, failed, ""},
		"it is not known when": {nil, time.Time{}, time.Time{}, ""},
	} {
		shown := types.Task{History: c.history}
		showDeath(&shown, c.died)
		require.Equal(t, c.ended, shown.EndedAt, name)
		require.Equal(t, c.worker, shown.Worker, name)
		require.Equal(t, c.worker != "", shown.Duration != nil, name)
		if shown.Duration != nil {
			require.EqualValues(t, 60, *shown.Duration)
		}
	}
}

func TestAnEndedTaskHasItsResultAndTheWorkerThatHadIt(t *testing.T) {
	t.Parallel()
	end := &task.End{State: task.Resolved, At: time.Unix(1060, 0), Worker: "w", Note: "done", Result: `{"n":1}`}
	claimant := "w"
	claimed := time.Unix(1000, 0)
	had := types.Task{CurrentClaimant: &claimant, ClaimedAt: &claimed}
	showEnd(&had, end)
	require.Equal(t, []any{end.At, "done", json.RawMessage(`{"n":1}`), "w"}, []any{had.EndedAt, had.Note, had.Result, had.Worker})
	require.Nil(t, had.CurrentClaimant)
	require.EqualValues(t, 60, *had.Duration)
	waited := types.Task{}
	showEnd(&waited, &task.End{Worker: "w", Result: "plain"})
	require.Equal(t, json.RawMessage(`"plain"`), waited.Result)
	require.Empty(t, waited.Worker, "no worker had it when it ended")
	require.Nil(t, waited.Duration)
	showEnd(&waited, &task.End{})
	require.Empty(t, waited.Result)
}

func TestATaskOfAListHasTheNoteOfItsState(t *testing.T) {
	t.Parallel()
	item := task.Item{Task: models.Task{ID: "t1"}}
	item.State, item.CurrentClaimant = "half done", "w"
	for name, c := range map[string]struct {
		l    task.Listed
		want types.Task
	}{
		"alive":               {task.Listed{Item: item, Holder: "s"}, types.Task{Note: "half done", Session: "s"}},
		"a dead letter":       {task.Listed{Item: item, Dead: true, Reason: "no disk"}, types.Task{Note: "no disk"}},
		"malformed":           {task.Listed{Item: item, Err: errors.New("cannot decode")}, types.Task{Note: "cannot decode"}},
		"a malformed letter":  {task.Listed{Item: item, Dead: true, Reason: "no disk", Err: errors.New("cannot decode")}, types.Task{Note: "cannot decode"}},
		"it waits":            {task.Listed{Item: item, Why: task.Why{Code: "no_worker", Text: "none serves it"}}, types.Task{Note: "half done", Why: &types.Why{Code: "no_worker", Text: "none serves it"}}},
		"ended":               {task.Listed{Item: item, End: &task.End{Note: "done", Worker: "w"}}, types.Task{Note: "done", Worker: "w"}},
		"ended, and was dead": {task.Listed{Item: item, Dead: true, End: &task.End{Note: "discarded"}}, types.Task{Note: "discarded"}},
	} {
		got := showListed(c.l)
		require.Equal(t, []any{c.want.Note, c.want.Session, c.want.Worker, c.want.Why}, []any{got.Note, got.Session, got.Worker, got.Why}, name)
		require.Equal(t, c.l.End == nil, got.CurrentClaimant != nil, name)
	}
	item.CurrentClaimant = ""
	require.Nil(t, showTask(item, task.Waiting).CurrentClaimant)
	require.Equal(t, []string{}, showTask(item, task.Waiting).Claimants)
}

func TestACursorIsTextForAURLAndIsReadAgain(t *testing.T) {
	t.Parallel()
	c := task.Cursor(tuple.New("a", int64(7)))
	text := encodeCursor(c)
	require.NotEmpty(t, text)
	again, err := decodeCursor(text)
	require.NoError(t, err)
	require.Equal(t, c, again)
	require.Empty(t, encodeCursor(nil))
	none, err := decodeCursor("")
	require.NoError(t, err)
	require.Nil(t, none)
	for bad, want := range map[string]error{"!": fault.ErrInvalid, "x": fault.ErrInvalid, text + "AAAA": fault.ErrNotFound, "YQ": fault.ErrNotFound} {
		_, err := decodeCursor(bad)
		require.ErrorIs(t, err, want, bad)
		require.Equal(t, errors.Is(want, fault.ErrNotFound), regexp.MustCompile(cursorPattern).MatchString(bad), bad)
	}
	require.Regexp(t, cursorPattern, text)
}

func TestANewTaskHasTheDefaultTimeoutOrOneInRange(t *testing.T) {
	t.Parallel()
	timeout := func(s models.Seconds) types.NewTask { return types.NewTask{Action: "a", Timeout: &s} }
	made, err := newTask(t.Context(), types.NewTask{Action: "a"})
	require.NoError(t, err)
	require.Equal(t, task.DefaultTimeout, made.Task.Timeout)
	made, err = newTask(t.Context(), timeout(7))
	require.NoError(t, err)
	require.EqualValues(t, 7, made.Task.Timeout)
	_, err = newTask(t.Context(), timeout(-1))
	require.ErrorIs(t, err, fault.ErrInvalid)
	_, err = newTasks(t.Context(), []types.NewTask{timeout(1), timeout(models.SecondsOf(lease.MaxTTL) + 1)})
	require.ErrorContains(t, err, "task 2 of 2")
	all, err := newTasks(t.Context(), []types.NewTask{timeout(1), timeout(2)})
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.EqualValues(t, 2, all[1].Task.Timeout)
}

func TestATaskEndsInExactlyOneWay(t *testing.T) {
	t.Parallel()
	resolve, release, back := &types.Resolution{Token: 5}, &types.Release{Token: 5, Error: "x"}, &types.HandBack{Token: 5, Delay: 2}
	held := task.Item{Task: models.Task{ID: "t1"}, Token: 5}
	timeout := types.NewTask{Action: "a", Timeout: new(models.Seconds)}
	*timeout.Timeout = -1
	one, err := newTasks(t.Context(), []types.NewTask{{Action: "a"}})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		f    types.Finish
		want task.Outcome
	}{
		"resolved":               {types.Finish{Resolve: resolve}, task.ToResolve(held, "", json.RawMessage(nil))},
		"resolved, with another": {types.Finish{Resolve: &types.Resolution{Token: 5, Create: []types.NewTask{{Action: "a"}}}}, task.ToResolve(held, "", json.RawMessage(nil), one...)},
		"released":               {types.Finish{Release: release}, task.ToRelease(held, task.Failure{Reason: "x"})},
		"handed back":            {types.Finish{HandBack: back}, task.ToHandBack(held, 2*time.Second)},
	} {
		c.f.Task = "t1"
		got, err := outcomeOf(t.Context(), c.f)
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
	for name, f := range map[string]types.Finish{
		"none": {}, "all": {Resolve: resolve, Release: release, HandBack: back}, "resolved and released": {Resolve: resolve, Release: release},
		"resolved and handed back": {Resolve: resolve, HandBack: back}, "released and handed back": {Release: release, HandBack: back},
		"with a task that cannot be": {Resolve: &types.Resolution{Token: 5, Create: []types.NewTask{timeout}}}, "released, too late": {Release: &types.Release{Delay: 1e12}}, "handed back, too late": {HandBack: &types.HandBack{Delay: 1e12}},
	} {
		_, err := outcomeOf(t.Context(), f)
		require.ErrorIs(t, err, fault.ErrInvalid, name)
	}
	failure, err := failureOf(types.Release{Error: "x", Output: "y", GiveUp: true, Delay: 3})
	require.NoError(t, err)
	require.Equal(t, task.Failure{Reason: "x", Output: "y", GiveUp: true, Delay: 3 * time.Second}, failure)
}

func TestAnOperationHasTheFieldsOfItsKind(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"get", "query", "absent", "put", "renew"} {
		isPut, hasTTL := kind == "put", kind == "put" || kind == "renew"
		own, other := types.Operation{Kind: kind, Space: "s", Template: "a"}, types.Operation{Kind: kind, Tuple: "a"}
		if isPut {
			own, other = types.Operation{Kind: kind, Space: "s", Tuple: "a"}, types.Operation{Kind: kind, Template: "a"}
		}
		op, err := parseOperation(own)
		require.NoError(t, err, kind)
		require.Equal(t, "s", op.Space)
		require.Equal(t, isPut, op.Kind == transaction.KindPut)
		require.Equal(t, isPut, op.Tuple != nil, kind)
		require.Equal(t, !isPut, op.Template != nil, kind)
		_, err = parseOperation(other)
		require.ErrorIs(t, err, fault.ErrInvalid, kind)
		own.TTL = 5
		op, err = parseOperation(own)
		require.Equal(t, hasTTL, err == nil, kind)
		if hasTTL {
			require.Equal(t, 5*time.Second, op.TTL)
			own.TTL = -1
			_, err = parseOperation(own)
			require.ErrorIs(t, err, fault.ErrInvalid, kind)
		}
	}
	for _, bad := range []types.Operation{{Kind: "take", Template: "a"}, {Kind: "get", Template: "a ..."}, {Kind: "put", Tuple: "?string"}, {Kind: "get", Template: "'"}} {
		_, err := parseOperation(bad)
		require.ErrorIs(t, err, fault.ErrInvalid, bad)
	}
}

func TestALookupPollsAndThenWaitsIfItMay(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	one := tuple.New("a")
	type result struct {
		found bool
		err   error
	}
	for name, c := range map[string]struct {
		poll   result
		wait   error // of the wait that follows
		may    models.Seconds
		line   string
		err    error
		waited bool
	}{
		"found at once":           {result{true, nil}, nil, 0, "a", nil, false},
		"found at once, may wait": {result{true, nil}, broken, 5, "a", nil, false},
		"not found":               {result{false, nil}, nil, 0, "", fault.ErrNotFound, false},
		"found later":             {result{false, nil}, nil, 5, "a", nil, true},
		"not found in time":       {result{false, nil}, context.DeadlineExceeded, 5, "", fault.ErrNotFound, true},
		"the wait fails":          {result{false, nil}, broken, 5, "", broken, true},
		"the poll fails":          {result{false, broken}, nil, 5, "", broken, false},
		"a wait that is too long": {result{true, nil}, nil, 26, "", fault.ErrInvalid, false},
	} {
		waited := false
		got, err := lookUp(t.Context(), types.Lookup{Template: "a", Wait: c.may}, func(ctx context.Context, _ tuple.Template) (tuple.Tuple, error) {
			_, hasDeadline := ctx.Deadline()
			waited = hasDeadline
			return one, c.wait
		}, func(context.Context, tuple.Template) (tuple.Tuple, bool, error) { return one, c.poll.found, c.poll.err })
		require.Equal(t, c.waited, waited, name)
		require.Equal(t, c.line, got.Line, name)
		require.ErrorIs(t, err, c.err, name)
	}
	_, err := lookUp(t.Context(), types.Lookup{Template: "a ..."}, nil, nil)
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestAWaitEndsWhenItsServerDrains(t *testing.T) {
	t.Parallel()
	serving, stop := context.WithCancel(t.Context())
	ctx := context.WithValue(t.Context(), drainKey{}, serving)
	require.False(t, draining(ctx))
	require.False(t, draining(t.Context()), "not of a server")
	require.NoError(t, waitFor(ctx, time.Minute, func(ctx context.Context) error { return ctx.Err() }))
	stop()
	require.True(t, draining(ctx))
	require.ErrorIs(t, waitFor(ctx, time.Minute, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }), context.Canceled)
	require.ErrorIs(t, (&server{}).ready(ctx), context.Canceled, "it is not ready any more")
}

func TestAFieldIsShownAsTheNearestJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ field, want any }{
		{[]byte("ab"), "YWI="}, {"text", "text"}, {"\xff", `"\xff"`}, {float32(1.5), float32(1.5)}, {2.5, 2.5}, {math.NaN(), "NaN"}, {math.Inf(-1), "-Inf"},
		{float32(math.Inf(1)), "+Inf"}, {float32(math.NaN()), "NaN"}, {int64(7), int64(7)}, {true, true}, {nil, nil},
	} {
		require.Equal(t, c.want, valueOf(c.field))
	}
	require.Equal(t, []types.Field{{Type: "string", Value: json.RawMessage("\"a\"\n")}}, valueOf(tuple.New("a")))
	require.Equal(t, []types.Field{{Type: "float64", Value: json.RawMessage("\"NaN\"\n")}}, fieldsOf(tuple.New(math.NaN())))
}

func TestANumberOfSlotsAndAScheduleAreConverted(t *testing.T) {
	t.Parallel()
	c := CapacityOf(visits.Capacity{Slots: 3, Fresh: 0.5, Warnings: []string{"w"}, Kinds: []visits.KindCapacity{{Kind: "git", Origins: 7}}})
	require.Equal(t, types.Capacity{Slots: 3, Fresh: 0.5, Warnings: []string{"w"}, Kinds: []types.KindCapacity{{Kind: "git", Origins: 7}}}, c)
	require.Equal(t, []types.KindCapacity{}, CapacityOf(visits.Capacity{}).Kinds)
	require.Equal(t, []string{}, CapacityOf(visits.Capacity{}).Warnings)
	require.Zero(t, timeOf(schedule.Never))
	require.Equal(t, time.Unix(7, 0).UTC(), timeOf(7))
	require.Nil(t, NextOf(visits.Next{}).Expected)
	require.Equal(t, &types.Expected{At: time.Unix(9, 0).UTC(), Within: 2, Every: 5}, NextOf(visits.Next{Habit: &schedule.Habit{Gap: 5, Spread: 2, Next: 9}}).Expected)

	o := visits.OriginSchedule{State: schedule.NewState(1, 500, schedule.DefaultRules()), Why: "x", Until: 900}
	shown := ScheduleOf(o)
	require.Nil(t, shown.Target)
	require.Zero(t, shown.LastSuccess)
	require.Equal(t, time.Unix(900, 0).UTC(), shown.Until)
	require.Equal(t, time.Unix(500, 0).UTC(), shown.FirstSeen)
	require.Equal(t, "A", shown.Group)
	require.Equal(t, []types.PastVisit{}, shown.History)
	o.Target, o.Every, o.History = 77, 60, []visits.PastVisit{{Size: 5}, {Size: 6}}
	shown = ScheduleOf(o)
	require.EqualValues(t, 77, *shown.Target)
	require.EqualValues(t, 60, shown.Every)
	require.Len(t, shown.History, 2)
	require.EqualValues(t, 6, shown.History[1].Size)
}
