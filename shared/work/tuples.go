package work

import (
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

// ingestedTuple counts ingested results: for each set of subjects, how many results
// had been ingested in total when a result of that set was ingested last.
type ingestedTuple [subjectSets]int64

// encode returns the tuple with the count of each set of subjects.
func (n ingestedTuple) encode() tuple.Tuple {
	sets := make(tuple.Tuple, subjectSets)
	for i := range n {
		sets[i] = n[i]
	}
	return tuple.New("ingested", sets)
}

// decodeIngested is the inverse of encode. A missing field counts as 0.
func decodeIngested(t tuple.Tuple) (n ingestedTuple) {
	sets, _ := t[1].(tuple.Tuple)
	for i := range n {
		n[i] = sets.Int64(i)
	}
	return n
}

func anyIngested() tuple.Template {
	return tuple.Match("ingested", tuple.Formal{Type: tuple.Nested})
}

// isIssued reports whether the answer of work.issue names a work-item: the ids of its
// lease and its task. It is empty when there was no capacity.
func isIssued(reply tuple.Tuple) bool { return len(reply) > 0 }

// The first field of the answer of work.next.
const (
	replyResult   = "result"
	replyCapacity = "room"
)

func encodeHeld(e space.Entry) tuple.Tuple { return tuple.New(replyResult, e.Ref, e.Tuple) }

// decodeStep reads the answer of work.next: a held result, or none if it reports capacity.
func decodeStep(reply tuple.Tuple) (Step, error) {
	if reply.Str(0) == replyCapacity {
		return Step{}, nil
	}
	if len(reply) != 3 {
		return Step{}, fmt.Errorf("%s: %w: an answer of %d fields", procNext, fault.ErrCorrupt, len(reply))
	}
	t, _ := reply[2].(tuple.Tuple)
	return Step{Result: &Held{ResultTuple: task.DecodeResult(t), ref: reply.Int64(1)}}, nil
}

// encodeReserved returns (subject, parts) of a lease or a result.
func encodeReserved(e space.Entry) tuple.Tuple {
	if e.Space == lease.Space {
		l := lease.Decode(e.Tuple)
		return tuple.New(l.Subject, lease.JoinParts(l.Parts))
	}
	r := task.DecodeResult(e.Tuple)
	return tuple.New(r.Subject, r.Part)
}

// inProgressPage is one answer of work.busy (procInProgress).
type inProgressPage struct {
	data     []byte // encoded tuples of encodeReserved
	after    int64  // ref of the last one; 0: there are no more pages
	ingested int64  // results, in total
}

func (p inProgressPage) encode() tuple.Tuple { return tuple.New(p.data, p.after, p.ingested) }

// decodeInProgress reads one answer of work.busy, with the subjects and parts in its data.
func decodeInProgress(reply tuple.Tuple) (p inProgressPage, reserved []Reserved, err error) {
	if len(reply) != 3 {
		return p, nil, fmt.Errorf("%s: %w: an answer of %d fields", procInProgress, fault.ErrCorrupt, len(reply))
	}
	p.data, _ = reply[0].([]byte)
	p.after, p.ingested = reply.Int64(1), reply.Int64(2)
	for data := p.data; len(data) > 0; {
		t, rest, err := tuple.Decode(data)
		if err != nil {
			return p, nil, fmt.Errorf("%s: %w: %w", procInProgress, fault.ErrCorrupt, err)
		}
		reserved = append(reserved, Reserved{Subject: t.Str(0), Parts: lease.SplitParts(t.Str(1))})
		data = rest
	}
	return p, reserved, nil
}
