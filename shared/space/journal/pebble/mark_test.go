package pebble

import (
	"context"
	"io/fs"
	"log/slog"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pairing"
	"leasehold/shared/tuple"
)

// noSpaceFor is a disk on which files whose names have an ending cannot be made, for a reason.
type noSpaceFor struct {
	vfs.FS
	name string
	why  error
}

func (d *noSpaceFor) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, c)
	if err == nil && d.name != "" && d.FS.PathBase(name) == d.name {
		return fullFile{f, d.why}, nil // it is there, and nothing fits
	}
	return f, err
}

type fullFile struct {
	vfs.File
	why error
}

func (f fullFile) Write([]byte) (int, error) { return 0, f.why }

// markOf is a mark with that number.
func markOf(counter uint64) pairing.Mark {
	return pairing.Mark{Instance: "i", Counter: counter, At: time.Unix(5, 0), Other: "o"}
}

// on opens a journal on a disk.
func on(t *testing.T, disk vfs.FS) (*Journal, Config) {
	t.Helper()
	c := Config{Dir: "journal", FS: disk, Log: slog.New(slog.DiscardHandler)}
	j, err := Open(c)
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j, c
}

// entries commits n records of one tuple each, from where the journal stands.
func entries(t *testing.T, j *Journal, n int) {
	t.Helper()
	for range n {
		at := journal.Position(j.Position())
		ref := int64(at) + 1
		require.NoError(t, j.Commit(t.Context(), at, []journal.Record{{Clock: time.Duration(ref), Facts: []journal.Fact{
			&journal.Space{Name: "s"}, &journal.Entry{Ref: ref, Space: "s", Tuple: tuple.New("a")},
		}}}))
	}
}

// A lost mark, or one of another position, would refuse a pair of folders that belong together.
func TestAMarkIsWrittenWithThePositionAndStaysThroughStartsAndStops(t *testing.T) {
	t.Parallel()
	disk := &noSpaceFor{FS: vfs.NewMem()}
	j, c := on(t, disk)
	stamped := func() stamp {
		s, err := readStamp(disk, c.Dir)
		require.NoError(t, err)
		return s
	}
	for n := range uint64(2) {
		entries(t, j, 3)
		require.NoError(t, j.SetMark(t.Context(), markOf(n)))
		s := stamped()
		require.Equal(t, markOf(n), s.mark)
		require.EqualValues(t, 3*(n+1), s.position)
		require.EqualValues(t, 3*(n+1), s.ref)
		require.EqualValues(t, 3*(n+1), s.clock)
		require.Equal(t, s.position, journal.Position(j.Position()))
		require.False(t, s.closed)
		require.Equal(t, s.mark, j.lastStamp().mark)
		require.Equal(t, s.position, j.lastStamp().position)
	}
	disk.name, disk.why = stampFile+".new", syscall.ENOSPC
	err := j.SetMark(t.Context(), markOf(9))
	require.ErrorIs(t, err, journal.ErrFull)
	require.ErrorIs(t, err, fault.ErrOverloaded)
	require.Equal(t, markOf(1), stamped().mark, "the older one stays")
	_, err = disk.Stat("journal/" + stampFile + ".new")
	require.ErrorIs(t, err, fs.ErrNotExist, "no part of it takes space")
	disk.why = syscall.EIO
	err = j.SetMark(t.Context(), markOf(9))
	require.ErrorIs(t, err, syscall.EIO)
	require.NotErrorIs(t, err, fault.ErrOverloaded)
	require.Equal(t, markOf(1), j.lastStamp().mark)
	disk.why = syscall.ENOSPC
	entries(t, j, 1)
	require.NoError(t, j.Close(), "an older stamp is true too")
	require.False(t, stamped().closed)
	require.ErrorIs(t, j.SetMark(t.Context(), markOf(9)), fault.ErrClosed)
	disk.name = ""
	j, _ = on(t, disk)
	require.Equal(t, markOf(1), stamped().mark)
	require.False(t, stamped().closed)
	require.EqualValues(t, 7, stamped().position)
	require.NoError(t, j.Close())
	require.Equal(t, markOf(1), stamped().mark)
	require.True(t, stamped().closed)
	require.NoError(t, WriteMark(c, markOf(5)))
	require.Equal(t, markOf(5), stamped().mark)
	require.True(t, stamped().closed)
	require.EqualValues(t, 7, stamped().position)

	j, _ = on(t, disk)
	j.broken.mark(syscall.EIO)
	require.ErrorIs(t, j.SetMark(t.Context(), markOf(9)), journal.ErrBroken)
	require.Equal(t, markOf(5), stamped().mark)
}

