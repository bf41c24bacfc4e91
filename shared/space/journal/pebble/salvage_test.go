package pebble

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/codec"
	"leasehold/shared/space/journal/pairing"
	"leasehold/shared/tuple"
)

// changeOf is a change of a fact by the table, or log, with a number.
func changeOf(seq, from uint64, kind lsm.InternalKeyKind, f journal.Fact) change {
	return change{seq, from, kind, codec.AppendKey(nil, f), codec.AppendValue(nil, f)}
}

func entryOf(ref int64, text string) *journal.Entry {
	return &journal.Entry{Ref: ref, Space: "s", Tuple: tuple.New(text)}
}

// standingAt is the change of where a table stands.
func standingAt(position journal.Position, ref int64) change {
	step := codec.Step{}
	step.Position, step.Ref = position, ref
	return change{1, 1, lsm.InternalKeyKindSet, codec.StandingKey(), codec.AppendStep(nil, step)}
}

// batchOf is a record that leads from one position to another, where the highest ref is ref.
func batchOf(from, to journal.Position, ref int64, changes ...change) batch {
	step := codec.Step{From: from}
	step.Position, step.Ref = to, ref
	return batch{step, changes}
}

func TestOfTheChangesOfAKeyTheLatestHoldsAndOfEqualOnesThatOfTheLastTable(t *testing.T) {
	t.Parallel()
	const set, del = lsm.InternalKeyKindSet, lsm.InternalKeyKindDelete
	in := changeOf(1, 1, set, &journal.Space{Name: "s"})
	key := func(ref int64) []byte { return codec.AppendEntryKey(nil, ref) }
	for name, c := range map[string]struct {
		tables [][]change
		want   string // of entry 5; empty: it is gone
	}{
		"later in the first table":    {[][]change{{changeOf(9, 1, set, entryOf(5, "a"))}, {changeOf(8, 2, set, entryOf(5, "b"))}}, "a"},
		"later in the second table":   {[][]change{{changeOf(8, 1, set, entryOf(5, "a"))}, {changeOf(9, 2, set, entryOf(5, "b"))}}, "b"},
		"equal, the last table":       {[][]change{{changeOf(0, 1, set, entryOf(5, "a"))}, {changeOf(0, 2, set, entryOf(5, "b"))}}, "b"},
		"equal, read in other order":  {[][]change{{changeOf(0, 2, set, entryOf(5, "b"))}, {changeOf(0, 1, set, entryOf(5, "a"))}}, "b"},
		"deleted later":               {[][]change{{changeOf(8, 1, set, entryOf(5, "a")), changeOf(9, 1, del, entryOf(5, ""))}}, ""},
		"deleted before":              {[][]change{{changeOf(9, 1, set, entryOf(5, "a")), changeOf(8, 1, del, entryOf(5, ""))}}, "a"},
		"set with a deletion":         {[][]change{{changeOf(9, 1, lsm.InternalKeyKindSetWithDelete, entryOf(5, "a"))}}, "a"},
		"a later range around it":     {[][]change{{changeOf(8, 1, set, entryOf(5, "a")), {9, 1, lsm.InternalKeyKindRangeDelete, key(4), key(6)}}}, ""},
		"a later range from it on":    {[][]change{{changeOf(8, 1, set, entryOf(5, "a")), {9, 1, lsm.InternalKeyKindRangeDelete, key(5), key(6)}}}, ""},
		"a later range up to it":      {[][]change{{changeOf(8, 1, set, entryOf(5, "a")), {9, 1, lsm.InternalKeyKindRangeDelete, key(3), key(5)}}}, "a"},
		"a later range behind it":     {[][]change{{changeOf(8, 1, set, entryOf(5, "a")), {9, 1, lsm.InternalKeyKindRangeDelete, key(6), key(9)}}}, "a"},
		"an earlier range around it":  {[][]change{{changeOf(9, 1, set, entryOf(5, "a")), {8, 1, lsm.InternalKeyKindRangeDelete, key(4), key(6)}}}, "a"},
		"a range of the same change":  {[][]change{{changeOf(9, 1, set, entryOf(5, "a")), {9, 1, lsm.InternalKeyKindRangeDelete, key(4), key(6)}}}, "a"},
		"a range that ended and more": {[][]change{{changeOf(8, 1, set, entryOf(5, "a")), {9, 1, lsm.InternalKeyKindRangeDelete, key(1), key(2)}, {9, 1, lsm.InternalKeyKindRangeDelete, key(2), key(6)}}}, ""},
	} {
		tables := []*tableFile{{changes: []change{in}}}
		for _, changes := range c.tables {
			tables = append(tables, &tableFile{changes: changes})
		}
		s, err := merge(tables, nil, stamp{})
		require.NoError(t, err, name)
		value, found := s.facts[string(key(5))]
		require.Equal(t, c.want != "", found, name)
		require.Equal(t, found, s.tuples == 1, name)
		if found {
			f, err := codec.Decode(key(5), value, nil)
			require.NoError(t, err)
			require.Equal(t, c.want, f.(*journal.Entry).Tuple.Str(0), name)
		}
	}
	_, err := merge([]*tableFile{{changes: []change{{1, 1, set, key(5), []byte("x")}}}}, nil, stamp{})
	require.ErrorIs(t, err, fault.ErrCorrupt)
	_, err = merge([]*tableFile{{changes: []change{{1, 1, set, codec.StandingKey(), []byte{0xff}}}}}, nil, stamp{})
	require.Error(t, err)
}

