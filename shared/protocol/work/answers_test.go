package work

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// A manager that meets a coordinator of another version must report an error: a result that it
// took for empty would be revoked, and lost.
func TestAnAnswerOfAnotherVersionIsCorrupt(t *testing.T) {
	t.Parallel()
	result := task.EncodeResult(task.ResultTuple{Action: "dig", Subject: "s"})
	good := encodeHeld(space.Entry{Ref: 7, Tuple: result})
	step, err := decodeStep(good)
	require.NoError(t, err)
	require.Equal(t, "s", step.Result.Subject)
	require.EqualValues(t, 7, step.Result.ref)
	step, err = decodeStep(tuple.New(replyCapacity))
	require.NoError(t, err)
	require.Nil(t, step.Result)
	for _, bad := range []tuple.Tuple{nil, good[:1], good[:2], append(good[:3:3], "more")} {
		_, err := decodeStep(bad)
		require.ErrorIs(t, err, fault.ErrCorrupt, "%v", bad)
	}

	entry := encodeReserved(space.Entry{Tuple: result}).Append(nil)
	page := inProgressPage{data: entry, after: 3, ingested: 4}.encode()
	got, reserved, err := decodeInProgress(page)
	require.NoError(t, err)
	require.Len(t, reserved, 1)
	require.Equal(t, []int64{3, 4}, []int64{got.after, got.ingested})
	for _, bad := range []tuple.Tuple{nil, page[:2], append(page[:3:3], "more"), inProgressPage{data: entry[:len(entry)-1]}.encode()} {
		_, _, err := decodeInProgress(bad)
		require.ErrorIs(t, err, fault.ErrCorrupt, "%v", bad)
	}
}