func TestTheMarkOfAFolderIsFoundInEachState(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(t *testing.T, disk vfs.FS)
		want   pairing.Found
		err    error
	}{
		"whole":             {func(*testing.T, vfs.FS) {}, pairing.Found{State: pairing.Present, Mark: markOf(3)}, nil},
		"a missing one":     {func(t *testing.T, d vfs.FS) { require.NoError(t, d.RemoveAll("journal")) }, pairing.Found{State: pairing.Missing}, nil},
		"an unfinished one": {func(t *testing.T, d vfs.FS) { require.NoError(t, d.Rename("journal", "journal.repaired")) }, pairing.Found{State: pairing.Present, Mark: markOf(3)}, nil},
		"a new one": {func(t *testing.T, d vfs.FS) {
			require.NoError(t, d.RemoveAll("journal"))
			require.NoError(t, d.MkdirAll("journal", 0o700))
			require.NoError(t, writeFile(d, "journal/"+formatFile, formatText(Format)))
		}, pairing.Found{State: pairing.Empty}, nil},
		"without a stamp": {func(t *testing.T, d vfs.FS) { require.NoError(t, d.Remove("journal/"+stampFile)) }, pairing.Found{State: pairing.Present}, nil},
		"of a damaged stamp": {func(t *testing.T, d vfs.FS) { require.NoError(t, writeFile(d, "journal/"+stampFile, []byte("x"))) },
			pairing.Found{State: pairing.Present}, fault.ErrCorrupt},
	} {
		disk := vfs.NewMem()
		j, config := on(t, disk)
		require.NoError(t, j.SetMark(t.Context(), markOf(3)))
		require.NoError(t, j.Close())
		c.change(t, disk)
		found, err := FindMark(config)
		require.ErrorIs(t, err, c.err, name)
		require.Equal(t, c.want, found, name)
		if c.err != nil {
			require.ErrorIs(t, WriteMark(config, markOf(4)), c.err, name)
		}
	}
	for file, state := range map[string]pairing.State{"000001.log": pairing.Present, "000001.sst": pairing.Present, "MANIFEST-000001": pairing.Present, "LOCK": pairing.Empty, "log": pairing.Empty} {
		disk := vfs.NewMem()
		require.NoError(t, disk.MkdirAll("journal", 0o700))
		require.NoError(t, writeFile(disk, "journal/"+file, nil))
		found, err := FindMark(Config{Dir: "journal", FS: disk})
		require.NoError(t, err, file)
		require.Equal(t, state, found.State, file)
	}
	disk := newFaultyDisk(t)
	disk.op = "list"
	_, err := FindMark(Config{Dir: "d", FS: disk})
	require.ErrorIs(t, err, syscall.EIO)
	require.ErrorContains(t, err, "journal d")
}

// A journal that was closed or broke must not be used by a goroutine that has found it usable before.
func TestAJournalThatIsClosedOrBrokenDoesNothingMore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(t *testing.T, j *Journal)
		want error
	}{
		"closed": {func(t *testing.T, j *Journal) { require.NoError(t, j.Close()) }, fault.ErrClosed},
		"broken": {func(_ *testing.T, j *Journal) { j.broken.mark(syscall.EIO) }, journal.ErrBroken},
	} {
		disk := vfs.NewMem()
		j, _ := on(t, disk)
		h := &journal.Historic{HistoryRecord: space.HistoryRecord{Seq: 1, Key: "k", Value: "v"}}
		require.NoError(t, j.Commit(t.Context(), 0, []journal.Record{{Facts: []journal.Fact{h}}}))
		c.end(t, j)
		ctx := context.Background()
		_, err := j.Load(ctx, nil)
		require.ErrorIs(t, err, c.want, name)
		require.ErrorIs(t, j.Commit(ctx, 1, nil), c.want, name)
		require.ErrorIs(t, j.Copy(ctx, "copy"), c.want, name)
		_, _, err = j.LatestHistory(ctx, "k")
		require.ErrorIs(t, err, c.want, name)
		require.ErrorIs(t, j.HistoryBefore(ctx, 0, func(space.HistoryRecord) bool { return true }), c.want, name)
		_, err = j.TrimHistory(ctx, time.Hour, space.HistoryLimits{})
		require.ErrorIs(t, err, c.want, name)
		require.ErrorIs(t, j.removeHistory([]*journal.Historic{h}), c.want, name)
		require.NoError(t, j.removeHistory(nil), name)
		_, err = disk.Stat("copy")
		require.ErrorIs(t, err, fs.ErrNotExist, name)
		if c.want == fault.ErrClosed {
			require.NoError(t, j.Close(), "another call does nothing")
		}
	}
}

