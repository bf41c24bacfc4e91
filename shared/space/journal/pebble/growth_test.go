package pebble

import (
	"log/slog"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
)

// diskWith is a file system in memory whose disk has as many bytes free as the test wants.
type diskWith struct {
	vfs.FS
	free uint64
}

func (d *diskWith) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: d.free, TotalBytes: 1 << 40}, nil
}

// Without that distance a nearly full disk would be refused and accepted in turns.
func TestGrowthIsAcceptedAgainOnlyWithAMemtableMoreThanItWasRefusedAt(t *testing.T) {
	t.Parallel()
	disk := &diskWith{FS: vfs.NewMem()}
	s := &diskSpace{
		Config: Config{Dir: "journal", FS: disk, Log: slog.New(slog.DiscardHandler)}, broken: &broken{},
		memTable: smallestMemTable, lowered: make(chan struct{}, 1),
	}
	s.reserved.Store(true)
	needed := s.neededForGrowth()
	for _, c := range []struct {
		free uint64
		low  bool
	}{
		{needed, false},
		{needed - 1, true},
		{needed + smallestMemTable - 1, true},
		{needed + smallestMemTable, false},
		{needed, false},
	} {
		disk.free = c.free
		s.updateLow()
		require.Equal(t, c.low, s.low.Load(), "%d bytes free", c.free)
	}

	disk.free = needed - 1
	s.updateLow()
	s.reserved.Store(false)
	disk.free = needed + (1+reserve)*smallestMemTable
	s.updateLow()
	require.True(t, s.low.Load(), "the reserve has to be made again first")
}
