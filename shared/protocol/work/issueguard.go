package work

import (
	"fmt"
	"hash/crc32"
	"slices"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
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
	e, ok = tx.Find(lease.Space, anyIngested(), nil)
	if ok {
		n = decodeIngested(e.Tuple)
	}
	return n, e, ok
}

// totalIngested returns how many results of work-items were ingested.
func totalIngested(tx space.Tx) int64 {
	n, _, _ := readIngested(tx)
	return slices.Max(n[:])
}

// countIngested counts one more result, of parts of a subject, in the sets of the subject and of the parts: they get
// a count above all others, so that an older selection is refused. It counts for the parts too, because another
// work-item may have them as subjects, and this subject as a part.
func countIngested(tx space.Tx, subject string, parts []string) error {
	counts, e, ok := readIngested(tx)
	total := slices.Max(counts[:]) + 1
	counts[setOf(subject)] = total
	for _, part := range parts {
		counts[setOf(part)] = total
	}
	if ok {
		return tx.Replace(e.Ref, counts.encode())
	}
	_, err := tx.Put(lease.Space, counts.encode(), space.PutOptions{})
	return err
}

// checkIssue returns fault.ErrConflict if part of a task may be done or leased since its selection, when this many
// results had been ingested: a result of its subject was ingested after the selection, a result of one of its parts
// waits or is held, or a lease overlaps it.
func checkIssue(tx space.Tx, selected task.Item, ingested int64) error {
	counts, _, _ := readIngested(tx) // all 0 if nothing was ingested yet
	if counts[setOf(selected.Subject)] > ingested {
		return fmt.Errorf("work.issue %q: a result was ingested since it was selected: %w", selected.Subject, fault.ErrConflict)
	}
	parts := slices.Sorted(slices.Values(selected.Parts))
	results := task.AnyResult(selected.Action)
	for _, e := range slices.Concat(tx.Scan(task.Result, results), tx.Held(task.Result, results)) {
		if r := task.DecodeResult(e.Tuple); share(selected.Subject, parts, r.Subject, lease.SplitParts(r.Part)) {
			return fmt.Errorf("work.issue %q: a result of %q of %q waits: %w", selected.Subject, r.Part, r.Subject, fault.ErrConflict)
		}
	}
	for _, e := range tx.Scan(lease.Space, lease.Any()) {
		if l := lease.Decode(e.Tuple); share(selected.Subject, parts, l.Subject, l.Parts) {
			return fmt.Errorf("work.issue %q: lease %s of %q overlaps: %w", selected.Subject, l.ID, l.Subject, fault.ErrConflict)
		}
	}
	return nil
}

// share reports whether two work-items have a pair of subject and part in common, whichever of the two
// is the subject: a clip in several episodes overlaps with an episode and several clips. Parts are
// sorted. An empty list means the whole subject.
func share(subject string, parts []string, other string, otherParts []string) bool {
	if subject == other {
		return lease.Overlap(parts, otherParts)
	}
	_, among := slices.BinarySearch(parts, other)
	return among && lease.Overlap(otherParts, []string{subject})
}
