package task_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// failing is a session whose calls all fail.
type failing struct{ space.Repository }

func (failing) Call(context.Context, space.OpID, string, tuple.Tuple) (tuple.Tuple, error) {
	return nil, fault.ErrUnavailable
}

// A caller that takes a failed call for a success believes, for example, that a task has been
// reported, or that nothing is paused.
func TestACallThatFailsIsNoSuccess(t *testing.T) {
	withFixture(t, func(f fixture) {
		ctx, c, i := f.Context(), task.Client{Repo: failing{f.repo}}, task.Item{}
		for name, call := range map[string]func() error{
			"claim":            func() error { _, err := c.Claim(ctx, "a"); return err },
			"extend":           func() error { return c.Extend(ctx, i) },
			"note":             func() error { return c.Note(ctx, i, models.Progress{}) },
			"report":           func() error { return c.Report(ctx, i, "", false, nil) },
			"resolve":          func() error { _, err := c.Resolve(ctx, i, nil); return err },
			"resolve, create":  func() error { _, err := c.Resolve(ctx, i, nil, task.New{Task: models.Task{Action: "a"}}); return err },
			"fail":             func() error { return c.Fail(ctx, i, task.Failure{}) },
			"release":          func() error { return c.Release(ctx, i, "") },
			"hand back":        func() error { return c.HandBack(ctx, i) },
			"next":             func() error { _, _, err := c.Next(ctx, nil, 1, "a"); return err },
			"revive":           func() error { return c.ReviveStuck(ctx, "a") },
			"sweep":            func() error { _, err := c.Sweep(ctx, nil); return err },
			"create":           func() error { _, err := c.Create(ctx, models.Task{Action: "a", Timeout: 60}, 0); return err },
			"cancel":           func() error { return c.Cancel(ctx, "t1", "") },
			"dead letter":      func() error { _, err := c.DeadLetter(ctx, "t1"); return err },
			"requeue":          func() error { _, err := c.Requeue(ctx, "t1", false); return err },
			"discard":          func() error { return c.Discard(ctx, "t1") },
			"set a limit":      func() error { return c.SetLimit(ctx, task.Limit{Name: "l", Max: 1}) },
			"remove a limit":   func() error { return c.RemoveLimit(ctx, "l") },
			"limits":           func() error { _, err := c.Limits(ctx); return err },
			"list":             func() error { _, _, err := c.List(ctx, task.Filter{}, nil, 1); return err },
			"list of ended":    func() error { _, _, err := c.List(ctx, task.Filter{State: task.AnyEnd}, nil, 1); return err },
			"counts":           func() error { _, err := c.Counts(ctx, "a"); return err },
			"pause":            func() error { return c.Pause(ctx, "a") },
			"resume":           func() error { return c.Resume(ctx, "a") },
			"show":             func() error { _, err := c.Show(ctx, "t1"); return err },
			"wait":             func() error { _, err := c.Wait(ctx, "t1"); return err },
			"wait for the end": func() error { return c.AwaitEnd(ctx, "t1") },
		} {
			require.ErrorIs(f, call(), fault.ErrUnavailable, name)
		}
	})
}

// cutting is a session whose answers end too early.
type cutting struct{ space.Repository }

func (c cutting) Call(ctx context.Context, op space.OpID, procedure string, args tuple.Tuple) (tuple.Tuple, error) {
	reply, err := c.Repository.Call(ctx, op, procedure, args)
	reply = reply.Clone()
	for n := range reply {
		if data, ok := reply[n].([]byte); ok && len(data) > 0 {
			reply[n] = data[:len(data)-1]
		}
	}
	return reply, err
}

func TestAnAnswerThatEndsTooEarlyIsCorrupt(t *testing.T) {
	withFixture(t, func(f fixture) {
		ctx, c := f.Context(), task.Client{Repo: cutting{f.repo}}
		f.limit("l", 5)
		ended := f.make(models.TaskOptions{})
		f.resolve(f.claims(), 1)
		f.make(models.TaskOptions{After: []string{ended.ID}})
		for name, call := range map[string]func() error{
			"list":          func() error { _, _, err := c.List(ctx, task.Filter{}, nil, 9); return err },
			"list of ended": func() error { _, _, err := c.List(ctx, task.Filter{State: task.AnyEnd}, nil, 9); return err },
			"limits":        func() error { _, err := c.Limits(ctx); return err },
			"create":        func() error { _, err := c.Create(ctx, models.Task{Action: "b", Timeout: 60}, 0); return err },
		} {
			require.ErrorIs(f, call(), fault.ErrCorrupt, name)
		}
		_, err := c.Claim(ctx, "a")
		require.ErrorIs(f, err, fault.ErrCorrupt, "a task with the results of its parents")
		i, err := f.client.Claim(ctx, "b")
		require.NoError(f, err)
		_, _, err = c.Next(ctx, []task.Outcome{task.ToResolve(i, "", nil)}, 0)
		require.ErrorIs(f, err, fault.ErrCorrupt, "the caller does not know whether the outcome was accepted")
	})
}

