package task_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/task"
	"leasehold/shared/tuple"
)

func TestListsSelectByStateActionTagGroupAgeAndText(t *testing.T) {
	withFixture(t, func(f fixture) {
		old := f.make(models.TaskOptions{Tags: []string{"x"}})
		<-time.After(time.Hour)
		delayed := f.make(models.TaskOptions{NotBefore: time.Now().Add(time.Hour), Tags: []string{"x", "y"}})
		grouped := f.make(models.TaskOptions{Group: "g"}, func(n *task.New) { n.Action = "b" })
		claimed := f.claims()
		require.Equal(f, old.ID, claimed.ID)
		gone := f.make(models.TaskOptions{MaxAttempts: 1, Tags: []string{"y"}})
		require.NoError(f, f.client.Release(f.Context(), f.claims(), "No such File"))
		for name, c := range map[string]struct {
			filter task.Filter
			want   []string
		}{
			"alive":       {task.Filter{}, []string{grouped.ID, delayed.ID, old.ID}},
			"waiting":     {task.Filter{State: task.Waiting}, []string{grouped.ID}},
			"waiting of":  {task.Filter{State: task.Waiting, Action: "b"}, []string{grouped.ID}},
			"delayed":     {task.Filter{State: task.StateDelayed}, []string{delayed.ID}},
			"claimed of":  {task.Filter{State: task.Claimed, Action: "a"}, []string{old.ID}},
			"action":      {task.Filter{Action: "a"}, []string{delayed.ID, old.ID}},
			"tag":         {task.Filter{Tag: "x"}, []string{old.ID, delayed.ID}},
			"group":       {task.Filter{Group: "g"}, []string{grouped.ID}},
			"older":       {task.Filter{Older: time.Minute}, []string{old.ID}},
			"younger":     {task.Filter{Younger: time.Minute, Action: "a"}, []string{delayed.ID}},
			"dead":        {task.Filter{State: task.StateDead, Text: "no such file"}, []string{gone.ID}},
			"dead by tag": {task.Filter{State: task.StateDead, Tag: "y"}, []string{gone.ID}},
			"other text":  {task.Filter{State: task.StateDead, Text: "disk"}, nil},
		} {
			var got []string
			var cursor task.Cursor
			for first := true; first || len(cursor) > 0; first = false {
				all, next, err := f.client.List(f.Context(), c.filter, cursor, 1)
				require.NoError(f, err, name)
				for _, l := range all {
					got = append(got, l.ID)
				}
				cursor = next
			}
			require.ElementsMatch(f, c.want, got, name)
		}
	})
}

// Each list reads as few tasks as the labels allow, and finds all.
func TestListsFindTasksInEachStateAndAtTheBoundsOfAnAge(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.limit("db", 1)
		in := func(action string) func(*task.New) { return func(n *task.New) { n.Action = action } }
		running := f.make(models.TaskOptions{Limits: []string{"db"}})
		f.claims()
		backOff := f.make(models.TaskOptions{Tags: []string{"x"}})
		require.NoError(f, f.client.Fail(f.Context(), f.claims(), task.Failure{Reason: "Disk Full", Delay: time.Hour}))
		<-time.After(time.Second)
		limited := f.make(models.TaskOptions{Limits: []string{"db"}})
		require.Empty(f, f.claims().ID)
		waiting := f.make(models.TaskOptions{})
		require.NoError(f, f.client.HandBack(f.Context(), f.claims()))
		delayed := f.make(models.TaskOptions{NotBefore: time.Now().Add(time.Hour)})
		blocked := f.make(models.TaskOptions{After: []string{running.ID}})
		require.NoError(f, f.client.Pause(f.Context(), "b"))
		paused := f.make(models.TaskOptions{}, in("b"))
		blockedToo := f.make(models.TaskOptions{After: []string{running.ID}}, in("b"))
		dead := f.make(models.TaskOptions{}, in("c"))
		i, err := f.client.Claim(f.Context(), "c")
		require.NoError(f, err)
		require.NoError(f, f.client.Fail(f.Context(), i, task.Failure{Reason: "never", GiveUp: true}))
		age := time.Since(backOff.CreatedAt)
		for name, c := range map[string]struct {
			filter task.Filter
			want   []string
		}{
			"waiting of a":    {task.Filter{State: task.Waiting, Action: "a"}, []string{backOff.ID, limited.ID, waiting.ID}},
			"waiting":         {task.Filter{State: task.Waiting}, []string{backOff.ID, limited.ID, waiting.ID}},
			"delayed of a":    {task.Filter{State: task.StateDelayed, Action: "a"}, []string{delayed.ID}},
			"blocked":         {task.Filter{State: task.StateBlocked}, []string{blocked.ID, blockedToo.ID}},
			"blocked of b":    {task.Filter{State: task.StateBlocked, Action: "b"}, []string{blockedToo.ID}},
			"paused":          {task.Filter{State: task.StatePaused}, []string{paused.ID}},
			"claimed":         {task.Filter{State: task.Claimed}, []string{running.ID}},
			"dead of c":       {task.Filter{State: task.StateDead, Action: "c"}, []string{dead.ID}},
			"dead of a":       {task.Filter{State: task.StateDead, Action: "a"}, nil},
			"tag of b":        {task.Filter{Tag: "x", Action: "b"}, nil},
			"error":           {task.Filter{Text: "disk full"}, []string{backOff.ID}},
			"state":           {task.Filter{Text: "handed back"}, []string{waiting.ID}},
			"as old":          {task.Filter{Older: age, Action: "a"}, []string{running.ID, backOff.ID}},
			"older":           {task.Filter{Older: age + 1, Tag: "x"}, nil},
			"as young":        {task.Filter{Younger: age, Tag: "x"}, []string{backOff.ID}},
			"younger":         {task.Filter{Younger: age - 1, Tag: "x"}, nil},
			"dead, by reason": {task.Filter{State: task.StateDead, Text: "NEVER"}, []string{dead.ID}},
			"dead, by state":  {task.Filter{State: task.StateDead, Text: "dead: never"}, []string{dead.ID}},
		} {
			all, _, err := f.client.List(f.Context(), c.filter, nil, 100)
			require.NoError(f, err, name)
			var got []string
			for _, l := range all {
				got = append(got, l.ID)
			}
			require.ElementsMatch(f, c.want, got, name)
		}
		counts, err := f.client.Counts(f.Context(), "a")
		require.NoError(f, err)
		require.Equal(f, task.Counts{task.Waiting: 3, task.StateDelayed: 1, task.StateBlocked: 1, task.StatePaused: 0, task.Claimed: 1}, counts)
		counts, err = f.client.Counts(f.Context(), "b")
		require.NoError(f, err)
		require.Equal(f, task.Counts{task.Waiting: 0, task.StateDelayed: 0, task.StateBlocked: 1, task.StatePaused: 1, task.Claimed: 0}, counts)
	})
}

