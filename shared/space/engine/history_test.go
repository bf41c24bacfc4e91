package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

var errRead = errors.New("the disk cannot be read")

// latest is a reader that returns the latest value of a key. Of the keys bad and malformed it returns
// an error and a malformed reply.
func latest(ctx context.Context, h space.History, args tuple.Tuple) (tuple.Tuple, error) {
	switch args.Str(0) {
	case "bad":
		return nil, errRead
	case "malformed":
		return tuple.New(uint8(1)), nil
	}
	r, ok, err := h.LatestHistory(ctx, args.Str(0))
	return tuple.New(ok, r.Value), err
}

func TestARecordOfTheHistoryIsReadOnceItsTransactionIsDurable(t *testing.T) {
	t.Parallel()
	j := &fullJournal{}
	longest := strings.Repeat("k", space.MaxHistoryKey)
	e, err := Open(t.Context(), Config{Journal: j, Readers: space.Readers{"latest": latest}, Procedures: space.Procedures{
		"record": func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
			return nil, tx.RecordHistory(args.Str(0), args.Str(1))
		},
	}})
	require.NoError(t, err)
	r, err := e.Session(t.Context(), "test-1", time.Hour)
	require.NoError(t, err)
	do := func(procedure string, args ...any) (tuple.Tuple, error) {
		return r.Call(t.Context(), space.OpID{}, procedure, args)
	}
	for _, key := range []string{"", longest + "k"} {
		_, err := do("record", key, "value")
		require.ErrorIs(t, err, fault.ErrInvalid, "a key of %d bytes", len(key))
	}
	for _, key := range []string{"k", longest} {
		_, err := do("record", key, "value")
		require.NoError(t, err)
		got, err := do("latest", key)
		require.NoError(t, err)
		require.Equal(t, tuple.New(true, "value"), got)
	}
	j.full = true
	_, err = do("record", "k", "later")
	require.NoError(t, err, "on a full disk nothing is recorded")
	got, err := do("latest", "k")
	require.NoError(t, err)
	require.Equal(t, tuple.New(true, "value"), got)

	_, err = do("latest", "bad")
	require.ErrorIs(t, err, errRead)
	_, err = do("latest", "malformed")
	require.ErrorContains(t, err, "its reply")
	require.NoError(t, r.Close(t.Context()))
	_, err = do("latest", "k")
	require.ErrorIs(t, err, fault.ErrClosed)
}

// trims is a journal whose history takes several calls to trim.
type trims struct {
	journal.Memory
	removed []int // by the calls that follow
	befores []time.Duration
	meet    func() error
}

func (j *trims) TrimHistory(_ context.Context, before time.Duration, _ space.HistoryLimits) (n int, err error) {
	j.befores = append(j.befores, before)
	if len(j.removed) > 0 {
		n, j.removed = j.removed[0], j.removed[1:]
	}
	return n, j.meet()
}

func TestTheHistoryIsTrimmedUntilNothingIsLeftToTrim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		for name, c := range map[string]struct {
			removed []int
			meet    func() error
			calls   int
			want    error
		}{
			"nothing":               {nil, func() error { return nil }, 1, nil},
			"in three calls":        {[]int{500, 1, 0, 9}, func() error { return nil }, 3, nil},
			"an error":              {[]int{500, 500}, func() error { return errRead }, 1, errRead},
			"the end of the caller": {[]int{500, 500}, func() error { cancel(); return nil }, 1, nil},
		} {
			j := &trims{removed: c.removed, meet: c.meet}
			e, err := Open(t.Context(), Config{Journal: j})
			require.NoError(t, err)
			time.Sleep(time.Second)
			require.ErrorIs(t, e.TrimHistory(ctx, space.HistoryLimits{Age: 300 * time.Millisecond}), c.want, name)
			require.Len(t, j.befores, c.calls, name)
			require.Equal(t, 700*time.Millisecond, j.befores[0], name)
			ctx, cancel = context.WithCancel(t.Context())
		}
		cancel()
		j := &trims{}
		e, err := Open(t.Context(), Config{Journal: j})
		require.NoError(t, err)
		require.NoError(t, e.TrimHistory(ctx, space.HistoryLimits{}))
		require.Empty(t, j.befores, "the caller has ended before")
	})
}
