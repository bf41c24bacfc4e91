package pebble_test

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal/pebble"
)

func TestFault11ANewerFormatIsRefusedWithBothVersions(t *testing.T) {
	t.Parallel()
	f, _, _ := crashed(t, 2, 60)
	_, _, err := try(f.with("FORMAT", []byte("leasehold journal 7\n")).disk(t))
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "it has format 7, this program knows up to 3: use the newer leasehold that wrote it")
	_, _, err = try(f.with("FORMAT", []byte("a letter\n")).disk(t))
	require.ErrorIs(t, err, fault.ErrCorrupt)
}

// The migration from format 0 fails the first time. The next start repeats it. A copy of the
// journal as it was must be there by then.
func TestFault11AnOlderFormatIsMigratedAfterACopyWasMade(t *testing.T) {
	t.Parallel()
	f, name, _ := crashed(t, 2, 60)
	fs := f.with("FORMAT", []byte("leasehold journal 0\n")).disk(t)
	torn, times := errors.New("torn"), 0
	migration := func(fs vfs.FS, dir string) error {
		require.Equal(t, "journal", dir)
		if times++; times == 1 {
			return torn
		}
		return nil
	}
	c := pebble.Config{Dir: dir, FS: fs, Log: quiet, Migrations: map[int]pebble.Migration{0: migration}}
	for format := 1; format < pebble.Format; format++ {
		c.Migrations[format] = func(vfs.FS, string) error { return nil }
	}
	_, err := pebble.Open(c)
	require.ErrorIs(t, err, torn)
	require.ErrorContains(t, err, "a copy of it is in journal.format-0")
	for range 2 {
		j, err := pebble.Open(c)
		require.NoError(t, err)
		position, n := held(t, j)
		require.Equal(t, 2, int(position))
		require.Equal(t, 2, n)
		require.NoError(t, j.Close())
	}
	require.Equal(t, 2, times, "a step that was interrupted is begun again, and one that was done is not")
	copied := folderOf(t, under{fs, "journal.format-0"})
	require.Equal(t, f[name], copied[name])
	require.Equal(t, "leasehold journal 0\n", string(copied["FORMAT"]))
}

func TestAFormatFromWhichNoWayLeadsIsRefused(t *testing.T) {
	t.Parallel()
	f, _, _ := crashed(t, 1, 60)
	_, _, err := try(f.with("FORMAT", []byte("leasehold journal 0\n")).disk(t))
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "knows no way from there to 3")
}

// under shows another folder in the place of a journal's.
type under struct {
	vfs.FS
	dir string
}

func (u under) List(string) ([]string, error) { return u.FS.List(u.dir) }

func (u under) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	return u.FS.Open(u.FS.PathJoin(u.dir, u.FS.PathBase(name)), opts...)
}
