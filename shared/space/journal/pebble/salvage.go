package pebble

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/codec"
)

// change is one change of one key, as a table or a log has it. Of the changes of a key the one with the highest seq
// holds. A compaction may set a seq to 0; then the tables that it replaced have the older changes, so among equal
// ones the table with the highest number holds.
type change struct {
	seq        uint64
	from       uint64 // the number of the table, or fromLog
	kind       lsm.InternalKeyKind
	key, value []byte // of a range deletion: its two ends
}

// fromLog is change.from of the changes in logs: above the number of any table.
const fromLog = ^uint64(0)

// batch is one record of a log.
type batch struct {
	step    codec.Step
	changes []change
}

// readBatches returns the well-formed records of all logs, also those behind damage, in their order, and the numbers
// of the logs. A log under any other name, even a foreign one, is read by the number in its chunks. A record found in
// two files is returned once.
func (j *Journal) readBatches() (all []batch, nums map[uint32]bool, err error) {
	names, err := j.FS.List(j.Dir)
	if err != nil {
		return nil, nil, err
	}
	nums = map[uint32]bool{}
	seen := map[uint64]bool{} // by sequence number: a log may be here twice
	for _, name := range names {
		if isTable(name) || name == reserveFile {
			continue
		}
		num, ok := logNumber(name)
		data, err := readFile(j.FS, j.FS.PathJoin(j.Dir, name))
		if err != nil {
			return nil, nil, err
		}
		l := log{data: data, num: num, full: logFull}
		if original := l.original(); original != 0 {
			l.num = original
		} else if !ok {
			continue
		}
		nums[l.num] = true
		for _, r := range l.salvage() {
			b, seq, ok := readBatch(r.payload)
			if ok && !seen[seq] {
				seen[seq] = true
				all = append(all, b)
			}
		}
	}
	slices.SortFunc(all, func(a, b batch) int { return cmp.Compare(a.changes[0].seq, b.changes[0].seq) })
	return all, nums, nil
}

// readBatch reads a record; seq is the sequence number of its first change. It reports false if
// the record is not one of a journal.
func readBatch(payload []byte) (b batch, seq uint64, ok bool) {
	b.step, ok = stepOf(payload)
	if !ok {
		return b, 0, false
	}
	seq = uint64(batchrepr.ReadSeqNum(payload))
	r := batchrepr.Read(payload)
	for n := seq; ; n++ {
		kind, key, value, more, err := r.Next()
		if err != nil || !more {
			return b, seq, err == nil && len(b.changes) > 0
		}
		b.changes = append(b.changes, change{n, fromLog, kind, key, value})
	}
}

// salvage returns all well-formed records, also those behind damage: it goes on at the next
// chunk that begins a record.
func (l log) salvage() (all []logRecord) {
	for at := 0; at < len(l.data); {
		if next, ok := l.padding(at); ok {
			at = next
			continue
		}
		if r, ok := l.recordAt(at); ok {
			all = append(all, r)
			at = r.end
			continue
		}
		next, ok := l.recordBehind(at + 1)
		if !ok {
			return all
		}
		at = next
	}
	return all
}

// Gap is a range of records that are lost: those behind From, up to To.
type Gap struct{ From, To journal.Position }

// salvaged is what tables and logs hold together.
type salvaged struct {
	facts    map[string][]byte // by key
	standing journal.Standing
	tuples   int
	gaps     []Gap
	lost     int // upper bound of the tuples put by the records in the gaps
}

// lostRecords returns how many records are in the gaps, by which choose compares two ways to
// repair.
func (s salvaged) lostRecords() (n int) {
	for _, g := range s.gaps {
		n += int(g.To - g.From)
	}
	return n
}

