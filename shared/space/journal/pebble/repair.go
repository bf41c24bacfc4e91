package pebble

import (
	"errors"
	"fmt"

	"leasehold/shared/space/journal"
)

// Repaired is the result of a repair.
type Repaired struct {
	Damage string // empty: there was none, and nothing was changed
	Copy   string // the folder that holds all as it was
	// Kept is where the journal stands now, and Lost how many well-formed records
	// behind the damage were given up; what the damage itself held is not counted.
	Kept journal.Position
	Lost int
}

// Repair makes a journal with a damaged log usable again: it copies the folder to
// one beside it, and cuts the log off at the damage, so that what was committed
// before it is kept and everything after it is lost. Damage elsewhere cannot be
// repaired, and is fault.ErrCorrupt; a backup helps then. The data folder must be
// locked, as for Open.
func Repair(c Config) (Repaired, error) {
	j := &Journal{Config: c.withDefaults()}
	done, err := j.repair()
	if err != nil {
		return done, fmt.Errorf("repair the journal %s: %w", c.Dir, err)
	}
	return done, nil
}

func (j *Journal) repair() (done Repaired, err error) {
	if err := j.checkFormat(); err != nil {
		return done, classify(err)
	}
	for {
		_, err := j.check()
		var d damage
		if !errors.As(err, &d) {
			return j.finish(done, err)
		}
		if !isLog(d.file) {
			return done, fmt.Errorf("%w; only logs can be repaired: restore a backup", err)
		}
		if done.Copy == "" {
			done.Damage = d.file + ": " + d.what
			if done.Copy, err = j.setAside(); err != nil {
				return done, classify(err)
			}
		}
		lost, err := j.cut(d)
		if err != nil {
			return done, classify(err)
		}
		done.Lost += lost
	}
}

// finish opens the journal once, to see that it can be.
func (j *Journal) finish(done Repaired, err error) (Repaired, error) {
	if err != nil {
		return done, damaged(err)
	}
	again, err := Open(j.Config)
	if err != nil {
		return done, err
	}
	done.Kept = again.standing.Position
	return done, again.Close()
}

// setAside copies the folder to the first free name beside it.
func (j *Journal) setAside() (string, error) {
	for n := 1; ; n++ {
		path := fmt.Sprintf("%s.damaged-%d", j.Dir, n)
		if _, err := j.FS.Stat(path); err == nil {
			continue
		}
		return path, copyDir(j.FS, j.Dir, path)
	}
}

// cut ends the journal at a damage, and returns how many records were behind it.
func (j *Journal) cut(d damage) (lost int, err error) {
	logs, err := readLogs(j.FS, j.Dir)
	if err != nil {
		return 0, err
	}
	at, _ := logNumber(d.file)
	newest := uint32(0)
	for _, l := range logs {
		path := j.FS.PathJoin(j.Dir, l.name)
		switch {
		case l.num < at:
			newest = l.num
		case l.num == at && d.at >= 0:
			newest = l.num
			lost += l.behind + l.recordsFrom(d.at)
			err = truncate(j.FS, path, d.at)
		default:
			lost += len(l.records) + l.behind
			err = j.FS.Remove(path)
		}
		if err != nil {
			return lost, err
		}
	}
	return lost, errors.Join(writeNewest(j.FS, j.Dir, newest), syncDir(j.FS, j.Dir))
}

// recordsFrom counts the records that begin at an offset or behind it.
func (s scanned) recordsFrom(at int) (n int) {
	for _, r := range s.records {
		if r.at >= at {
			n++
		}
	}
	return n
}
