//go:build unix

package platform_test

import (
	"bytes"
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/process/platform"
)

// The command ends once it has the lowest priority, and so has a process that it starts.
func TestACommandInTheBackgroundHasTheLowestPriority(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out bytes.Buffer
	c := exec.CommandContext(ctx, "sh", "-c", `until [ "$(nice)" = 19 ]; do :; done; echo low`)
	c.Stdout = &out
	require.NoError(t, platform.RunInBackground(c, time.Second))
	require.Equal(t, "low\n", out.String())
	require.Error(t, platform.RunInBackground(exec.CommandContext(ctx, "/no/such/program"), time.Second))
}
