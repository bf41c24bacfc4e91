package pebble

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	lsm "github.com/cockroachdb/pebble/v2"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/codec"
)

// Diagnosis is what is wrong with a journal, and what a repair keeps and loses.
type Diagnosis struct {
	Damage string // empty: there is none
	Copy   string // after a repair, the folder that holds all as it was
	Kept   journal.Position
	At     time.Time // when the journal was at Kept; zero: unknown
	Tuples int       // kept
	Gaps   []Gap     // records that are lost, each with what it put and took
	// LostTuples is how many tuples at most were put by the records in the gaps.
	LostTuples int
	// Open reports that more records may be lost behind Kept, because the newest log is
	// missing: how many is unknown.
	Open bool
}

// The folder of a repaired journal, before it takes the journal's place.
const (
	repairedEnd   = ".repaired"
	unfinishedEnd = ".repaired.new"
)

// Diagnose reads a journal without opening it, and changes nothing. It fails with fault.ErrCorrupt if the damage
// cannot be repaired, because a table is damaged or missing, and with fault.ErrInvalid for another format. The data
// folder must be locked, as for Open.
func Diagnose(c Config) (Diagnosis, error) {
	j := newJournal(c)
	d, _, err := j.diagnose()
	if err != nil {
		return d, fmt.Errorf("diagnose the journal %s: %w", c.Dir, err)
	}
	return d, nil
}

// Repair makes a damaged journal usable again, and loses no record that can be read: it reads the tables and logs
// without the store's list of them, writes what holds into a new folder, and then renames the damaged one. It fails
// as Diagnose does, or if it cannot write the new folder.
func Repair(c Config) (Diagnosis, error) {
	j := newJournal(c)
	if err := j.finishRepair(); err != nil {
		return Diagnosis{}, fmt.Errorf("repair the journal %s: %w", c.Dir, classify(err))
	}
	d, s, err := j.diagnose()
	if err == nil && d.Damage != "" {
		d.Copy, err = j.replaceBy(s)
	}
	if err != nil {
		return d, fmt.Errorf("repair the journal %s: %w", c.Dir, err)
	}
	return d, nil
}

func newJournal(c Config) *Journal {
	return &Journal{Config: c.withDefaults(), opening: opening{stuck: make(chan struct{})}}
}

// diagnose returns what is wrong and what a repair would keep, also if nothing is wrong. Damage
// is what Open would refuse. An error means that the journal cannot be read or repaired;
// d.Damage is set then too, if it was found. Another format is fault.ErrInvalid.
func (j *Journal) diagnose() (d Diagnosis, s salvaged, err error) {
	_, err = j.readFormat()
	stamp, stampErr := readStamp(j.FS, j.Dir)
	j.stamp = stamp // if it is damaged it is empty
	if err == nil {
		_, err = j.inspect()
	}
	if err == nil { // the damage is the first error: of the format, else of the rest, else of the stamp
		err = stampErr
	}
	if err != nil {
		err = damaged(err)
		if !errors.Is(err, fault.ErrCorrupt) {
			return d, s, err
		}
		d.Damage = err.Error()
		if x := (damage{}); errors.As(err, &x) {
			d.Damage = x.Error()
		}
	}
	var nums map[uint32]bool // of the logs
	if s, nums, err = j.salvageAll(); err != nil {
		if d.Damage != "" {
			err = fmt.Errorf("%s; it cannot be repaired, so restore a backup: %w", d.Damage, err)
		}
		return d, s, damaged(err)
	}
	d.Kept, d.At, d.Tuples, d.Gaps, d.LostTuples = s.standing.Position, timeOf(stamp, s.standing), s.tuples, s.gaps, s.lost
	newest, err := j.readNewest()
	d.Open = err == nil && newest != 0 && !nums[newest]
	return d, s, nil
}

// salvageAll reads all that the folder holds, tables, records of logs, manifest and stamp, merges them (choose), and
// returns with it the numbers of its logs. A damaged stamp counts as none. It fails with fault.ErrCorrupt if the
// journal cannot be repaired.
func (j *Journal) salvageAll() (salvaged, map[uint32]bool, error) {
	tables, err := j.readTables()
	if err != nil {
		return salvaged{}, nil, err
	}
	batches, nums, err := j.readBatches()
	if err != nil {
		return salvaged{}, nil, err
	}
	m, err := j.readManifest()
	if err != nil {
		return salvaged{}, nil, err
	}
	stamp, err := readStamp(j.FS, j.Dir)
	if err != nil && !errors.Is(err, fault.ErrCorrupt) {
		return salvaged{}, nil, err
	}
	s, err := choose(m, tables, func(chosen []*tableFile) (salvaged, error) { return merge(chosen, batches, stamp) })
	return s, nums, err
}

