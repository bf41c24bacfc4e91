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

// A manager selects work in a catalog, outside of the spaces. Before it issues what it
// selected, another manager may have issued the same and even ingested its results. So
// issue checks again, in its transaction, that no result of a part waits, and that
// none of the subject was ingested since the manager called InProgress.
//
// The latter is recorded in one tuple, ("ingested", (n…)). The hash of a subject puts
// it into one of subjectSets sets, and n is, for each set, how many results had been
// ingested in total when a result of that set was ingested last. Sets bound the size
// of the tuple; their price is that a manager sometimes has to select again because of
// another subject of the same set.
const subjectSets = 32

func setOf(subject string) int { return int(crc32.ChecksumIEEE([]byte(subject)) % subjectSets) }

// readIngested returns the counters and their tuple; ok is false if nothing was
// ingested yet.
func readIngested(tx space.Tx) (n ingestedTuple, e space.Entry, ok bool) {
	if e, ok = tx.Find(lease.Space, anyIngested(), nil); ok {
		n = decodeIngested(e.Tuple)
	}
	return n, e, ok
}

// totalIngested returns how many results of work-items were ingested.
func totalIngested(tx space.Tx) int64 {
	n, _, _ := readIngested(tx)
	return slices.Max(n[:])
}

// countIngested counts one more result of a subject.
func countIngested(tx space.Tx, subject string) error {
	n, e, ok := readIngested(tx)
	n[setOf(subject)] = slices.Max(n[:]) + 1
	if ok {
		return tx.Replace(e.Ref, n.encode())
	}
	_, err := tx.Put(lease.Space, n.encode(), space.PutOptions{})
	return err
}

// checkIssue returns fault.ErrConflict for a task that was selected when this many
// results had been ingested, if part of it may be done since.
func checkIssue(tx space.Tx, selected task.Item, ingested int64) error {
	n, _, _ := readIngested(tx)
	if n[setOf(selected.Subject)] > ingested {
		return fmt.Errorf("work.issue %q: a result was ingested since it was selected: %w", selected.Subject, fault.ErrConflict)
	}
	parts := slices.Sorted(slices.Values(selected.Parts))
	results := task.MatchResult(selected.Action, selected.Subject, tuple.AnyString)
	for _, e := range slices.Concat(tx.Scan(task.Result, results), tx.Held(task.Result, results)) {
		if part := task.DecodeResult(e.Tuple).Part; lease.Overlap(lease.SplitParts(part), parts) {
			return fmt.Errorf("work.issue %q: a result of %q waits: %w", selected.Subject, part, fault.ErrConflict)
		}
	}
	return nil
}