// refused is a call to be refused.
type refused struct {
	procedure string
	args      tuple.Tuple
}

// refusedArguments returns calls whose arguments are not valid.
func refusedArguments() []refused {
	filter := func(limit int64) tuple.Tuple {
		return tuple.New(tuple.New("", "", "", "", "", int64(0), int64(0)), limit, tuple.Tuple{})
	}
	encoded := func(t tuple.Tuple, times int) (data []byte) {
		for range times {
			data = t.Append(data)
		}
		return data
	}
	create := func(data []byte) tuple.Tuple { return tuple.New(data) }
	inner, record := task.EncodeNew(task.Item{Task: models.Task{Action: "a", Timeout: 60}})
	one := tuple.New(inner, record, "", "", []byte(nil))
	outcome := tuple.New("task.report", tuple.New("t1", tuple.Tuple{}))
	return []refused{
		{"task.claim", tuple.New()},
		{"task.claim", tuple.New(int64(2))},
		{"task.claim", tuple.New("not an id")},
		{"task.claim", tuple.New("a", "")},
		{"task.claim", tuple.New(int64(0), "a")},
		{"task.claim", tuple.New(int64(task.MaxClaims+1), "a")},
		{"task.next", tuple.New([]byte(nil))},
		{"task.next", tuple.New(int64(1), []byte(nil))},
		{"task.next", tuple.New([]byte("x"), int64(0))},
		{"task.next", tuple.New([]byte(nil), int64(0), "not an id")},
		{"task.next", tuple.New(encoded(tuple.New("task.report"), 1), int64(0))},
		{"task.next", tuple.New(encoded(tuple.New("task.pause", tuple.New("a")), 1), int64(0))},
		{"task.next", tuple.New(encoded(outcome, task.MaxOutcomes+1), int64(0))},
		{"task.create", create(nil)},
		{"task.create", create([]byte("x"))},
		{"task.create", create(encoded(tuple.New("a"), 1))},
		{"task.create", create(encoded(one, task.MaxCreate+1))},
		{"task.create", create(encoded(tuple.New(inner, "\xff", "", "", []byte(nil)), 1))},
		{"task.create", create(encoded(tuple.New(inner, record, "", "", []byte("x")), 1))},
		{"task.create", create(encoded(tuple.New(inner, record, "", "", encoded(tuple.New("x"), 1)), 1))},
		{"task.create", create(encoded(tuple.New(tuple.New("a"), record, "", "", []byte(nil)), 1))},
		{"task.release", tuple.New("t1")},
		{"task.release", tuple.New("t1", int64(1), "why", "soon")},
		{"task.release", tuple.New("t1", int64(1), "why", math.NaN(), "", false)},
		{"task.release", tuple.New("t1", int64(1), "why", -1.0, "", false)},
		{"task.handback", tuple.New("t1")},
		{"task.handback", tuple.New("t1", int64(1), "soon")},
		{"task.extend", tuple.New("t1")},
		{"task.extend", tuple.New("t1", int64(1), 0.5)},
		{"task.report", tuple.New("t1")},
		{"task.report", tuple.New("t1", tuple.New("result"))},
		{"task.report", tuple.New("t1", tuple.New("result"), "more")},
		{"task.list", tuple.New("a")},
		{"task.list", filter(0)},
		{"task.list", filter(task.MaxListed + 1)},
		{"task.listended", tuple.New("a")},
		{"task.listended", filter(0)},
		{"task.listended", filter(task.MaxListed + 1)},
		{"task.ended", tuple.New()},
		{"task.ended", tuple.New(int64(1))},
		{"task.pause", tuple.New("not an id")},
		{"task.setlimit", tuple.New("", int64(1), 0.0)},
		{"task.setlimit", tuple.New("l", int64(0), 0.0000009)},
		{"task.setlimit", tuple.New("l", int64(-1), 1.0)},
		{"task.setlimit", tuple.New("l", int64(1), math.NaN())},
		{"task.setlimit", tuple.New("l", int64(1), math.Inf(1))},
		{"task.setlimit", tuple.New("l", int64(1), -1.0)},
		{"task.setlimit", tuple.New("l", int64(0), 1e-7)},
		{"task.setlimit", tuple.New("l", int64(0), 1.1e6)},
	}
}