// Answers are bounded: large tasks come in several pages or claims, and one always fits.
func TestLargeTasksComeInSeveralPagesAndClaims(t *testing.T) {
	withFixture(t, func(f fixture) {
		data := json.RawMessage(`"` + strings.Repeat("x", 300<<10) + `"`)
		for n := range 4 {
			f.make(models.TaskOptions{}, func(w *task.New) {
				w.Data, w.Subject = data, fmt.Sprint(n)
				if n == 0 {
					w.Data = json.RawMessage(`"` + strings.Repeat("x", 500<<10) + `"`)
				}
			})
		}
		pages := func(filter task.Filter) (sizes []int) {
			var cursor task.Cursor
			for first := true; first || len(cursor) > 0; first = false {
				all, next, err := f.client.List(f.Context(), filter, cursor, 9)
				require.NoError(f, err)
				cursor, sizes = next, append(sizes, len(all))
			}
			return sizes
		}
		require.Equal(f, []int{2, 2}, pages(task.Filter{}))
		for _, want := range []int{1, 2, 1} {
			claimed, err := f.client.ClaimUpTo(f.Context(), 4, "a")
			require.NoError(f, err)
			require.Len(f, claimed, want)
			for _, c := range claimed {
				f.resolve(c.Item, nil)
			}
		}
		require.Equal(f, []int{4}, pages(task.Filter{State: task.Resolved}), "without their data")
		for range 4 {
			f.make(models.TaskOptions{}, func(w *task.New) { w.Subject = strings.Repeat("s", 400<<10) })
			f.resolve(f.claims(), nil)
		}
		require.Equal(f, []int{2, 6}, pages(task.Filter{State: task.Resolved}))
	})
}

// A damaged or old cursor of a client must not end in an error or an endless list.
func TestACursorOfAnotherFormIsTheBeginningOrTheEnd(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.make(models.TaskOptions{})
		f.resolve(f.claims(), nil)
		f.make(models.TaskOptions{})
		for name, c := range map[string]struct {
			state  task.State
			cursor tuple.Tuple
			want   int
		}{
			"beginning":             {"", tuple.New(int64(0), int64(0), int64(0), int64(0)), 1},
			"short":                 {"", tuple.New(int64(9)), 1},
			"negative":              {"", tuple.New(int64(-1), int64(0), int64(1)<<40, int64(0)), 1},
			"second walk":           {"", tuple.New(int64(1), int64(0), int64(0), int64(0)), 0},
			"beyond all":            {"", tuple.New(int64(9), int64(0), int64(0), int64(0)), 0},
			"far beyond":            {"", tuple.New(int64(1)<<62, int64(0), int64(0), int64(0)), 0},
			"beginning of ended":    {task.AnyEnd, tuple.New(int64(0)), 1},
			"long, of ended":        {task.AnyEnd, tuple.New(int64(1), int64(1)), 1},
			"negative, of ended":    {task.AnyEnd, tuple.New(int64(-9)), 1},
			"the first one behind":  {task.AnyEnd, tuple.New(int64(1)), 0},
			"beyond all, of ended":  {task.AnyEnd, tuple.New(int64(1) << 62), 1},
			"not numbers, of ended": {task.AnyEnd, tuple.New("x"), 1},
		} {
			all, next, err := f.client.List(f.Context(), task.Filter{State: c.state}, task.Cursor(c.cursor), 9)
			require.NoError(f, err, name)
			require.Len(f, all, c.want, name)
			require.Empty(f, next, name)
		}
	})
}
