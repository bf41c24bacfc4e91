package pebble

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pairing"
)

// The note of the newest log is all that tells that the last log is missing.
func TestTheNewestLogIsThereIfOneIsNoted(t *testing.T) {
	t.Parallel()
	logs := []*logFile{{num: 4, name: "000004.log"}, {num: 7, name: "000007.log"}}
	for text, c := range map[string]struct {
		num uint32
		err error
	}{
		"7\n": {7, nil}, "4": {4, nil}, "0": {0, nil}, "5\n": {5, fault.ErrCorrupt}, "": {0, fault.ErrCorrupt}, "x": {0, fault.ErrCorrupt},
		"-1": {0, fault.ErrCorrupt}, "4294967295": {1<<32 - 1, fault.ErrCorrupt}, "4294967296": {0, fault.ErrCorrupt},
	} {
		disk := vfs.NewMem()
		require.NoError(t, disk.MkdirAll("journal", 0o700))
		j := newJournal(Config{Dir: "journal", FS: disk})
		require.NoError(t, j.checkNewest(logs), "none is noted")
		require.NoError(t, writeFile(disk, "journal/"+newestFile, []byte(text)))
		err := j.checkNewest(logs)
		require.ErrorIs(t, err, c.err, "%q", text)
		require.Equal(t, c.num, j.newest.num, "%q", text)
		if c.num == 5 {
			require.ErrorContains(t, err, "000005.log: the newest log is missing")
		}
	}
}

func TestANoteOfANewLogThatCannotBeWrittenBreaksTheJournal(t *testing.T) {
	t.Parallel()
	d, j := inFolder(t)
	j.noteNewest(lsm.WALCreateInfo{FileNum: 99, Err: syscall.EIO})
	require.NotEqual(t, uint32(99), j.newest.num, "it was not made")
	j.noteNewest(lsm.WALCreateInfo{FileNum: 98})
	require.Equal(t, "98\n", content(t, d, "journal/"+newestFile))
	require.NoError(t, j.broken.err())
	d.op = "rename"
	j.noteNewest(lsm.WALCreateInfo{FileNum: 97})
	require.ErrorIs(t, j.broken.err(), syscall.EIO)
	d.op = ""
}

func TestAJournalThatEndsBeforeItsStampWasCutOff(t *testing.T) {
	t.Parallel()
	j := newJournal(Config{Dir: "journal", FS: vfs.NewMem()})
	j.stamp = stamp{position: 10, at: time.Unix(0, 0)}
	logs := []*logFile{{name: "000004.log"}, {name: "000007.log"}}
	for end, whole := range map[journal.Position]bool{9: false, 10: true, 11: true} {
		err := j.checkStamp(logs, end)
		require.Equal(t, whole, err == nil, end)
		if !whole {
			require.ErrorIs(t, err, fault.ErrCorrupt)
			require.ErrorContains(t, err, "000007.log: the journal ends at position 9, but was at 10 at 1970-01-01T00:00:00Z")
			require.ErrorContains(t, j.checkStamp(nil, end), "the newest log: ")
		}
	}
	require.Equal(t, "unknown", timeText(time.Time{}))
	require.Equal(t, "1970-01-01T00:00:07Z", timeText(time.Unix(7, 999)))
	withoutMark := stampText(stamp{mark: pairing.Mark{Counter: 7}})
	require.NotContains(t, string(withoutMark), "counter", "without an instance there is no mark")
}

func TestAFormatIsReadOrRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		fmt.Sprintf("leasehold journal %d\n", Format):   nil,
		fmt.Sprintf("leasehold journal %d\n", Format-1): fault.ErrInvalid,
		fmt.Sprintf("leasehold journal %d\n", Format+1): fault.ErrInvalid,
		"leasehold journal 0\n":                         fault.ErrInvalid,
		"leasehold journal -1\n":                        fault.ErrCorrupt,
		"leasehold journal\n":                           fault.ErrCorrupt,
		"leasehold journal x":                           fault.ErrCorrupt,
		fmt.Sprint(Format):                              fault.ErrCorrupt,
		"":                                              fault.ErrCorrupt,
	} {
		disk := vfs.NewMem()
		require.NoError(t, disk.MkdirAll("journal", 0o700))
		require.NoError(t, writeFile(disk, "journal/"+formatFile, []byte(text)))
		isNew, err := newJournal(Config{Dir: "journal", FS: disk}).readFormat()
		require.ErrorIs(t, err, want, "%q", text)
		require.False(t, isNew, "%q", text)
	}
	for name, used := range map[string]bool{"LOCK": false, "000001.log": true, "x.log": false, "MANIFEST-000001": true, "MANIFEST": false} {
		disk := vfs.NewMem()
		require.NoError(t, disk.MkdirAll("journal", 0o700))
		require.NoError(t, writeFile(disk, "journal/"+name, nil))
		isNew, err := newJournal(Config{Dir: "journal", FS: disk}).readFormat()
		require.True(t, isNew, name)
		require.Equal(t, used, err != nil, name)
		if used {
			require.ErrorIs(t, err, fault.ErrCorrupt, name)
		}
	}
	for name, new := range map[string]bool{"LOCK": true, "000001.log": false, "000001.sst": false} {
		disk := vfs.NewMem()
		require.NoError(t, disk.MkdirAll("journal", 0o700))
		require.NoError(t, writeFile(disk, "journal/"+name, nil))
		require.Equal(t, new, newJournal(Config{Dir: "journal", FS: disk}).requireNew() == nil, name)
	}
	disk := newFaultyDisk(t)
	disk.op = "list"
	require.ErrorIs(t, newJournal(Config{Dir: "d", FS: disk}).requireNew(), syscall.EIO)
	_, err := newJournal(Config{Dir: "d", FS: disk}).readFormat()
	require.ErrorIs(t, err, syscall.EIO)
	disk.op = "open"
	_, err = newJournal(Config{Dir: "d", FS: disk}).readFormat()
	require.ErrorIs(t, err, syscall.EIO)
}

// The files of the disk in memory cannot be cut off, so that they are written again.
func TestAFileIsCutOff(t *testing.T) {
	t.Parallel()
	system := t.TempDir()
	for dir, disk := range map[string]vfs.FS{"": vfs.NewMem(), system: vfs.Default} {
		path := disk.PathJoin(dir, "file")
		for size := range 4 {
			require.NoError(t, writeFile(disk, path, []byte("abc")))
			require.NoError(t, truncate(disk, path, size))
			data, err := readFile(disk, path)
			require.NoError(t, err)
			require.Equal(t, "abc"[:size], string(data))
		}
	}
	for name, want := range map[string]uint32{"000007.log": 7, "4294967295.log": 1<<32 - 1, "4294967296.log": 0, "x.log": 0, "000007.sst": 0, "000007": 0, ".log": 0, "-1.log": 0} {
		num, ok := logNumber(name)
		require.Equal(t, want != 0, ok, name)
		require.Equal(t, ok, isLog(name), name)
		if ok {
			require.Equal(t, want, num, name)
		}
	}
	for name, want := range map[string]string{"j/000007.log": ofLog, "j/000007.sst": ofTable, "j/MANIFEST-000001": ofIndex, "j/STAMP": ofIndex} {
		require.Equal(t, want, kindOf(name), name)
	}
}

// A copy of a growing log ends where its records end when it is opened.
func TestAReaderOfALogThatGrowsEndsWhereItsRecordsEnded(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem()
	require.NoError(t, writeFile(disk, "log", []byte(strings.Repeat("x", 10))))
	var g growing
	reads := func(path string) int {
		f, err := disk.Open("log")
		require.NoError(t, err)
		r := g.upToNow(path, f)
		if n := g.written[path]; n != nil {
			n.Add(5) // it goes on
			defer n.Add(-5)
		}
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		return len(data)
	}
	require.Equal(t, 10, reads("log"), "this process does not write it")
	var n *atomic.Int64
	for _, written := range []int64{0, 1, 9, 10} {
		n = g.add("log")
		n.Store(written)
		require.EqualValues(t, written, reads("log"))
	}
	require.Equal(t, 10, reads("another"))
	g.remove("log")
	require.Equal(t, 10, reads("log"))
	require.Empty(t, g.written)
}
