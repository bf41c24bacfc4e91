package task

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/tuple"
)

func TestATaskThatCannotBeReadIsNamedByTheFieldsThatCan(t *testing.T) {
	t.Parallel()
	good := Item{Task: models.Task{Action: "dig", ID: "t1", Subject: "site"}, Lease: "l1", Token: 7, Priority: 3}
	encoded, err := Encode(good)
	require.NoError(t, err)
	decoded, err := Decode(encoded)
	require.NoError(t, err)
	require.Equal(t, good, decoded)
	for _, body := range []string{"", "{", `{"subject":7}`, `{"subject":"site"} {}`} {
		i, err := Decode(tuple.New("task", "dig", "t1", "l1", int64(7), int64(3), body))
		require.ErrorIs(t, err, fault.ErrCorrupt, body)
		require.ErrorContains(t, err, "task t1")
		require.Equal(t, fault.Of(fault.ErrCorrupt).ExitCode, fault.Of(err).ExitCode)
		require.Equal(t, Item{Task: models.Task{Action: "dig", ID: "t1"}, Lease: "l1", Token: 7, Priority: 3}, i)
	}
}