// A client in another language may send anything. Each of these would otherwise become an unwanted action, list or
// limit.
func TestArgumentsThatAreNotValidAreRefused(t *testing.T) {
	withFixture(t, func(f fixture) {
		for _, bad := range refusedArguments() {
			_, err := f.repo.Call(f.Context(), space.OpID{}, bad.procedure, bad.args)
			require.ErrorIs(f, err, fault.ErrInvalid, "%s %.200s", bad.procedure, bad.args)
		}
		for _, o := range []models.TaskOptions{
			{ResultTTL: -1}, {ResultTTL: 30*86400 + 1},
			{Tags: strings.Split(strings.Repeat("x,", 100)+"x", ",")},
			{Limits: strings.Split(strings.Repeat("x,", 100)+"x", ",")},
			{After: strings.Split(strings.Repeat("x,", 1000)+"x", ",")},
		} {
			_, err := f.client.CreateAll(f.Context(), task.New{Task: models.Task{Action: "a", Timeout: 60, TaskOptions: o}})
			require.ErrorIs(f, err, fault.ErrInvalid, "%.200v", o)
		}
		require.ErrorIs(f, f.client.SetLimit(f.Context(), task.Limit{Name: "l", Rate: 9e-7}), fault.ErrInvalid)
		for _, good := range []task.Limit{{Name: "l"}, {Name: "l", Rate: 1e-6}, {Name: "l", Rate: 1e6}, {Name: "l", Max: 1}} {
			require.NoError(f, f.client.SetLimit(f.Context(), good))
		}
		all, _, err := f.client.List(f.Context(), task.Filter{}, nil, task.MaxListed)
		require.NoError(f, err)
		require.Empty(f, all, "none was created, not even the first of a batch")
	})
}

