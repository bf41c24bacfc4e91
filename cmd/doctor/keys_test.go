package doctor_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/cmd/doctor"
)

func TestFault45KeysThatOthersCanReadAreFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"identity/ca.key": 0o600, "identity/ca.crt": 0o644, "identity/admin.token": 0o600, "worker-1/identity.key": 0o600} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, nil, mode))
	}
	require.NotContains(t, examine(t, doctor.Folders{Data: dir}), "keys")
	for name, mode := range map[string]os.FileMode{"identity": 0o755, "identity/ca.key": 0o644, "identity/admin.token": 0o640, "worker-1/identity.key": 0o604} {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(path, mode))
		found := examine(t, doctor.Folders{Data: dir})["keys"]
		require.Equal(t, doctor.Fail, found.State, name)
		require.Contains(t, found.What, path)
		require.Regexp(t, `^chmod [67]00 `+path+`$`, found.Advice)
		require.NoError(t, os.Chmod(path, info.Mode().Perm()))
	}
}
