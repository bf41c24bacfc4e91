package work

import (
	"fmt"
	"hash/crc32"
	"slices"

	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

// A manager chooses outside of the spaces, in a catalog. Before it issues what it
// chose, another one may have issued the same, and may have ingested what came of it.
// So issue looks again, in its transaction, whether a result of a part waits, and
// whether one of the subject was ingested since the manager looked.
//
// It sees the latter in one tuple, ("ingested", (n…)). The subjects fall into a fixed
// number of sets by their names, and for each set n is how many results had been
// ingested in all when one of that set last was. That it is sets bounds what is kept,
// and costs an unlucky choice another one.
const subjectSets = 32

func anyIngested() tuple.Template {
	return tuple.Match("ingested", tuple.Formal{Type: tuple.Nested})
}

func setOf(subject string) int { return int(crc32.ChecksumIEEE([]byte(subject)) % subjectSets) }

// ingests returns what was ingested last, of each set, and its tuple if there is
// one yet.
func ingests(tx space.Tx) (last [subjectSets]int64, e space.Entry, ok bool) {
	e, ok = tx.Find(lease.Space, anyIngested(), nil)
	if ok {
		said, _ := e.Tuple[1].(tuple.Tuple)
		for set := range last {
			last[set] = said.Int64(set)
		}
	}
	return last, e, ok
}

// ingestedSoFar counts the results of work-items that were ingested.
func ingestedSoFar(tx space.Tx) int64 {
	last, _, _ := ingests(tx)
	return slices.Max(last[:])
}

// noteIngested counts one more, of a subject.
func noteIngested(tx space.Tx, subject string) error {
	last, e, ok := ingests(tx)
	last[setOf(subject)] = slices.Max(last[:]) + 1
	sets := make(tuple.Tuple, subjectSets)
	for set, n := range last {
		sets[set] = n
	}
	if ok {
		return tx.Replace(e.Ref, tuple.New("ingested", sets))
	}
	_, err := tx.Put(lease.Space, tuple.New("ingested", sets), space.PutOptions{})
	return err
}

// checkChoice refuses a task that was chosen when so many results had been
// ingested, if part of it may be done by now.
func checkChoice(tx space.Tx, chosen task.Item, ingested int64) error {
	last, _, _ := ingests(tx)
	if last[setOf(chosen.Subject)] > ingested {
		return fmt.Errorf("work.issue %q: a result was ingested since it was chosen: %w", chosen.Subject, fault.ErrConflict)
	}
	parts := slices.Sorted(slices.Values(chosen.Parts))
	results := task.AnyResult(chosen.Action)
	results[2] = chosen.Subject
	for _, e := range slices.Concat(tx.Scan(task.Result, results), tx.Held(task.Result, results)) {
		if part := e.Tuple.Str(3); lease.Overlap(lease.SplitParts(part), parts) {
			return fmt.Errorf("work.issue %q: a result of %q waits: %w", chosen.Subject, part, fault.ErrConflict)
		}
	}
	return nil
}
