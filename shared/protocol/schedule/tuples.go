package schedule

import (
	"encoding/json"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/tuple"
)

// header is what the tuple of a schedule tells without its body.
type header struct {
	name       string
	next, last int64
}

func decodeHeader(t tuple.Tuple) header {
	return header{name: t.Str(1), next: t.Int64(2), last: t.Int64(3)}
}

func (s State) encode() (tuple.Tuple, error) {
	body, err := json.Marshal(s.Schedule)
	if err != nil {
		return nil, fmt.Errorf("schedule %s: %w: %w", s.Name, fault.ErrInvalid, err)
	}
	if len(body) > maxBody {
		return nil, fmt.Errorf("schedule %s: %w: it has %d bytes of JSON, at most %d", s.Name, fault.ErrTooLarge, len(body), maxBody)
	}
	return tuple.New("schedule", s.Name, milli(s.Next), milli(s.Last), s.LastTask, s.Note, string(body)), nil
}

// If only the body is malformed, decode returns fault.ErrCorrupt, and a state with all but the body.
func decode(t tuple.Tuple) (State, error) {
	if !anySchedule().Matches(t) || !models.ValidID(t.Str(1)) {
		return State{}, fmt.Errorf("%w: want a schedule", fault.ErrInvalid)
	}
	h := decodeHeader(t)
	s := State{Name: h.name, Next: fromMilli(h.next), Last: fromMilli(h.last), LastTask: t.Str(4), Note: t.Str(5)}
	if err := json.Unmarshal([]byte(t.Str(6)), &s.Schedule); err != nil {
		return s, fmt.Errorf("schedule %s: %w: %w", s.Name, fault.ErrCorrupt, err)
	}
	return s, nil
}

// decodeNote reads the Note alone.
func decodeNote(t tuple.Tuple) string { return t.Str(5) }

// matchName matches schedules; the name may be a formal.
func matchName(name any) tuple.Template {
	return tuple.Match("schedule", name, tuple.AnyInt64, tuple.AnyInt64, tuple.AnyString, tuple.AnyString, tuple.AnyString)
}

func anySchedule() tuple.Template { return matchName(tuple.AnyString) }

// encodeCreated is the answer of schedule.set.
func encodeCreated(created bool) tuple.Tuple { return tuple.New(created) }

func decodeCreated(reply tuple.Tuple) bool { return reply.Bool(0) }

// decodeDue reads the answer of schedule.due.
func decodeDue(reply tuple.Tuple) (all []tuple.Tuple) {
	for _, f := range reply {
		if t, ok := f.(tuple.Tuple); ok {
			all = append(all, t)
		}
	}
	return all
}

// milli returns a time in milliseconds; the zero time is 0.
func milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// fromMilli is the inverse of milli: 0 is the zero time.
func fromMilli(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
