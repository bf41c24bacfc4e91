package pebble

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/codec"
	"leasehold/shared/tuple"
)

// tabled is a closed journal whose facts are in tables: an entry that was put, one that was taken, and
// a session that has ended, whose answers are a deleted range.
func tabled(t *testing.T) (vfs.FS, *Journal) {
	t.Helper()
	disk := vfs.NewMem()
	var j *Journal
	op := space.OpID{Session: "w", Seq: 1}
	for n, facts := range [][]journal.Fact{
		{&journal.Space{Name: "s"}, &journal.Session{ID: "w"}, &journal.Answer{Op: op, Nth: 1}},
		{&journal.Entry{Ref: 5, Space: "s", Tuple: tuple.New("a")}, &journal.Entry{Ref: 6, Space: "s", Tuple: tuple.New("b")}},
		{journal.Gone(5), journal.Ended("w")},
	} {
		j, _ = on(t, disk) // which makes tables of the log
		require.NoError(t, j.Commit(t.Context(), journal.Position(n), []journal.Record{{Facts: facts}}))
		require.NoError(t, j.Close())
	}
	j, c := on(t, disk)
	require.NoError(t, j.Close())
	return disk, newJournal(c)
}

// A repair that missed a change in a table would bring back what was taken.
func TestAllChangesOfATableAreReadWithTheirRange(t *testing.T) {
	t.Parallel()
	_, j := tabled(t)
	tables, err := j.readTables()
	require.NoError(t, err)
	kinds := map[lsm.InternalKeyKind]int{}
	last := uint64(0)
	for num, table := range tables {
		require.NoError(t, table.err)
		require.Equal(t, num, table.num)
		require.False(t, table.begun)
		require.Equal(t, table.num, table.changes[0].from)
		data, err := readFile(j.FS, j.FS.PathJoin(j.Dir, table.name))
		require.NoError(t, err)
		require.EqualValues(t, len(data), table.listed.size)
		require.LessOrEqual(t, table.listed.smallest, table.listed.largest)
		for _, c := range table.changes {
			require.GreaterOrEqual(t, c.seq, table.listed.smallest)
			require.LessOrEqual(t, c.seq, table.listed.largest)
			last = max(last, c.seq)
			if string(c.key) != string(codec.StandingKey()) {
				kinds[c.kind]++
			}
			if c.kind == lsm.InternalKeyKindRangeDelete {
				require.Less(t, string(c.key), string(c.value))
			}
		}
	}
	require.Positive(t, kinds[lsm.InternalKeyKindSet])
	require.Positive(t, kinds[lsm.InternalKeyKindRangeDelete], "the answers of the session")
	m, err := j.readManifest()
	require.NoError(t, err)
	require.True(t, m.whole)
	require.True(t, strings.HasPrefix(m.name, "MANIFEST-"))
	listed, missing, err := m.listedTables(tables)
	require.NoError(t, err)
	require.NoError(t, missing, "each is the one that the manifest lists")
	require.Len(t, listed, len(m.live))
	require.Equal(t, slices.Max(slices.Collect(maps.Keys(m.live))), m.last, "the latest table")
	require.LessOrEqual(t, m.live[m.last].largest, last)
	s, nums, err := j.salvageAll()
	require.NoError(t, err)
	require.Equal(t, 1, s.tuples)
	require.NotEmpty(t, nums)
	require.EqualValues(t, 3, s.standing.Position)
	require.EqualValues(t, 6, s.standing.Ref)
	require.Nil(t, s.facts[string(codec.AppendSessionKey(nil, "w"))])
	require.Nil(t, s.facts[string(codec.AppendAnswerKey(nil, space.OpID{Session: "w", Seq: 1}))])
}

func TestATableThatCannotBeReadHasItsError(t *testing.T) {
	t.Parallel()
	disk, j := tabled(t)
	require.NoError(t, writeFile(disk, "journal/000900.sst", nil))
	require.NoError(t, writeFile(disk, "journal/000901.sst", []byte("no table")))
	require.NoError(t, writeFile(disk, "journal/x.sst", nil))
	tables, err := j.readTables()
	require.NoError(t, err)
	require.Error(t, tables[900].err)
	require.True(t, tables[900].begun, "a process ended before it wrote it")
	require.Error(t, tables[901].err)
	require.False(t, tables[901].begun)
	for num, table := range tables {
		if num < 900 {
			require.NoError(t, table.err)
		}
	}
	faulty := &faultyDisk{FS: disk, op: "list"}
	j.FS = faulty
	_, err = j.readTables()
	require.ErrorIs(t, err, syscall.EIO)
	_, _, err = j.readBatches()
	require.ErrorIs(t, err, syscall.EIO)
	_, err = j.readManifest()
	require.ErrorIs(t, err, syscall.EIO)
	_, _, err = j.salvageAll()
	require.ErrorIs(t, err, syscall.EIO)
	_, err = readLogs(faulty, "journal")
	require.ErrorIs(t, err, syscall.EIO)
	_, err = newestLog(faulty, "journal")
	require.ErrorIs(t, err, syscall.EIO)
	faulty.op = "open"
	tables, err = j.readTables()
	require.NoError(t, err)
	for _, table := range tables {
		require.ErrorIs(t, table.err, syscall.EIO)
		require.False(t, table.begun)
	}
	_, _, err = j.readBatches()
	require.ErrorIs(t, err, syscall.EIO)
	_, err = readLogs(faulty, "journal")
	require.ErrorIs(t, err, syscall.EIO)
	_, err = newestLog(faulty, "journal")
	require.NoError(t, err)
}

