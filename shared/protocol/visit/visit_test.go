package visit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit"
)

func TestPolicyRefusesVisitsWithoutAnEnd(t *testing.T) {
	t.Parallel()
	require.NoError(t, visit.Policy{Timeout: time.Minute}.Check())
	require.ErrorIs(t, visit.Policy{}.Check(), fault.ErrInvalid)
	require.ErrorIs(t, visit.Policy{Timeout: -1}.Check(), fault.ErrInvalid)
}
