package pebble

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"

	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
)

// tableFile is one table, with its number by its name.
type tableFile struct {
	name    string
	num     uint64
	listed  listedTable // what a manifest must say of it
	changes []change
	err     error // it cannot be read
	begun   bool  // it is empty: the process ended before it wrote the table
}

// overlaps reports whether the ranges of keys of two tables overlap, so that both may have
// changes of one key.
func (t *tableFile) overlaps(u *tableFile) bool {
	tFirst, tLast := t.keys()
	uFirst, uLast := u.keys()
	return bytes.Compare(tFirst, uLast) <= 0 && bytes.Compare(uFirst, tLast) <= 0
}

// keys returns the lowest and the highest key that a table changes; of a range deletion both
// ends count. Both are nil for an empty table.
func (t *tableFile) keys() (first, last []byte) {
	for _, c := range t.changes {
		end := c.key
		if c.kind == lsm.InternalKeyKindRangeDelete {
			end = c.value
		}
		if first == nil || bytes.Compare(c.key, first) < 0 {
			first = c.key
		}
		if bytes.Compare(end, last) > 0 {
			last = end
		}
	}
	return first, last
}

// readTables reads all tables in the folder, by number. One that cannot be read has its err, and begun if it has no
// bytes; so a repair can use the others.
func (j *Journal) readTables() (map[uint64]*tableFile, error) {
	names, err := j.FS.List(j.Dir)
	if err != nil {
		return nil, err
	}
	tables := map[uint64]*tableFile{}
	for _, name := range names {
		number, ok := strings.CutSuffix(name, ".sst")
		num, err := strconv.ParseUint(number, 10, 64)
		if !ok || err != nil {
			continue
		}
		t := &tableFile{name: name, num: num}
		if t.err = j.readTable(t); t.err != nil {
			data, err := readFile(j.FS, j.FS.PathJoin(j.Dir, name))
			t.begun = err == nil && len(data) == 0
		}
		tables[num] = t
	}
	return tables, nil
}

// readTable reads all changes in a table into t; the checksum of each block is verified. What a
// manifest must list of it, its size and the range of its sequence numbers, is computed from
// that. An error means that the table is damaged or cannot be read; its changes do not count
// then.
func (j *Journal) readTable(t *tableFile) (err error) {
	r, size, err := j.openTable(t.name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := r.ValidateBlockChecksums(); err != nil {
		return err
	}
	if err := t.readPoints(r); err != nil {
		return err
	}
	if err := t.readRangeDeletes(r); err != nil {
		return err
	}
	t.listed = listedTable{size: uint64(size), smallest: ^uint64(0)}
	for _, c := range t.changes {
		t.listed.smallest, t.listed.largest = min(t.listed.smallest, c.seq), max(t.listed.largest, c.seq)
	}
	return nil
}

// openTable opens a table and returns its size in bytes. The caller closes the reader, which
// closes the file; after an error nothing is open.
func (j *Journal) openTable(name string) (r *sstable.Reader, size int64, err error) {
	f, err := j.FS.Open(j.FS.PathJoin(j.Dir, name))
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	o := &lsm.Options{}
	o.EnsureDefaults()
	r, err = sstable.NewReader(context.Background(), readable, o.MakeReaderOptions()) // it closes the file if it fails
	return r, info.Size(), err
}

// readPoints appends the changes of single keys, in the order of the keys. Keys and values are copied, because the
// iterator reuses their memory.
func (t *tableFile) readPoints(r *sstable.Reader) error {
	points, err := r.NewIter(sstable.NoTransforms, nil, nil, sstable.AssertNoBlobHandles)
	if err != nil {
		return err
	}
	for kv := points.First(); kv != nil; kv = points.Next() {
		value, _, err := kv.Value(nil)
		if err != nil {
			return errors.Join(err, points.Close())
		}
		t.changes = append(t.changes, change{uint64(kv.SeqNum()), t.num, kv.Kind(), bytes.Clone(kv.K.UserKey), bytes.Clone(value)})
	}
	return errors.Join(points.Error(), points.Close())
}

// readRangeDeletes appends the deletions of ranges of keys, if the table has any.
func (t *tableFile) readRangeDeletes(r *sstable.Reader) error {
	ranges, err := r.NewRawRangeDelIter(context.Background(), sstable.NoFragmentTransforms, sstable.NoReadEnv)
	if err != nil || ranges == nil { // nil: the table deletes no ranges
		return err
	}
	defer ranges.Close()
	span, err := ranges.First()
	for ; span != nil && err == nil; span, err = ranges.Next() {
		for _, k := range span.Keys {
			t.changes = append(t.changes, change{uint64(k.SeqNum()), t.num, lsm.InternalKeyKindRangeDelete, bytes.Clone(span.Start), bytes.Clone(span.End)})
		}
	}
	return err
}
