package memory

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheLeastLimitOfAllCgroupsCounts(t *testing.T) {
	t.Parallel()
	const ram = "MemTotal:        8388608 kB\n"
	for name, x := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing is reported": {nil, fallback},
		"no cgroups":          {map[string]string{"proc/meminfo": ram}, 8 << 30},
		"version 2": {map[string]string{
			"proc/meminfo": ram, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/memory.max": "536870912\n", "sys/fs/cgroup/a/b/memory.max": "max\n",
		}, 512 << 20},
		"version 1": {map[string]string{
			"proc/meminfo": ram, "proc/self/cgroup": "4:memory:/x\n1:cpu:/x\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "268435456\n",
		}, 256 << 20},
		"version 1 in a container": {map[string]string{
			"proc/meminfo": ram, "proc/self/cgroup": "4:memory:/docker/abc\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456\n",
		}, 256 << 20},
		"a limit above what there is": {map[string]string{
			"proc/meminfo": ram, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1099511627776\n",
		}, 8 << 30},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for path, text := range x.files {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(text), 0o600))
			}
			require.Equal(t, x.want, available(root))
		})
	}
}

func TestTheReserveIsForWhatDrains(t *testing.T) {
	t.Parallel()
	b := New(1000)
	require.NoError(t, b.Reserve(750, Growth))
	require.ErrorIs(t, b.Reserve(1, Growth), ErrFull)
	require.NoError(t, b.Reserve(250, Draining))
	require.ErrorIs(t, b.Reserve(1, Draining), ErrFull)
	b.Add(4000) // a folder larger than the budget
	b.Rebase()
	require.NoError(t, b.Reserve(250, Draining))
	require.ErrorIs(t, b.Reserve(1, Draining), ErrFull)
	require.True(t, b.Full())
	b.Add(-5250)
	require.Zero(t, b.Used())
	require.False(t, b.Full())
	require.NoError(t, (*Budget)(nil).Reserve(1<<60, Growth), "no limit")
}