func TestARepairCountsTheRecordsAndTuplesThatMayBeLost(t *testing.T) {
	t.Parallel()
	const set = lsm.InternalKeyKindSet
	in := changeOf(1, 1, set, &journal.Space{Name: "s"})
	put := func(seq uint64, ref int64) change { return changeOf(seq, 9, set, entryOf(ref, "x")) }
	tables := []*tableFile{{changes: []change{in, standingAt(10, 100)}}}
	for name, c := range map[string]struct {
		batches  []batch
		last     stamp
		gaps     []Gap
		lost     int
		position journal.Position
		tuples   int
	}{
		"nothing more":            {nil, stamp{}, nil, 0, 10, 0},
		"records that follow":     {[]batch{batchOf(10, 11, 101, put(20, 101)), batchOf(11, 13, 102, put(21, 102))}, stamp{position: 13, ref: 102}, nil, 0, 13, 2},
		"records of the tables":   {[]batch{batchOf(8, 9, 90, put(20, 90)), batchOf(9, 10, 100, put(21, 100))}, stamp{position: 10, ref: 100}, nil, 0, 10, 0},
		"one that is lost":        {[]batch{batchOf(12, 13, 105, put(22, 105))}, stamp{position: 13, ref: 105}, []Gap{{10, 12}}, 4, 13, 1},
		"the end":                 {[]batch{batchOf(10, 11, 101, put(20, 101))}, stamp{position: 15, ref: 104}, []Gap{{11, 15}}, 3, 11, 1},
		"two":                     {[]batch{batchOf(12, 13, 103, put(20, 103)), batchOf(15, 16, 106, put(21, 106))}, stamp{position: 16}, []Gap{{10, 12}, {13, 15}}, 4, 16, 2},
		"of batches without puts": {[]batch{batchOf(12, 13, 103)}, stamp{position: 13}, []Gap{{10, 12}}, 3, 13, 0},
	} {
		s, err := merge(tables, c.batches, c.last)
		require.NoError(t, err, name)
		require.Equal(t, c.gaps, s.gaps, name)
		require.Equal(t, c.lost, s.lost, name)
		require.Equal(t, c.position, s.standing.Position, name)
		require.Equal(t, c.tuples, s.tuples, name)
		records := 0
		for _, g := range c.gaps {
			records += int(g.To - g.From)
		}
		require.Equal(t, records, s.lostRecords(), name)
	}
	without := []*tableFile{{changes: []change{standingAt(10, 100)}}}
	_, err := merge(without, []batch{batchOf(12, 13, 105, put(22, 105))}, stamp{})
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.ErrorContains(t, err, `the space "s"`)
}

func TestOnlyARecordThatBeginsWithAStandingIsABatch(t *testing.T) {
	t.Parallel()
	text := func(data []byte, s string) []byte { return append(binary.AppendUvarint(data, uint64(len(s))), s...) }
	set := func(data []byte, key, value string) []byte { return text(text(append(data, 1), key), value) }
	record := func(changes byte, data []byte) []byte {
		return append([]byte{42, 0, 0, 0, 0, 0, 0, 0, changes, 0, 0, 0}, data...)
	}
	step := codec.Step{From: 3}
	step.Position = 5
	standing := set(nil, string(codec.StandingKey()), string(codec.AppendStep(nil, step)))
	whole := record(2, set(standing, "key", "value"))
	b, seq, ok := readBatch(whole)
	require.True(t, ok)
	require.EqualValues(t, 42, seq)
	require.Equal(t, step, b.step)
	require.Len(t, b.changes, 2)
	require.EqualValues(t, 43, b.changes[1].seq)
	require.Equal(t, "key value", string(b.changes[1].key)+" "+string(b.changes[1].value))
	for name, bad := range map[string][]byte{
		"nothing": nil, "without a standing": record(1, set(nil, "key", "value")), "a standing at the end": record(2, append(set(nil, "key", "value"), standing...)),
		"cut": whole[:len(whole)-1],
	} {
		_, _, ok := readBatch(bad)
		require.False(t, ok, name)
	}
}

func TestAStampIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	at := time.Unix(0, 1_700_000_000_123_456_789)
	plain := stamp{position: 12, ref: 34, clock: 56, at: at}
	marked := plain
	marked.closed, marked.mark = true, pairing.Mark{Instance: fmt.Sprintf("%032x", 7), Counter: 8, At: at.Add(time.Second), Other: `a "database" with sum 1`}
	disk := vfs.NewMem()
	read := func(data []byte) (stamp, error) {
		require.NoError(t, writeFile(disk, stampFile, data))
		return readStamp(disk, "")
	}
	s, err := readStamp(disk, "")
	require.NoError(t, err)
	require.Equal(t, stamp{}, s, "there is none")
	for _, want := range []stamp{plain, marked} {
		text := stampText(want)
		got, err := read(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
		for n := range text {
			damaged := append([]byte{}, text...)
			damaged[n] ^= 1
			_, err := read(damaged)
			require.ErrorIs(t, err, fault.ErrCorrupt, "byte %d", n)
			_, err = read(text[:n])
			require.ErrorIs(t, err, fault.ErrCorrupt, "%d bytes", n)
		}
	}
	for _, bad := range []string{"leasehold journal position x", "leasehold journal position 12 ref 34 clock 56 at 78"} {
		_, err = parseStamp(bad)
		require.Error(t, err)
	}

	standing := journal.Standing{Clock: 56 + time.Hour}
	require.Equal(t, at.Add(time.Hour), timeOf(plain, standing))
	require.Equal(t, at, timeOf(plain, journal.Standing{Clock: 5}), "a clock does not go back")
	require.True(t, timeOf(stamp{}, standing).IsZero())
}
