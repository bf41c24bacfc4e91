package pebble

import (
	"errors"
	"fmt"
	"testing"

	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
)

var errTable = errors.New("this table is damaged")

// tableOf is a table of a number that changes the keys from first to last, with sequence numbers
// from smallest to largest.
func tableOf(num uint64, first, last string, smallest, largest uint64) *tableFile {
	return &tableFile{
		name: fmt.Sprintf("%06d.sst", num), num: num, listed: listedTable{size: 100 + num, smallest: smallest, largest: largest},
		changes: []change{{smallest, num, lsm.InternalKeyKindSet, []byte(first), nil}, {largest, num, lsm.InternalKeyKindSet, []byte(last), nil}},
	}
}

// listing is a manifest that lists tables; the name is set if it was found.
func listing(whole bool, tables ...*tableFile) manifest {
	m := manifest{name: "MANIFEST-1", whole: whole, live: map[uint64]listedTable{}, gone: map[uint64]bool{}, early: map[uint64]bool{}}
	for _, t := range tables {
		m.live[t.num] = t.listed
		m.last = max(m.last, t.num)
	}
	return m
}

func byNumber(tables ...*tableFile) map[uint64]*tableFile {
	all := map[uint64]*tableFile{}
	for _, t := range tables {
		all[t.num] = t
	}
	return all
}

func TestARangeOfKeysOverlapsAnotherUpToItsEnds(t *testing.T) {
	t.Parallel()
	b := tableOf(1, "d", "f", 1, 2)
	for keys, want := range map[[2]string]bool{
		{"a", "c"}: false, {"a", "d"}: true, {"a", "z"}: true, {"e", "e"}: true, {"f", "g"}: true, {"g", "h"}: false,
	} {
		x := tableOf(2, keys[0], keys[1], 1, 2)
		require.Equal(t, want, x.overlaps(b), "%v", keys)
		require.Equal(t, want, b.overlaps(x), "%v", keys)
		x.changes[0], x.changes[1] = x.changes[1], x.changes[0]
		require.Equal(t, want, x.overlaps(b), "%v, in another order", keys)
		x.changes = []change{{1, 2, lsm.InternalKeyKindRangeDelete, []byte(keys[0]), []byte(keys[1])}}
		require.Equal(t, want, x.overlaps(b), "%v, a range deletion", keys)
	}
}

func TestATableIsFoundUnderAnotherNameOnlyIfItIsTheListedOne(t *testing.T) {
	t.Parallel()
	a, b := tableOf(1, "a", "b", 1, 2), tableOf(2, "a", "b", 1, 2)
	require.Same(t, a, findTable(byNumber(a, b), 1, a.listed))
	require.Same(t, b, findTable(byNumber(a, b), 1, b.listed))
	require.Nil(t, findTable(byNumber(a), 1, b.listed))
	a.err = errTable
	require.Nil(t, findTable(byNumber(a, b), 1, a.listed), "it cannot be read")
	b.err = errTable
	require.Nil(t, findTable(byNumber(a, b), 1, b.listed))

	m := listing(true, tableOf(1, "a", "b", 1, 2), tableOf(3, "a", "b", 1, 2), tableOf(4, "a", "b", 1, 2))
	other := tableOf(4, "a", "b", 1, 9)
	one := tableOf(1, "a", "b", 1, 2)
	listed, missing, err := m.listedTables(byNumber(one, b, other))
	require.NoError(t, err, "a damaged table that is not listed does not count")
	require.Equal(t, []*tableFile{one}, listed)
	require.ErrorContains(t, missing, "000003.sst: the table is missing")
	require.ErrorContains(t, missing, "000004.sst: it is not the table that MANIFEST-1 lists")
	_, _, err = m.listedTables(byNumber(a, other))
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.ErrorContains(t, err, "000001.sst: this table is damaged")
}

