package pebble

import (
	"cmp"
	"errors"
	"fmt"
)

// choose merges the tables that hold, for a repair. These are the ones that the manifest lists,
// if it can be read and all are there; else all that no readable part of the manifest removes.
// In this order:
//
//   - A listed table that cannot be read is an error, because the changes in it may be of any
//     tuple.
//   - The listed tables are enough if they leave no gap between the records.
//   - They are used too if all tables together would lose as many records. But a list older than the tables is not
//     used.
//   - A missing listed table is an error, unless newer tables have its records.
//   - Without a whole manifest, a table that cannot be read and may be needed is an error.
//   - All tables together must not bring back tuples that were taken (refuse).
func choose(m manifest, tables map[uint64]*tableFile, merge func([]*tableFile) (salvaged, error)) (salvaged, error) {
	listed, missing, err := m.listedTables(tables)
	if err != nil {
		return salvaged{}, err
	}
	complete := m.whole && missing == nil
	fromList, listErr := merge(listed)
	if complete && listErr == nil && len(fromList.gaps) == 0 {
		return fromList, nil
	}
	rest := m.possibleTables(tables)
	fromAll, allErr := merge(rest.tables)
	old, by := m.replaced(rest.tables)
	isOld := rest.newer && old != nil // the list is older than the tables; refuse refuses it
	allIsNoBetter := allErr != nil || listErr == nil && fromAll.lostRecords() >= fromList.lostRecords()
	newerMakeUp := rest.newer && fromAll.lostRecords() == 0 && fromList.lostRecords() > 0 // for the missing one
	switch {
	case complete && !isOld && allIsNoBetter:
		return fromList, listErr
	case m.whole && missing != nil && !newerMakeUp:
		if rest.newer {
			missing = fmt.Errorf("%w (or %s is older than the tables)", missing, m.name)
		}
		return salvaged{}, missing
	case !m.whole:
		if err := rest.unreadableIn(fromAll); err != nil {
			return salvaged{}, err
		}
	}
	if err := m.refuse(tables, old, by); err != nil {
		return salvaged{}, err
	}
	return fromAll, allErr
}

// listedTables returns the tables of the manifest's list, and in missing which of them are not there, or differ from
// the list.
func (m manifest) listedTables(tables map[uint64]*tableFile) (listed []*tableFile, missing, err error) {
	for _, num := range sortedKeys(m.live) {
		t := findTable(tables, num, m.live[num])
		switch {
		case t != nil:
			listed = append(listed, t)
		case tables[num] == nil:
			missing = errors.Join(missing, damage{file: fmt.Sprintf("%06d.sst", num), at: wholeFile, what: "the table is missing"})
		case tables[num].err != nil:
			return nil, nil, tables[num].damage()
		default:
			missing = errors.Join(missing, damage{file: tables[num].name, at: wholeFile, what: "it is not the table that " + m.name + " lists"})
		}
	}
	return listed, missing, nil
}

// possibleTables are the tables that no readable part of a manifest removes.
type possibleTables struct {
	tables     []*tableFile // readable ones
	newer      bool         // one of them is newer than the manifest
	unreadable error        // the ones that cannot be read
	begun      error        // empty ones: they were begun, or all was cut off
}

// possibleTables sorts the tables that the manifest does not remove: readable ones by number, and unreadable ones as
// errors. Empty ones are kept apart, because a process that ended before it wrote a table leaves such a file.
func (m manifest) possibleTables(tables map[uint64]*tableFile) (p possibleTables) {
	for _, num := range sortedKeys(tables) {
		t := tables[num]
		switch {
		case m.gone[num]:
		case t.err != nil && t.begun:
			p.begun = errors.Join(p.begun, t.damage())
		case t.err != nil:
			p.unreadable = errors.Join(p.unreadable, t.damage())
		default:
			p.newer = p.newer || num > m.last
			p.tables = append(p.tables, t)
		}
	}
	return p
}

// unreadableIn returns the tables that cannot be read and may be needed; nil if there are
// none. A table without bytes is needed only if what was salvaged from the others has gaps.
func (p possibleTables) unreadableIn(s salvaged) error {
	if len(s.gaps) > 0 {
		return errors.Join(p.unreadable, p.begun)
	}
	return p.unreadable
}

// refuse returns, as damage, why the tables cannot be used without a whole manifest: it is unknown
// whether one of them still holds, or the table by may have replaced old, which is nil if no table
// was.
func (m manifest) refuse(tables map[uint64]*tableFile, old, by *tableFile) error {
	if num, ok := m.unsure(tables); ok {
		return damage{file: m.name, at: wholeFile, what: fmt.Sprintf("it is damaged, and it is unknown whether %06d.sst still holds", num)}
	}
	if old != nil {
		return damage{file: cmp.Or(m.name, "MANIFEST"), at: wholeFile, what: fmt.Sprintf("it is damaged, missing or older than the tables, and %s may have replaced %s", by.name, old.name)}
	}
	return nil
}

// damage describes a table that cannot be read.
func (t *tableFile) damage() error { return damage{file: t.name, at: wholeFile, what: t.err.Error()} }

// findTable returns the table that a manifest lists under a number: it may be under another
// name. It returns nil if there is none that can be read.
func findTable(tables map[uint64]*tableFile, num uint64, want listedTable) *tableFile {
	if t := tables[num]; t != nil && t.err == nil && t.listed == want {
		return t
	}
	for _, t := range tables {
		if t.err == nil && t.listed == want {
			return t
		}
	}
	return nil
}