// repairBatch is about how many bytes of facts are written at a time.
const repairBatch = 1 << 20

// replaceBy writes a new journal, and gives it the place of this one. It returns the new name of this one. The new
// one is written under an unfinished name, and gets the name of a repaired one when it is whole; then this one is
// renamed, and finishRepair renames the new one. Each rename is durable before the next, so that Open and Repair can
// finish what a process began that ended in between.
func (j *Journal) replaceBy(s salvaged) (aside string, err error) {
	temp, ready := j.Dir+unfinishedEnd, j.Dir+repairedEnd
	if err := errors.Join(j.FS.RemoveAll(temp), j.FS.RemoveAll(ready)); err != nil {
		return "", classify(err)
	}
	if err := j.writeNew(temp, s); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		aside = fmt.Sprintf("%s.damaged-%d", j.Dir, n)
		if _, err := j.FS.Stat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	parent := j.FS.PathDir(j.Dir)
	err = errors.Join(j.FS.Rename(temp, ready), syncDir(j.FS, parent))
	if err == nil {
		err = errors.Join(j.FS.Rename(j.Dir, aside), syncDir(j.FS, parent))
	}
	if err != nil {
		return "", classify(err)
	}
	return aside, classify(j.finishRepair())
}

// finishRepair gives a repaired journal its name, durably, if there is one and no other has the name. It does nothing
// in any other state.
func (j *Journal) finishRepair() error {
	_, err := j.FS.Stat(j.Dir)
	_, repairedErr := j.FS.Stat(j.Dir + repairedEnd)
	if !errors.Is(err, fs.ErrNotExist) || repairedErr != nil {
		return nil
	}
	if err := j.FS.Rename(j.Dir+repairedEnd, j.Dir); err != nil {
		return err
	}
	return syncDir(j.FS, j.FS.PathDir(j.Dir))
}

// writeNew makes a journal of the facts, and opens it once to check it (checkNew). Its stamp has the mark of the old
// one, if that can be read.
func (j *Journal) writeNew(dir string, s salvaged) error {
	c := Config{Dir: dir, FS: j.FS, Log: slog.New(slog.DiscardHandler)}
	stamp, _ := readStamp(j.FS, j.Dir)
	repaired, err := Open(c)
	if err != nil {
		return err
	}
	if err := repaired.writeFacts(s); err != nil {
		return errors.Join(classify(err), repaired.Close())
	}
	repaired.standing, repaired.stamp = s.standing, stamp // Close writes a stamp of both
	if err := repaired.Close(); err != nil {
		return err
	}
	return checkNew(c, s)
}

// writeFacts commits all facts in batches, because one of all may be too large. Each batch leads to the same
// position: the first from 0, the others from there, because the facts stand for all records together. There is a
// batch even without facts, for the position.
func (j *Journal) writeFacts(s salvaged) error {
	from := journal.Position(0)
	for keys := sortedKeys(s.facts); ; {
		b := j.db.NewBatch()
		err := b.Set(codec.StandingKey(), codec.AppendStep(nil, codec.Step{From: from, Standing: s.standing}), nil)
		for ; len(keys) > 0 && b.Len() < repairBatch && err == nil; keys = keys[1:] {
			if keys[0] != string(codec.StandingKey()) {
				err = b.Set([]byte(keys[0]), s.facts[keys[0]], nil)
			}
		}
		if err = errors.Join(err, j.db.Apply(b, lsm.Sync), j.broken.err()); err != nil || len(keys) == 0 {
			return err
		}
		from = s.standing.Position
	}
}

// checkNew opens a journal that writeNew has written, and requires the same position and number of tuples.
func checkNew(c Config, s salvaged) error {
	j, err := Open(c)
	if err != nil {
		return err
	}
	tuples := 0
	at, err := j.Load(context.Background(), func(f journal.Fact) error {
		if _, ok := f.(*journal.Entry); ok {
			tuples++
		}
		return nil
	})
	if err == nil && (at != s.standing || tuples != s.tuples) {
		err = fmt.Errorf("%w: the repaired journal holds %d tuples at position %d, want %d at %d", fault.ErrCorrupt, tuples, at.Position, s.tuples, s.standing.Position)
	}
	return errors.Join(err, j.Close())
}

// sortedKeys returns the keys of a map in order, so that the output does not vary.
func sortedKeys[K ~string | ~uint64, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
