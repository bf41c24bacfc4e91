package pebble_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal/pebble"
)

func TestFault11AnotherFormatIsRefusedWithBothVersionsAndChangesNothing(t *testing.T) {
	t.Parallel()
	f, _, _ := crashed(t, 2, 60)
	for _, format := range []int{0, 3, pebble.Format - 1, pebble.Format + 1} {
		t.Run(fmt.Sprint(format), func(t *testing.T) {
			t.Parallel()
			disk := f.with("FORMAT", fmt.Appendf(nil, "leasehold journal %d\n", format)).disk(t)
			before := folderOf(t, disk)
			c := pebble.Config{Dir: dir, FS: disk, Log: quiet}
			for name, use := range map[string]func(pebble.Config) error{
				"open":     func(c pebble.Config) error { _, err := pebble.Open(c); return err },
				"diagnose": func(c pebble.Config) error { _, err := pebble.Diagnose(c); return err },
				"repair":   func(c pebble.Config) error { _, err := pebble.Repair(c); return err },
				"mark":     func(c pebble.Config) error { _, err := pebble.FindMark(c); return err },
			} {
				err := use(c)
				require.ErrorIs(t, err, fault.ErrInvalid, name)
				require.ErrorContains(t, err, fmt.Sprintf("it has format %d, this program reads format %d: use the leasehold that wrote it", format, pebble.Format), name)
			}
			require.Equal(t, before, folderOf(t, disk))
		})
	}
	_, _, err := try(f.with("FORMAT", []byte("a letter\n")).disk(t))
	require.ErrorIs(t, err, fault.ErrCorrupt)
}
