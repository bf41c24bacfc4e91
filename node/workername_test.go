package node

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/config"
	"leasehold/shared/space"
)

func TestWorkersOfDifferentDataFoldersHaveDifferentNames(t *testing.T) {
	t.Parallel()
	name := func(dir string) string { return (&remoteNode{mode: config.Worker, dir: dir}).workerName() }
	require.NotEqual(t, name("/a/worker-1"), name("/b/worker-1"))
	require.Equal(t, name("/a/worker-1"), name("/a/worker-1"))
	require.True(t, strings.HasSuffix(name("/a/worker-1"), "/a/worker-1"))
	require.LessOrEqual(t, len(name("/"+strings.Repeat("x/", 500))), space.MaxName)
}
