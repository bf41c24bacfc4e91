package pebble

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	lsm "github.com/cockroachdb/pebble/v2"
)

// listedTable is what the store's manifest lists of a table. Two tables of one store are
// the same if these are.
type listedTable struct{ size, smallest, largest uint64 }

// manifest is the store's list of its tables, as far as it can be read.
type manifest struct {
	name  string
	whole bool                   // every record was read; one that was cut off leaves no trace
	live  map[uint64]listedTable // tables in use, by number
	gone  map[uint64]bool        // tables that were listed once
	last  uint64                 // the highest number of a table in it
	early map[uint64]bool        // live tables that a damaged record behind may remove
}

// readManifest reads the manifest that the store's marker names or, if that one is missing, the newest. Without any,
// the manifest has no name and is not whole. It applies all records that can be read, also those behind damage: whole
// is false then, and early has the live tables that were added before the damage, because a damaged record may have
// removed them.
func (j *Journal) readManifest() (manifest, error) {
	m := manifest{live: map[uint64]listedTable{}, gone: map[uint64]bool{}, early: map[uint64]bool{}}
	names, err := j.FS.List(j.Dir)
	if err != nil {
		return m, err
	}
	m.name = j.manifestName(names)
	if m.name == "" {
		return m, nil
	}
	data, err := readFile(j.FS, j.FS.PathJoin(j.Dir, m.name))
	if err != nil {
		return m, err
	}
	l := log{data: data, full: manifestFull}
	found := l.scan()
	m.whole = found.clean && len(data) > 0
	for _, r := range l.salvage() {
		e := edit{data: r.payload}
		e.read()
		m.whole = m.whole && e.err == nil
		for num := range e.deleted {
			delete(m.live, num)
			delete(m.early, num)
			m.gone[num] = true
		}
		for num, t := range e.added {
			m.live[num] = t
			m.early[num] = r.at < found.end
			delete(m.gone, num)
			m.last = max(m.last, num)
		}
	}
	return m, nil
}

// manifestName returns the name of the manifest that the store's marker names, if it is among the
// names in the folder, else of the newest one; "" if there is none.
func (j *Journal) manifestName(names []string) (newest string) {
	if store, err := lsm.Peek(j.Dir, j.FS); err == nil && store.Exists {
		if marked := j.FS.PathBase(store.ManifestFilename); slices.Contains(names, marked) {
			return marked
		}
	}
	for _, name := range names {
		if strings.HasPrefix(name, "MANIFEST-") && name > newest {
			newest = name
		}
	}
	return newest
}

// unsure returns the number of a table that may hold or not, and reports whether there is
// one. If a table is listed and not there, a damaged record of the manifest replaced it,
// and may have replaced others too, which would bring back tuples that were taken.
func (m manifest) unsure(tables map[uint64]*tableFile) (uint64, bool) {
	isMissing := func(num uint64) bool { return tables[num] == nil }
	if m.whole || !slices.ContainsFunc(sortedKeys(m.live), isMissing) {
		return 0, false
	}
	for _, num := range sortedKeys(m.early) {
		if m.early[num] && !isMissing(num) {
			return num, true
		}
	}
	return 0, false
}

// replaced returns a table that a compaction may have replaced by another one, and that
// other one; nil if there is none. Such a table may be left from a process that was killed
// before it removed it, and would bring back tuples that were taken. A later table that
// replaced nothing has only changes that are newer.
func (m manifest) replaced(tables []*tableFile) (old, by *tableFile) {
	for _, t := range tables {
		if !m.whole && m.lists(t) && !m.early[t.num] {
			continue // the damage is before its record, so no damaged record removes it
		}
		for _, later := range tables {
			listedTogether := m.lists(t) && m.lists(later) && m.early[t.num] == m.early[later.num] // neither replaced the other
			hasOlderChanges := later.listed.smallest <= t.listed.largest                           // as one that replaced t has
			if later.num > t.num && !listedTogether && later.overlaps(t) && hasOlderChanges {
				return t, later
			}
		}
	}
	return nil, nil
}

// lists reports whether the manifest lists a table as in use, and it is the one under that
// number.
func (m manifest) lists(t *tableFile) bool { return m.live[t.num] == t.listed }

// The tags of a manifest's record that the store writes for a format without range keys,
// virtual tables and blobs.
const (
	tagComparer  = 1
	tagLog       = 2
	tagNextFile  = 3
	tagLastSeq   = 4
	tagDeleted   = 6
	tagPrevLog   = 9
	tagNewTable4 = 103

	customEnd    = 1
	customUnsafe = 64 // from here on a custom field may not be ignored
)

// edit is one record of a manifest.
type edit struct {
	data    []byte
	added   map[uint64]listedTable
	deleted map[uint64]bool
	err     error
}

// number reads a number; at the end of the data, or after an error, it sets err and returns 0.
func (e *edit) number() uint64 {
	n, size := binary.Uvarint(e.data)
	if size <= 0 {
		e.err, e.data = fmt.Errorf("a number"), nil
		return 0
	}
	e.data = e.data[size:]
	return n
}

// skipText reads a length and as many bytes; with too few bytes it sets err.
func (e *edit) skipText() {
	if n := e.number(); n <= uint64(len(e.data)) {
		e.data = e.data[n:]
	} else {
		e.err, e.data = fmt.Errorf("the length of a text"), nil
	}
}

// read reads the whole record into added and deleted. It sets the error for an unknown tag, or field of a table, that
// may not be ignored; then only the tables before it are known.
func (e *edit) read() {
	e.added, e.deleted = map[uint64]listedTable{}, map[uint64]bool{}
	for len(e.data) > 0 && e.err == nil {
		switch tag := e.number(); tag {
		case tagComparer:
			e.skipText()
		case tagLog, tagNextFile, tagLastSeq, tagPrevLog:
			e.number()
		case tagDeleted:
			e.number() // level
			if num := e.number(); e.err == nil {
				e.deleted[num] = true
			}
		case tagNewTable4:
			e.number() // level
			num := e.number()
			t := listedTable{size: e.number()}
			e.skipText() // smallest key
			e.skipText() // largest key
			t.smallest, t.largest = e.number(), e.number()
			for custom := e.number(); custom != customEnd && e.err == nil; custom = e.number() {
				if custom >= customUnsafe {
					e.err = fmt.Errorf("field %d of a table", custom)
				}
				e.skipText()
			}
			if e.err == nil {
				e.added[num] = t
			}
		default:
			e.err = fmt.Errorf("tag %d", tag)
		}
	}
}
