package fingerprint_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/fingerprint"
)

func TestADamagedFileOfAStoreIsNamed(t *testing.T) {
	t.Parallel()
	s, dir := open(t, 1<<30)
	damage, err := fingerprint.Examine(t.Context(), filepath.Join(dir, "none"))
	require.NoError(t, err)
	require.Empty(t, damage)
	s.SetSegmentBytes(1)
	for i := range 3 {
		putNoise(t, s, fmt.Sprint(i), uint64(i), 5)
	}
	require.NotEmpty(t, segments(t, dir))
	damage, err = fingerprint.Examine(t.Context(), dir)
	require.NoError(t, err)
	require.Empty(t, damage)

	for _, suffix := range []string{".marks", ".pcm", ".segment"} {
		files, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		whole, err := os.ReadFile(files[0])
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(files[0], whole[:len(whole)-2], 0o600))
		damage, err := fingerprint.Examine(t.Context(), dir)
		require.NoError(t, err)
		require.Len(t, damage, 1, suffix)
		named := files[0]
		if suffix == ".pcm" { // beside its landmarks
			named = named[:len(named)-len(suffix)]
		}
		require.Contains(t, damage[0], named)
		require.NoError(t, os.WriteFile(files[0], whole, 0o600))
	}

	sounds, err := filepath.Glob(filepath.Join(dir, "*.pcm"))
	require.NoError(t, err)
	whole, err := os.ReadFile(sounds[0])
	require.NoError(t, err)
	changed := bytes.Clone(whole)
	changed[100] ^= 4
	require.NoError(t, os.WriteFile(sounds[0], changed, 0o600))
	damage, err = fingerprint.Examine(t.Context(), dir)
	require.NoError(t, err)
	require.Len(t, damage, 1)
	require.Contains(t, damage[0], sounds[0]+": its check sum is")
	require.NoError(t, os.WriteFile(sounds[0], whole[:len(whole)-4], 0o600))
	damage, err = fingerprint.Examine(t.Context(), dir)
	require.NoError(t, err)
	require.Empty(t, damage, "a sound of an earlier version has no check sum")
}