func TestATaskAtABoundIsAcceptedAndTheErrorBeyondNamesTheField(t *testing.T) {
	t.Parallel()
	names := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprint("n", i))
		}
		return all
	}
	longest := models.SecondsOf(lease.MaxTTL)
	text := func(n int) string { return strings.Repeat("x", n) }
	most := tuple.MaxBytes / 2
	type set = func(n *task.New)
	for _, c := range []struct {
		at, beyond set
		want       error
		says       string
	}{
		{func(n *task.New) { n.Timeout = longest }, func(n *task.New) { n.Timeout = longest + .1 }, fault.ErrInvalid, "timeout"},
		{func(n *task.New) { n.Timeout = .001 }, func(n *task.New) { n.Timeout = 0 }, fault.ErrInvalid, "timeout"},
		{func(n *task.New) { n.Action = "a-b" }, func(n *task.New) { n.Action = "a b" }, fault.ErrInvalid, "action"},
		{func(n *task.New) { n.MaxAttempts = 1000 }, func(n *task.New) { n.MaxAttempts = 1001 }, fault.ErrInvalid, "max_attempts 1001"},
		{func(n *task.New) { n.MaxAttempts = 0 }, func(n *task.New) { n.MaxAttempts = -1 }, fault.ErrInvalid, "max_attempts -1"},
		{func(n *task.New) { n.Backoff = longest }, func(n *task.New) { n.Backoff = longest + .1 }, fault.ErrInvalid, "backoff"},
		{func(n *task.New) { n.Backoff = 0 }, func(n *task.New) { n.Backoff = -.1 }, fault.ErrInvalid, "backoff"},
		{func(n *task.New) { n.Backoff = 1 }, func(n *task.New) { n.Backoff = models.Seconds(math.NaN()) }, fault.ErrInvalid, "backoff"},
		{func(n *task.New) { n.ResultTuple, n.ResultTTL = true, 5 }, func(n *task.New) { n.ResultTTL = 5 }, fault.ErrInvalid, "result_ttl has no effect without result_tuple"},
		{func(n *task.New) { n.ResultTuple, n.ResultTTL = true, longest }, func(n *task.New) { n.ResultTTL = longest + .1 }, fault.ErrInvalid, "result_ttl"},
		{func(n *task.New) { n.ResultTTL = 0 }, func(n *task.New) { n.ResultTTL = -.1 }, fault.ErrInvalid, "result_ttl"},
		{func(n *task.New) { n.ResultTuple, n.ResultTTL = true, 1 }, func(n *task.New) { n.ResultTTL = models.Seconds(math.NaN()) }, fault.ErrInvalid, "result_ttl"},
		{func(n *task.New) { n.ResultTuple, n.ResultTTL = true, .1 }, func(n *task.New) { n.ResultTuple = true }, fault.ErrInvalid, "result_tuple"},
		{func(n *task.New) { n.OnFailure, n.After = models.RunAnyway, names(1) }, func(n *task.New) { n.OnFailure, n.After = "x", names(1) }, fault.ErrInvalid, "on_failure"},
		{func(n *task.New) { n.OnFailure, n.After = models.FailWithParent, names(1) }, func(n *task.New) { n.OnFailure = models.FailWithParent }, fault.ErrInvalid, "on_failure has no effect without after"},
		{func(n *task.New) { n.OnLimit, n.Limits = models.CancelRunning, names(1) }, func(n *task.New) { n.OnLimit, n.Limits = "x", names(1) }, fault.ErrInvalid, "on_limit"},
		{func(n *task.New) { n.OnLimit, n.Limits = models.WaitForLimit, names(1) }, func(n *task.New) { n.OnLimit = models.WaitForLimit }, fault.ErrInvalid, "on_limit has no effect without limits"},
		{func(n *task.New) { n.OnConflict, n.UniqueKey = task.KeepFirst, "k" }, func(n *task.New) { n.OnConflict, n.UniqueKey = "x", "k" }, fault.ErrInvalid, "on_conflict"},
		{func(n *task.New) { n.OnConflict, n.UniqueKey = task.Replace, "k" }, func(n *task.New) { n.OnConflict = task.KeepFirst }, fault.ErrInvalid, "on_conflict has no effect without unique_key"},
		{func(n *task.New) { n.Tags = names(16) }, func(n *task.New) { n.Tags = names(17) }, fault.ErrInvalid, "tags has 17 names, at most 16"},
		{func(n *task.New) { n.Limits = names(8) }, func(n *task.New) { n.Limits = names(9) }, fault.ErrInvalid, "limits has 9 names, at most 8"},
		{func(n *task.New) { n.Tags = []string{"a", "b"} }, func(n *task.New) { n.Tags = []string{"a", "b", "a"} }, fault.ErrInvalid, `tags has "a" twice`},
		{func(n *task.New) { n.Limits = []string{text(200)} }, func(n *task.New) { n.Limits = []string{text(201)} }, fault.ErrInvalid, "limits"},
		{func(n *task.New) { n.Group = text(200) }, func(n *task.New) { n.Group = text(201) }, fault.ErrInvalid, "group"},
		{func(n *task.New) { n.Group = "ä b" }, func(n *task.New) { n.Group = "a\x7fb" }, fault.ErrInvalid, "group"},
		{func(n *task.New) { n.UniqueKey = text(200) }, func(n *task.New) { n.UniqueKey = "\xff" }, fault.ErrInvalid, "unique_key"},
		{func(n *task.New) { n.Data = json.RawMessage(`"` + text(most-2) + `"`) }, func(n *task.New) { n.Data = json.RawMessage(`"` + text(most-1) + `"`) }, fault.ErrTooLarge, fmt.Sprint(most)},
		{func(n *task.New) { n.Subject, n.Data = text(9), json.RawMessage(`"`+text(most-11)+`"`) }, func(n *task.New) { n.Subject, n.Data = text(10), json.RawMessage(`"`+text(most-11)+`"`) }, fault.ErrTooLarge, "subject"},
		{func(n *task.New) { n.Data = json.RawMessage("1") }, func(n *task.New) { n.Data = json.RawMessage("1,") }, fault.ErrInvalid, "JSON"},
	} {
		n := task.New{Task: models.Task{Action: "a", Timeout: 60}}
		c.at(&n)
		require.NoError(t, n.Check(), c.says)
		n = task.New{Task: models.Task{Action: "a", Timeout: 60}}
		c.beyond(&n)
		err := n.Check()
		require.ErrorIs(t, err, c.want, c.says)
		require.ErrorContains(t, err, c.says)
	}
}

