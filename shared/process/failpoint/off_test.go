//go:build !failpoints

package failpoint_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/process/failpoint"
)

func TestANormalBuildHasNoFailpoints(t *testing.T) {
	// Not parallel: the environment is the process's.
	t.Setenv("FAILPOINT", "here:1")
	failpoint.Reached("here", "")
	self, err := os.Executable()
	require.NoError(t, err)
	binary, err := os.ReadFile(self)
	require.NoError(t, err)
	message := strings.Join([]string{"POINT[/OF]", "VISIT with a VISIT"}, ":") // of on.go, which this file must not hold
	require.False(t, bytes.Contains(binary, []byte(message)))
}
