package embedded_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code/embedded"
)

// damaged makes an index, changes one file that matches pattern, and examines the folder. It returns the damage without
// the path of the folder, and the name of the file.
func damaged(t *testing.T, pattern string, change func([]byte) []byte) (damage []string, name string) {
	t.Helper()
	dir := t.TempDir()
	x, err := embedded.Open(dir, embedded.Options{})
	require.NoError(t, err)
	require.NoError(t, put(x, "a", "needle 1", strings.Repeat("text\n", 1000)))
	require.NoError(t, x.Close())
	clean, err := embedded.Examine(t.Context(), dir)
	require.NoError(t, err)
	require.Empty(t, clean)
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	data, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(files[0], change(data), 0o600))
	damage, err = embedded.Examine(t.Context(), dir)
	require.NoError(t, err)
	return damage, filepath.Base(files[0])
}

func TestEachDamagedFileOfAnIndexIsNamed(t *testing.T) {
	t.Parallel()
	cut := func(data []byte) []byte { return data[:len(data)/2] }
	flipAt := func(at int) func([]byte) []byte {
		return func(data []byte) []byte { data[at] ^= 1; return data }
	}
	for name, x := range map[string]struct {
		pattern string
		change  func([]byte) []byte
		want    string
	}{
		"a cut segment":             {"segments/*", cut, "the file ends early"},
		"an empty segment":          {"segments/*", func([]byte) []byte { return []byte{} }, "not a segment"},
		"a flipped bit of a text":   {"segments/*", flipAt(40), "its SHA-256 is"},
		"a cut generation":          {"repositories/*", cut, "checksum"},
		"a flipped bit of a list":   {"repositories/*", flipAt(30), "checksum"},
		"a generation without data": {"repositories/*", func([]byte) []byte { return []byte{} }, "not a generation"},
	} {
		damage, file := damaged(t, x.pattern, x.change)
		require.Len(t, damage, 1, name)
		require.Contains(t, damage[0], file, name)
		require.Contains(t, damage[0], x.want, name)
	}
}

func TestADamagedSegmentThatWasMergedIsNoDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	x, err := embedded.Open(dir, embedded.Options{})
	require.NoError(t, err)
	require.NoError(t, put(x, "a", "needle 1"))
	before, err := filepath.Glob(filepath.Join(dir, "segments", "*"))
	require.NoError(t, err)
	require.NoError(t, put(x, "b", "needle 2"))
	_, err = x.MergeAll(t.Context())
	require.NoError(t, err)
	require.NoError(t, x.Close())
	require.NoError(t, os.WriteFile(before[0], []byte("x"), 0o600))
	damage, err := embedded.Examine(t.Context(), dir)
	require.NoError(t, err)
	require.Empty(t, damage)
}

func TestAnExaminationEndsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	damage, err := embedded.Examine(t.Context(), filepath.Join(dir, "none"))
	require.NoError(t, err)
	require.Empty(t, damage)
	x, err := embedded.Open(dir, embedded.Options{})
	require.NoError(t, err)
	require.NoError(t, put(x, "a", "needle 1"))
	require.NoError(t, x.Close())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = embedded.Examine(ctx, dir)
	require.ErrorIs(t, err, context.Canceled)
}