func TestTheManifestIsTheOneOfTheMarkerOrTheNewest(t *testing.T) {
	t.Parallel()
	disk, j := tabled(t)
	names, err := disk.List("journal")
	require.NoError(t, err)
	marked := j.manifestName(names)
	require.Contains(t, names, marked)
	require.Equal(t, marked, j.manifestName(append(names, "MANIFEST-999999", "OPTIONS-999999")), "not a newer one")
	others := []string{"MANIFEST-000002", "MANIFEST-000009", "MANIFEST-000003", "zzz"}
	require.Equal(t, "MANIFEST-000009", j.manifestName(others), "the one of the marker is not there")
	require.Empty(t, j.manifestName([]string{"zzz"}))
	nowhere := newJournal(Config{Dir: "nowhere", FS: disk})
	require.Equal(t, "MANIFEST-000009", nowhere.manifestName(others))
	require.NoError(t, disk.MkdirAll("nowhere", 0o700))
	m, err := nowhere.readManifest()
	require.NoError(t, err)
	require.Empty(t, m.name)
	require.False(t, m.whole)
	require.NoError(t, writeFile(disk, "nowhere/MANIFEST-000001", nil))
	m, err = nowhere.readManifest()
	require.NoError(t, err)
	require.Equal(t, "MANIFEST-000001", m.name)
	require.False(t, m.whole, "it is empty")
}

// A message of the store that it calls fatal must not end the process.
func TestAFatalMessageOrADamageOfTheStoreBreaksTheJournal(t *testing.T) {
	t.Parallel()
	var b broken
	l := storeLogger{log: slog.New(slog.DiscardHandler), broken: &b}
	l.Infof("%d", 1)
	l.Errorf("%d", 2)
	require.NoError(t, b.err())
	l.Fatalf("the store: %w", syscall.EIO)
	require.ErrorIs(t, b.err(), journal.ErrBroken)
	require.ErrorIs(t, b.err(), syscall.EIO)
	j := newJournal(Config{Dir: "journal", FS: vfs.NewMem()})
	j.noteDamage(lsm.DataCorruptionInfo{Path: "journal/000007.sst", Details: syscall.EBADMSG})
	require.ErrorContains(t, j.broken.err(), "000007.sst: "+syscall.EBADMSG.Error())
}

// The history goes on with its numbers after a start, and after a commit that did not fit.
func TestTheHistoryCountsOnAfterAStartAndAfterACommitThatDidNotFit(t *testing.T) {
	t.Parallel()
	disk := &sizedDisk{FS: vfs.NewMem(), total: smallestDisk, free: 1 << 40}
	j, _ := on(t, disk)
	record := func(seq int64) error {
		return j.Commit(t.Context(), journal.Position(j.Position()), []journal.Record{{Facts: []journal.Fact{
			&journal.Historic{HistoryRecord: space.HistoryRecord{Seq: seq, Key: "k", Value: "123"}},
		}}})
	}
	require.NoError(t, record(1))
	require.NoError(t, j.Close())
	j, _ = on(t, disk)
	require.NoError(t, record(2))
	require.EqualValues(t, 2, j.newestHistory.Count)
	require.EqualValues(t, 8, j.newestHistory.Bytes)
	disk.free = 0
	j.space.reserved.Store(false)
	require.ErrorIs(t, record(3), journal.ErrFull)
	require.EqualValues(t, 2, j.newestHistory.Count)
	disk.free = 1 << 40
	require.NoError(t, record(4))
	require.EqualValues(t, 3, j.newestHistory.Count)
	require.EqualValues(t, 12, j.newestHistory.Bytes)
	require.NoError(t, j.removeHistory([]*journal.Historic{{HistoryRecord: space.HistoryRecord{Seq: 1, Key: "k"}}}))
	var left []int64
	require.NoError(t, j.HistoryBefore(t.Context(), 0, func(h space.HistoryRecord) bool { left = append(left, h.Seq); return true }))
	require.Equal(t, []int64{4, 2}, left)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, j.HistoryBefore(over, 0, func(space.HistoryRecord) bool { return true }), context.Canceled)
}