// merge applies all changes by their sequence numbers; of equal ones the change in the table with the highest number
// holds, and a log's before a table's. The batches are in their order, and only those behind the position of the
// tables count. last is the stamp: records up to its position must be there, and are a gap if they are not.
func merge(tables []*tableFile, batches []batch, last stamp) (salvaged, error) {
	s := salvaged{facts: map[string][]byte{}}
	newest := map[string]change{}
	var ranges []change
	apply := func(c change) {
		if c.kind == lsm.InternalKeyKindRangeDelete {
			ranges = append(ranges, c)
			return
		}
		old, ok := newest[string(c.key)]
		if isNewer := c.seq > old.seq || c.seq == old.seq && c.from >= old.from; !ok || isNewer {
			newest[string(c.key)] = c
		}
	}
	for _, t := range tables {
		for _, c := range t.changes {
			apply(c)
		}
	}
	if c, ok := newest[string(codec.StandingKey())]; ok {
		step, err := codec.DecodeStep(c.value)
		if err != nil {
			return s, err
		}
		s.standing = step.Standing
	}
	inTables := s.standing.Position
	for _, b := range batches {
		// The tables have all records up to where they stand. Those in a log are not applied
		// again: a table no longer has a tuple that was put and taken, and of a damaged log
		// the record that took it may be lost. Position 0 may also mean that there are no tables.
		if b.step.Position <= inTables && b.step.Position > 0 {
			continue
		}
		if b.step.From > s.standing.Position {
			s.addGap(b.step.From, b.refBefore())
		}
		if b.step.Position >= s.standing.Position {
			s.standing = b.step.Standing
		}
		for _, c := range b.changes {
			apply(c)
		}
	}
	if last.position > s.standing.Position {
		s.addGap(last.position, last.ref)
	}
	return s, s.collect(newest, ranges)
}

// addGap notes that the records up to a position are lost. ref is at least the highest ref
// that they gave out.
func (s *salvaged) addGap(to journal.Position, ref int64) {
	s.gaps = append(s.gaps, Gap{s.standing.Position, to})
	s.lost += int(max(0, ref-s.standing.Ref))
}

// refBefore returns the lowest ref known to be at least as high as all given out before the batch: the highest ref of
// the batch, less the refs of its own tuples at the end.
func (b batch) refBefore() int64 {
	own := map[int64]bool{}
	for _, c := range b.changes {
		if f, err := codec.Decode(c.key, c.value, nil); err == nil && c.kind == lsm.InternalKeyKindSet {
			if e, ok := f.(*journal.Entry); ok {
				own[e.Ref] = true
			}
		}
	}
	ref := b.step.Ref
	for own[ref] {
		ref--
	}
	return ref
}

// collect keeps the facts that no deletion hides, and checks that each can be read. It refuses tuples in a space that
// was lost in a gap. newest has the newest change of each key, and ranges are the range deletions. Both are visited
// in the order of their keys, so that only ranges that cover a key are compared with it.
func (s *salvaged) collect(newest map[string]change, ranges []change) error {
	spaces, used := map[string]bool{}, map[string]bool{}
	slices.SortFunc(ranges, func(a, b change) int { return bytes.Compare(a.key, b.key) })
	var covering []change // the ranges that begin at or before key and end behind it
	for _, key := range sortedKeys(newest) {
		c := newest[key]
		for len(ranges) > 0 && string(ranges[0].key) <= key {
			covering, ranges = append(covering, ranges[0]), ranges[1:]
		}
		covering = slices.DeleteFunc(covering, func(r change) bool { return string(r.value) <= key })
		hidden := slices.ContainsFunc(covering, func(r change) bool { return r.seq > c.seq })
		isDeletion := c.kind != lsm.InternalKeyKindSet && c.kind != lsm.InternalKeyKindSetWithDelete
		if hidden || isDeletion {
			continue
		}
		f, err := codec.Decode(c.key, c.value, nil)
		if err != nil {
			return err
		}
		s.facts[key] = c.value
		switch f := f.(type) {
		case *journal.Entry:
			s.tuples++
			used[f.Space] = true
		case *journal.Space:
			spaces[f.Name] = true
		}
	}
	for name := range used {
		if !spaces[name] && len(s.gaps) > 0 {
			return fmt.Errorf("%w: the options of the space %q were in the damaged part", fault.ErrCorrupt, name)
		}
	}
	return nil
}