func TestThePossibleTablesAreThoseThatNoReadablePartOfAManifestRemoves(t *testing.T) {
	t.Parallel()
	a, gone, damaged, begun, newer := tableOf(1, "a", "b", 1, 2), tableOf(2, "a", "b", 1, 2), tableOf(3, "a", "b", 1, 2), tableOf(4, "a", "b", 1, 2), tableOf(6, "a", "b", 1, 2)
	damaged.err, begun.err, begun.begun = errTable, errTable, true
	m := listing(false, a, tableOf(5, "a", "b", 1, 2))
	m.gone[2] = true
	p := m.possibleTables(byNumber(a, gone, damaged, begun))
	require.Equal(t, []*tableFile{a}, p.tables)
	require.False(t, p.newer)
	require.ErrorContains(t, p.unreadable, damaged.name)
	require.NotContains(t, p.unreadable.Error(), begun.name)
	require.ErrorContains(t, p.begun, begun.name)
	require.NotContains(t, p.begun.Error(), damaged.name)
	require.NotContains(t, p.unreadableIn(salvaged{}).Error(), begun.name, "it is not needed")
	require.ErrorContains(t, p.unreadableIn(salvaged{gaps: []Gap{{1, 2}}}), begun.name)
	require.ErrorContains(t, p.unreadableIn(salvaged{gaps: []Gap{{1, 2}}}), damaged.name)
	for num, want := range map[uint64]bool{5: false, 6: true} {
		newer.num = num
		p = m.possibleTables(byNumber(newer))
		require.Equal(t, want, p.newer, "the manifest knows up to 5")
		require.NoError(t, p.unreadableIn(salvaged{gaps: []Gap{{1, 2}}}))
	}
}

func TestATableMayHaveBeenReplacedByALaterOneWithOlderChangesOfItsKeys(t *testing.T) {
	t.Parallel()
	old := tableOf(1, "a", "m", 10, 20)
	for name, c := range map[string]struct {
		later *tableFile
		want  bool
	}{
		"the same keys and changes": {tableOf(2, "a", "m", 10, 20), true},
		"its newest change":         {tableOf(2, "a", "m", 20, 30), true},
		"newer changes only":        {tableOf(2, "a", "m", 21, 30), false},
		"changes set to 0":          {tableOf(2, "a", "m", 0, 0), true},
		"other keys":                {tableOf(2, "n", "z", 10, 20), false},
		"an older table":            {tableOf(0, "a", "m", 10, 20), false},
	} {
		tables := []*tableFile{old, c.later}
		for _, whole := range []bool{true, false} {
			replaced, by := listing(whole).replaced(tables)
			switch {
			case name == "an older table": // then that one may be replaced
				require.Same(t, c.later, replaced, name)
				require.Same(t, old, by, name)
			case c.want:
				require.Same(t, old, replaced, name)
				require.Same(t, c.later, by, name)
			default:
				require.Nil(t, replaced, name)
			}
		}
		both := listing(true, tables...)
		replaced, _ := both.replaced(tables)
		require.Nil(t, replaced, "%s: both are in use", name)
	}
	by := tableOf(2, "a", "m", 10, 20)
	m := listing(false, old)
	replaced, _ := m.replaced([]*tableFile{old, by})
	require.Nil(t, replaced, "it was listed behind the damage")
	m.early[1] = true
	replaced, _ = m.replaced([]*tableFile{old, by})
	require.Same(t, old, replaced, "a damaged record may have removed it")
	m = listing(true, old)
	replaced, _ = m.replaced([]*tableFile{old, by})
	require.Same(t, old, replaced, "the list is older than the other one")
	m = listing(false, old, by)
	m.early[1] = true
	replaced, _ = m.replaced([]*tableFile{old, by})
	require.Same(t, old, replaced, "the other one was listed behind the damage")
	m.early[2] = true
	replaced, _ = m.replaced([]*tableFile{old, by})
	require.Nil(t, replaced, "they were listed together")
}

// A manifest with damage may have lost the removal of a table still on the disk.
func TestItIsUnsureWhetherATableHoldsIfAnotherOneIsMissing(t *testing.T) {
	t.Parallel()
	a, b := tableOf(1, "a", "b", 1, 2), tableOf(2, "a", "b", 1, 2)
	for name, c := range map[string]struct {
		whole  bool
		early  []uint64
		tables map[uint64]*tableFile
		unsure uint64
	}{
		"a whole one":                {true, []uint64{1, 2}, byNumber(a), 0},
		"all are there":              {false, []uint64{1, 2}, byNumber(a, b), 0},
		"one is missing":             {false, []uint64{1, 2}, byNumber(b), 2},
		"one that came later":        {false, []uint64{1}, byNumber(b), 0},
		"all are missing":            {false, []uint64{1, 2}, byNumber(), 0},
		"one that came early stayed": {false, []uint64{1}, byNumber(a), 1},
	} {
		m := listing(c.whole, a, b)
		m.early = map[uint64]bool{1: false, 2: false}
		for _, num := range c.early {
			m.early[num] = true
		}
		num, ok := m.unsure(c.tables)
		require.Equal(t, c.unsure, num, name)
		require.Equal(t, c.unsure != 0, ok, name)
		err := m.refuse(c.tables, nil, nil)
		require.Equal(t, ok, errors.Is(err, fault.ErrCorrupt), name)
		if ok {
			require.ErrorContains(t, err, fmt.Sprintf("whether %06d.sst still holds", c.unsure), name)
		}
		err = m.refuse(c.tables, a, b)
		require.ErrorIs(t, err, fault.ErrCorrupt, name)
		if !ok {
			require.ErrorContains(t, err, "000002.sst may have replaced 000001.sst", name)
		}
	}
	require.ErrorContains(t, manifest{whole: true}.refuse(nil, a, b), "MANIFEST: ")
}

