package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

func TestEachKindHasOneRowAndOneCode(t *testing.T) {
	t.Parallel()
	codes, kinds := map[string]bool{}, map[error]bool{}
	for _, r := range fault.Table {
		require.False(t, codes[r.Code], "code %s twice", r.Code)
		require.False(t, kinds[r.Kind], "kind %v twice", r.Kind)
		codes[r.Code], kinds[r.Kind] = true, true
		require.Positive(t, r.ExitCode)
		require.GreaterOrEqual(t, r.HTTPStatus, 400)
		require.Equal(t, r.Kind, fault.FromCode(r.Code))
	}
	require.Nil(t, fault.Table[len(fault.Table)-1].Kind, "the last row is for errors of no kind")
}

func TestAWrappedErrorHasItsKindsRow(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("lease.Extend 42: %w", fault.ErrStaleToken)
	require.Equal(t, "stale_token", fault.Of(err).Code)
	require.Equal(t, "internal", fault.Of(errors.New("disk on fire")).Code)
	require.Nil(t, fault.FromCode("of a later version"))
}

func ExampleOf() {
	err := fmt.Errorf("queue-ttl: %w", fault.ErrUsage)
	fmt.Println(fault.Of(err).ExitCode)
	// Output: 2
}