func TestRequestsOfTheMostTasksAreAccepted(t *testing.T) {
	withFixture(t, func(f fixture) {
		all := make([]task.New, task.MaxCreate)
		for n := range all {
			all[n] = task.New{Task: models.Task{Action: "a", Timeout: 60}}
		}
		made, err := f.client.CreateAll(f.Context(), all...)
		require.NoError(f, err)
		require.Len(f, made, task.MaxCreate)
		_, err = f.client.CreateAll(f.Context(), append(all, all[0])...)
		require.ErrorIs(f, err, fault.ErrInvalid)
		listed, next, err := f.client.List(f.Context(), task.Filter{}, nil, task.MaxListed)
		require.NoError(f, err)
		for len(next) > 0 {
			var more []task.Listed
			more, next, err = f.client.List(f.Context(), task.Filter{}, next, task.MaxListed)
			require.NoError(f, err)
			listed = append(listed, more...)
		}
		require.Len(f, listed, task.MaxCreate)

		claimed, err := f.client.ClaimUpTo(f.Context(), task.MaxClaims, "a")
		require.NoError(f, err)
		require.Len(f, claimed, task.MaxClaims)
		_, err = f.client.ClaimUpTo(f.Context(), task.MaxClaims+1, "a")
		require.ErrorIs(f, err, fault.ErrInvalid)
		require.ErrorContains(f, err, fmt.Sprint("want 1 to ", task.MaxClaims))
		var ends []task.Outcome
		for _, c := range claimed {
			ends = append(ends, task.ToResolve(c.Item, "", nil))
		}
		require.Len(f, ends, task.MaxOutcomes)
		refused, more, err := f.client.Next(f.Context(), ends, task.MaxClaims, "a")
		require.NoError(f, err)
		require.Len(f, more, task.MaxClaims)
		for _, end := range refused {
			require.NoError(f, end.Err)
		}
		_, _, err = f.client.Next(f.Context(), append(ends, ends[0]), 0)
		require.ErrorIs(f, err, fault.ErrInvalid)
		require.ErrorContains(f, err, fmt.Sprint("at most ", task.MaxOutcomes))
	})
}

func TestDelaysAndProgressAtTheirBoundsAreAccepted(t *testing.T) {
	withFixture(t, func(f fixture) {
		const longest = 10 * 365 * 24 * time.Hour
		for range 4 {
			f.make(models.TaskOptions{MaxAttempts: 9})
		}
		i := f.claims()
		for _, fraction := range []float64{0, 1} {
			require.NoError(f, f.client.Note(f.Context(), i, models.Progress{Fraction: fraction}))
			shown, err := f.client.Show(f.Context(), i.ID)
			require.NoError(f, err)
			require.InDelta(f, fraction, shown.Progress.Fraction, 0)
		}
		for _, fraction := range []float64{-1e-9, 1 + 1e-9, math.NaN(), math.Inf(1)} {
			err := f.client.Note(f.Context(), i, models.Progress{Fraction: fraction})
			require.ErrorIs(f, err, fault.ErrInvalid)
			require.ErrorContains(f, err, "progress")
		}
		for _, delay := range []time.Duration{-time.Nanosecond, longest + time.Second} {
			err := f.client.Fail(f.Context(), i, task.Failure{Reason: "x", Delay: delay})
			require.ErrorIs(f, err, fault.ErrInvalid, delay)
			require.ErrorContains(f, err, "delay")
		}
		require.ErrorIs(f, f.client.HandBackFor(f.Context(), i, longest+time.Second), fault.ErrInvalid)
		require.NoError(f, f.client.Fail(f.Context(), i, task.Failure{Reason: "x", Delay: longest}))
		shown, err := f.client.Show(f.Context(), i.ID)
		require.NoError(f, err)
		require.WithinDuration(f, time.Now().Add(longest), shown.RetryAt, time.Second)
		i = f.claims()
		require.NoError(f, f.client.HandBackFor(f.Context(), i, longest))
		require.NotEqual(f, i.ID, f.claims().ID)
	})
}
