package task

import (
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// The history records of tasks that have ended.

// endedTask is a task of the history.
type endedTask struct {
	Listed
	entry space.Entry // as it was
}

var endTemplate = tuple.Match("end", tuple.Formal{Type: tuple.Nested}, tuple.AnyString, tuple.AnyString, tuple.AnyInt64, tuple.AnyString)

// encodeEnd returns the value of the history record of a task or of a dead letter that ended.
func encodeEnd(e space.Entry, at time.Time, end ending) []byte {
	head := tuple.New("end", e.Tuple, e.Fields, string(end.state), at.UnixNano(), end.note)
	return append(head.Append(nil), end.result...)
}

// decodeEnd reads a record that encodeEnd wrote. If the form is right and the task in it cannot be decoded, it sets
// Listed.Err and returns nil, so that lists can show the task.
func decodeEnd(value string) (l endedTask, err error) {
	head, result, err := tuple.Decode([]byte(value))
	if err != nil || !endTemplate.Matches(head) {
		return l, fmt.Errorf("end of a task: %w", fault.ErrCorrupt)
	}
	t, _ := head[1].(tuple.Tuple)
	if !Any().Matches(t) && !AnyDead().Matches(t) {
		return l, fmt.Errorf("end of a task: %w: want a task or a dead letter", fault.ErrCorrupt)
	}
	l.entry = space.Entry{Tuple: t, Attributes: space.Attributes{Fields: head.Str(2)}}
	l.Listed = listedOf(l.entry)
	l.End = &End{
		State: State(head.Str(3)), At: time.Unix(0, head.Int64(4)).UTC(), Worker: l.CurrentClaimant, Note: head.Str(5), Result: string(result),
	}
	return l, nil
}
