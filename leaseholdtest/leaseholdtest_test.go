package leaseholdtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/leaseholdtest"
	"leasehold/shared/protocol/task/tasktest"
)

func TestItDoesWhatEveryCoordinatorOfTasksDoes(t *testing.T) {
	tasktest.Exercise(t, func(t testing.TB) tasktest.System {
		c, err := leaseholdtest.Open()
		require.NoError(t, err)
		return tasktest.System{Tasks: c.Tasks(), Connect: c.Connect, Close: c.Close}
	})
}
