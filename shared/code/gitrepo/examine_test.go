package gitrepo

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// examined fetches a repository into a mirror, changes each of its packs and pack indexes in turn, and examines the
// mirrors. Each must be named; and without a change, none.
func examined(t *testing.T, r *repo, lib bool) {
	t.Helper()
	r.commit(map[string]string{"a.txt": "one"})
	s := openStore(t, Config{Library: lib})
	damage, err := ExamineMirrors(t.Context(), s.Dir)
	require.NoError(t, err)
	require.Empty(t, damage, "there is no mirror")
	filesOf(t, mirrorOf(t, s, r.dir), Wanted{})
	loose, err := filepath.Glob(filepath.Join(s.Dir, "*.git/objects/??/*"))
	require.NoError(t, err)
	require.Empty(t, loose, "ExamineMirrors reads only packs")
	damage, err = ExamineMirrors(t.Context(), s.Dir)
	require.NoError(t, err)
	require.Empty(t, damage)

	files, err := filepath.Glob(filepath.Join(s.Dir, "*.git/objects/pack/*.[pi]*"))
	require.NoError(t, err)
	require.Len(t, files, 2, "a pack and its index")
	for _, path := range files {
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(path, 0o600))
		for name, content := range map[string][]byte{"cut": whole[:len(whole)-1], "empty": {}, "changed": append([]byte("x"), whole[1:]...)} {
			require.NoError(t, os.WriteFile(path, content, 0o600))
			damage, err := ExamineMirrors(t.Context(), s.Dir)
			require.NoError(t, err)
			require.Equal(t, []string{path + ": it was cut or changed"}, damage, name)
		}
		require.NoError(t, os.WriteFile(path, whole, 0o600))
	}
}

func TestADamagedPackOfAMirrorIsNamed(t *testing.T) {
	t.Parallel()
	bothEngines(t, func(t *testing.T, lib bool) { examined(t, newRepo(t), lib) })
	t.Run("sha256", func(t *testing.T) {
		const lib = false // it cannot read SHA-256
		examined(t, newRepo(t, "--object-format=sha256"), lib)
	})
}