// merging is the merge of a test: what it salvages depends on the tables that it gets.
func merging(results map[int]any) func([]*tableFile) (salvaged, error) {
	return func(tables []*tableFile) (salvaged, error) {
		key := 0
		for _, t := range tables {
			key = key*10 + int(t.num)
		}
		switch r := results[key].(type) {
		case error:
			return salvaged{tuples: key}, r
		case int: // records that are lost
			return salvaged{tuples: key, gaps: []Gap{{0, journal.Position(r)}}}, nil
		}
		return salvaged{tuples: key}, nil
	}
}

func TestARepairUsesTheListedTablesOrAllOrIsRefused(t *testing.T) {
	t.Parallel()
	a, b, newer := tableOf(1, "a", "b", 1, 2), tableOf(2, "c", "d", 1, 2), tableOf(7, "e", "f", 1, 2)
	replacing := tableOf(7, "a", "b", 1, 2)
	damaged := tableOf(3, "e", "f", 1, 2)
	damaged.err = errTable
	corrupt := fmt.Errorf("%w: in a fact", fault.ErrCorrupt)
	for name, c := range map[string]struct {
		m       manifest
		tables  map[uint64]*tableFile
		results map[int]any
		want    int // the tables that are used
		says    string
	}{
		"the list":                         {listing(true, a, b), byNumber(a, b, newer), nil, 12, ""},
		"a damaged one that is listed":     {listing(true, a, damaged), byNumber(a, damaged), nil, 0, "this table is damaged"},
		"a damaged one that is not listed": {listing(true, a), byNumber(a, damaged), nil, 1, ""},
		"all lose fewer":                   {listing(true, a), byNumber(a, newer), map[int]any{1: 5, 17: 4}, 17, ""},
		"all lose as many":                 {listing(true, a), byNumber(a, newer), map[int]any{1: 5, 17: 5}, 1, ""},
		"all lose more":                    {listing(true, a), byNumber(a, newer), map[int]any{1: 5, 17: 6}, 1, ""},
		"all fail":                         {listing(true, a), byNumber(a, newer), map[int]any{1: 5, 17: corrupt}, 1, ""},
		"the list fails":                   {listing(true, a), byNumber(a, newer), map[int]any{1: corrupt}, 17, ""},
		"both fail":                        {listing(true, a), byNumber(a, newer), map[int]any{1: corrupt, 17: corrupt}, 0, "in a fact"},
		"an older list":                    {listing(true, a), byNumber(a, replacing), map[int]any{1: 5, 17: 5}, 0, "may have replaced"},
		"a missing one":                    {listing(true, a, b), byNumber(a), nil, 0, "000002.sst: the table is missing"},
		"a missing one, made up for":       {listing(true, a, b), byNumber(a, newer), map[int]any{1: 5}, 17, ""},
		"a missing one, not made up for":   {listing(true, a, b), byNumber(a, newer), map[int]any{1: 5, 17: 1}, 0, "older than the tables"},
		"a missing one that is not needed": {listing(true, a, b), byNumber(a, newer), nil, 0, "the table is missing"},
		"no list":                          {listing(false), byNumber(a, b), nil, 12, ""},
		"no list and a damaged one":        {listing(false), byNumber(a, damaged), nil, 0, "this table is damaged"},
		"no list and a replaced one":       {listing(false), byNumber(a, replacing), nil, 0, "may have replaced"},
		"no list, and all fail":            {listing(false), byNumber(a), map[int]any{1: corrupt}, 0, "in a fact"},
	} {
		got, err := choose(c.m, c.tables, merging(c.results))
		if c.says == "" {
			require.NoError(t, err, name)
			require.Equal(t, c.want, got.tuples, name)
			continue
		}
		require.ErrorIs(t, err, fault.ErrCorrupt, name)
		require.ErrorContains(t, err, c.says, name)
	}
}
