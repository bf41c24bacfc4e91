package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
)

func TestTheHistoryGetsTheFirstLineOfAnErrorUpToABound(t *testing.T) {
	t.Parallel()
	x := func(n int) string { return strings.Repeat("x", n) }
	for text, want := range map[string]string{
		"": "", "one": "one", "one\ntwo": "one", "\ntwo": "",
		x(400): x(400), x(401): x(400), x(400) + "\ny": x(400),
		x(399) + "éé": x(399) + "é", strings.Repeat("é", 300): strings.Repeat("é", 200),
	} {
		require.Equal(t, want, firstLine(errors.New(text)))
	}
}

func TestAnErrorEndsTheSessionUnlessTheTaskIsGoneOrTheSessionHasEnded(t *testing.T) {
	t.Parallel()
	alive, end := context.WithCancel(t.Context())
	s, broken := &shift{}, errors.New("broken")
	require.NoError(t, s.sessionError(alive, nil))
	require.NoError(t, s.sessionError(alive, fmt.Errorf("release: %w", fault.ErrStaleToken)))
	require.ErrorIs(t, s.sessionError(alive, broken), broken)
	end()
	require.NoError(t, s.sessionError(alive, broken))
	require.NoError(t, s.sessionError(alive, nil))
}

func TestABodyThatNamesAFaultIsRefusedIfNoManagerRecordsIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lease string
		body  any
		want  string // of the error; empty: none
	}{
		{"", nil, ""}, {"", 7, ""}, {"", models.Researched{}, ""},
		{"", models.Researched{Problem: "no file"}, "no file: invalid"},
		{"", models.Researched{Problem: "no file: invalid"}, "no file: invalid"},
		{"l1", models.Researched{Problem: "no file"}, ""},
	} {
		j := &job{item: task.ClaimedTask{Item: task.Item{Lease: c.lease, Token: 5}}}
		id, token := j.Lease()
		require.Equal(t, []any{c.lease, int64(5)}, []any{id, token})
		err := j.checkProblem(c.body)
		if c.want == "" {
			require.NoError(t, err, c)
			continue
		}
		require.ErrorIs(t, err, fault.ErrInvalid)
		require.EqualError(t, err, c.want)
		require.ErrorIs(t, j.Report(t.Context(), "", c.body), fault.ErrInvalid)
		require.ErrorIs(t, j.Resolve(t.Context(), "", c.body), fault.ErrInvalid)
	}
}

func TestOnlyAStaleTokenEndsTheContextOfAHandler(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancelCause(t.Context())
	j, broken := &job{stop: stop}, errors.New("broken")
	require.NoError(t, j.stopIfStale(nil))
	require.ErrorIs(t, j.stopIfStale(broken), broken)
	require.NoError(t, ctx.Err())
	require.ErrorIs(t, j.stopIfStale(fault.ErrStaleToken), fault.ErrStaleToken)
	require.ErrorIs(t, context.Cause(ctx), fault.ErrStaleToken)
}

func TestAFailureIsTheErrorThatItTellsMoreAbout(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, err := range []error{GiveUp(broken), Later(1, broken), fmt.Errorf("outer: %w", GiveUp(broken))} {
		require.ErrorIs(t, err, broken)
		require.ErrorContains(t, err, "broken")
	}
}

func TestSlotsAreSharedByTheActionsWithoutOwnOnes(t *testing.T) {
	t.Parallel()
	h := HandlerFunc(func(context.Context, Job) error { return nil })
	handlers := func(n int) map[string]Handler {
		all := map[string]Handler{}
		for k := range n {
			all[string(rune('a'+k/26))+string(rune('a'+k%26))] = h
		}
		return all
	}
	for name, c := range map[string]struct {
		config Config
		pools  []pool // nil: it is refused
	}{
		"shared":              {Config{Slots: 3, Handlers: handlers(2)}, []pool{{3, []string{"aa", "ab"}}}},
		"one has its own":     {Config{Slots: 3, Handlers: handlers(3), OwnSlots: map[string]int{"ab": 1}}, []pool{{1, []string{"ab"}}, {3, []string{"aa", "ac"}}}},
		"each has its own":    {Config{Slots: 1, Handlers: handlers(1), OwnSlots: map[string]int{"aa": 2}}, []pool{{2, []string{"aa"}}}},
		"no slots":            {Config{Slots: 0, Handlers: handlers(1)}, nil},
		"no own slots":        {Config{Slots: 1, Handlers: handlers(1), OwnSlots: map[string]int{"aa": 0}}, nil},
		"slots of no handler": {Config{Slots: 1, Handlers: handlers(1), OwnSlots: map[string]int{"b": 1}}, nil},
		"too many actions":    {Config{Slots: 1, Handlers: handlers(status.MaxServed + 1)}, nil},
	} {
		if c.pools == nil {
			require.ErrorIs(t, c.config.check(), fault.ErrInvalid, name)
			continue
		}
		require.NoError(t, c.config.check(), name)
		require.Equal(t, c.pools, c.config.pools(), name)
	}
	require.NoError(t, Config{Slots: 1, Handlers: handlers(status.MaxServed)}.check())
}

func TestMiddlewareThatLogsTellsWhatIsDoneAndPassesTheErrorOn(t *testing.T) {
	t.Parallel()
	for _, want := range []error{nil, errors.New("broken")} {
		calls := 0
		var lines strings.Builder
		h := Log(slog.New(slog.NewTextHandler(&lines, nil)))(HandlerFunc(func(context.Context, Job) error { calls++; return want }))
		j := &job{item: task.ClaimedTask{Item: task.Item{Task: models.Task{ID: "t7", Action: "dig", Subject: "s"}}}}
		require.Equal(t, want, h.Handle(t.Context(), j))
		require.Equal(t, 1, calls)
		if want == nil {
			require.Contains(t, lines.String(), `msg="worker: task done" task=t7 action=dig subject=s took=`)
		} else {
			require.Empty(t, lines.String(), "the worker logs it")
		}
	}
}
