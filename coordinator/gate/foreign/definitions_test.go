package foreign_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator"
	"leasehold/coordinator/gate/foreign"
	"leasehold/shared/fault"
	"leasehold/shared/space"
)

func TestEverySpaceThatACoordinatorMarksCanOnlyBeQueried(t *testing.T) {
	t.Parallel()
	for _, d := range coordinator.Definitions() {
		err := foreign.Access{Write: true}.Check(foreign.Operation{Verb: space.VerbPut, Space: d.Name})
		if d.QueryOnly {
			require.ErrorIs(t, err, fault.ErrForbidden, d.Name)
		} else {
			require.NoError(t, err, d.Name)
		}
	}
}