// A second engine would write over the records of the first.
func TestACommitAtAnotherPositionIsFenced(t *testing.T) {
	t.Parallel()
	j, _ := on(t, vfs.NewMem())
	entries(t, j, 2)
	for _, at := range []journal.Position{0, 1, 3} {
		require.ErrorIs(t, j.Commit(t.Context(), at, make([]journal.Record, 1)), journal.ErrFenced)
	}
	require.EqualValues(t, 2, j.Position())
	require.NoError(t, j.Commit(t.Context(), 2, []journal.Record{{Facts: []journal.Fact{
		&journal.Entry{Ref: 7, Place: 9, Space: "s"}, &journal.Historic{HistoryRecord: space.HistoryRecord{Seq: 8, Key: "k"}},
	}}, {Facts: []journal.Fact{&journal.Entry{Ref: 4, Space: "s"}}}}))
	require.Equal(t, journal.Standing{Position: 4, Ref: 9}, j.standing, "the highest place")
	require.NoError(t, j.Commit(t.Context(), 4, []journal.Record{{Clock: 5, Facts: []journal.Fact{
		&journal.Historic{HistoryRecord: space.HistoryRecord{Seq: 12, Key: "k"}}, &journal.Entry{Ref: 11, Place: 10, Space: "s"},
	}}}))
	require.Equal(t, journal.Standing{Position: 5, Clock: 5, Ref: 12}, j.standing)
}

// A disk for backups that fails must not end the coordinator.
func TestACopyThatFailsLeavesTheJournalUsable(t *testing.T) {
	t.Parallel()
	d, j := inFolder(t)
	entries(t, j, 3)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, j.Copy(over, "copy"), context.Canceled)
	_, err := d.Stat("copy")
	require.ErrorIs(t, err, fs.ErrNotExist)
	for _, op := range []string{"mkdirall", "opendir", "syncdir", "list"} {
		d.op = op
		err := j.Copy(t.Context(), "copy")
		require.ErrorContains(t, err, syscall.EIO.Error(), op)
		d.op = ""
		require.NoError(t, d.RemoveAll("copy"))
		entries(t, j, 1)
	}
	require.NoError(t, j.Copy(t.Context(), "copy"))
	s, err := readStamp(d, "copy")
	require.NoError(t, err)
	require.True(t, s.closed, "no process uses the copy")
	copied, err := Open(Config{Dir: "copy", FS: d, Log: j.Log})
	require.NoError(t, err)
	require.Equal(t, j.Position(), copied.Position())
	require.NoError(t, copied.Close())
}

// What a repair has begun must be left for the next one, or be there whole.
func TestARepairReportsEachStepThatFails(t *testing.T) {
	t.Parallel()
	for op, left := range map[string]string{"removeall": "journal", "create": "journal", "mkdirall": "journal", "rename": "journal", "list": "journal"} {
		d, j := inFolder(t)
		entries(t, j, 3)
		require.NoError(t, j.Close())
		old := newJournal(j.Config)
		s, _, err := old.salvageAll()
		require.NoError(t, err)
		d.op = op
		_, err = old.replaceBy(s)
		require.ErrorIs(t, err, syscall.EIO, op)
		_, err = d.Stat(left)
		require.NoError(t, err, op)
		d.op = ""
		for n := range 2 {
			aside, err := old.replaceBy(s)
			require.NoError(t, err, op)
			require.Equal(t, []string{"journal.damaged-1", "journal.damaged-2"}[n], aside)
		}
		repaired, err := Open(j.Config)
		require.NoError(t, err, op)
		require.Equal(t, j.Position(), repaired.Position(), op)
		require.NoError(t, repaired.Close())
	}
}

// A repair that lost something on its way must not replace the journal.
func TestANewJournalIsCheckedAgainstWhatWasSalvaged(t *testing.T) {
	t.Parallel()
	_, j := inFolder(t)
	entries(t, j, 3)
	require.NoError(t, j.Close())
	s, _, err := newJournal(j.Config).salvageAll()
	require.NoError(t, err)
	require.NoError(t, checkNew(j.Config, s))
	fewer, other := s, s
	fewer.tuples--
	other.standing.Position++
	for _, wrong := range []salvaged{fewer, other} {
		require.ErrorIs(t, checkNew(j.Config, wrong), fault.ErrCorrupt)
	}
}
