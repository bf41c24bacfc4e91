package task

import (
	"encoding/json"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// actionField is the position of the action in a task's tuple: the tasks of each action have one share of the memory.
const actionField = 1

// priorityField is the position of the priority in a task's tuple, by which the space
// orders its tasks.
const priorityField = 5

// tupleOf returns the tuple of a task, and its attributes. The tuple has the data only as
// its body.
func tupleOf(i Item) (tuple.Tuple, space.Attributes) {
	return plainTuple(i), space.Attributes{Fields: encodeRecord(i), Labels: labelsOf(i)}
}

// plainTuple returns the tuple of a task without its attributes.
func plainTuple(i Item) tuple.Tuple {
	return tuple.New("task", i.Action, i.ID, i.Lease, i.Token, i.Priority, string(i.Data))
}

// DecodeEntry returns the task of an entry whose tuple Any matches. If it is malformed, it
// returns fault.ErrCorrupt and what the tuple tells.
func DecodeEntry(e space.Entry) (Item, error) { return decodeTask(e.Tuple, e.Fields) }

// decodeTask returns the task of a tuple and its record. Without a record, the tuple was put by a
// foreign client, which has only data. Malformed data or a malformed record is fault.ErrCorrupt; then
// it returns the fields of the tuple too.
func decodeTask(t tuple.Tuple, record string) (Item, error) {
	h := decodeHeader(t)
	known := Item{Task: models.Task{Action: h.Action, ID: h.ID}, Lease: h.Lease, Token: h.Token, Priority: h.Priority}
	i := known
	if record != "" {
		i.Data = dataOf(h.body)
		if err := decodeRecord(record, &i); err != nil {
			return known, fmt.Errorf("task %s: %w", h.ID, err)
		}
		return i, nil
	}
	if h.body != "" && !json.Valid([]byte(h.body)) {
		return known, fmt.Errorf("task %s: %w: its data is not JSON", h.ID, fault.ErrCorrupt)
	}
	i.Data, i.Timeout = dataOf(h.body), DefaultTimeout
	return i, nil
}

func dataOf(body string) json.RawMessage {
	if body == "" {
		return nil
	}
	return json.RawMessage(body)
}

// header is the fields of a task's tuple. Reading it is cheap, because the record is not
// parsed.
type header struct {
	Action, ID, Lease string
	Token, Priority   int64
	body              string
}

func decodeHeader(t tuple.Tuple) header {
	return header{t.Str(actionField), t.Str(2), t.Str(3), t.Int64(4), t.Int64(priorityField), t.Str(6)}
}

// LeaseOf returns the id of the lease of a task that Any matches.
func LeaseOf(t tuple.Tuple) string { return decodeHeader(t).Lease }

// template matches tasks; each argument may be a formal.
func template(action, id, lease any) tuple.Template {
	return tuple.Match("task", action, id, lease, tuple.AnyInt64, tuple.AnyInt64, tuple.AnyString)
}

// withToken matches the tasks of a token; the action and the lease may be formals.
func withToken(action, lease any, token int64) tuple.Template {
	return tuple.Match("task", action, tuple.AnyString, lease, token, tuple.AnyInt64, tuple.AnyString)
}

// anyTask is Any, made once. It must not be changed.
var anyTask = Any()

// Any matches every task.
func Any() tuple.Template { return template(tuple.AnyString, tuple.AnyString, tuple.AnyString) }

// AnyOf matches the tasks of one action.
func AnyOf(action string) tuple.Template { return template(action, tuple.AnyString, tuple.AnyString) }

// AnyUnder matches the task of one lease.
func AnyUnder(lease string) tuple.Template { return template(tuple.AnyString, tuple.AnyString, lease) }

// WithID matches the task of that id.
func WithID(id string) tuple.Template { return template(tuple.AnyString, id, tuple.AnyString) }

// ResultTuple is one result in the space "result".
type ResultTuple struct {
	Action  string
	Subject string
	Part    string // or several, joined by lease.JoinParts
	Lease   string
	Token   int64  // of the attempt; 0 changes no lease
	Worker  string // empty: the result reports a dead task
	Final   bool
	Body    string // JSON
}

// EncodeResult returns the tuple of a result.
func EncodeResult(r ResultTuple) tuple.Tuple {
	return tuple.New("result", r.Action, r.Subject, r.Part, r.Lease, r.Token, r.Worker, r.Final, r.Body)
}

// DecodeResult returns the result of a tuple that MatchResult matches.
func DecodeResult(t tuple.Tuple) ResultTuple {
	return ResultTuple{
		Action: t.Str(1), Subject: t.Str(2), Part: t.Str(3), Lease: t.Str(4),
		Token: t.Int64(5), Worker: t.Str(6), Final: t.Bool(7), Body: t.Str(8),
	}
}

// MatchResult matches results; each argument may be a formal.
func MatchResult(action, subject, part any) tuple.Template {
	return tuple.Match("result", action, subject, part, tuple.AnyString,
		tuple.AnyInt64, tuple.AnyString, tuple.AnyBool, tuple.AnyString)
}

// AnyResult matches the results of one action, which may be a formal.
func AnyResult(action any) tuple.Template {
	return MatchResult(action, tuple.AnyString, tuple.AnyString)
}

// Claim shows that a worker holds a task.
type Claim struct {
	Task, Worker string
	Due          time.Time // when the hold times out; in whole milliseconds
	Token        int64
}

func (c Claim) encode() tuple.Tuple {
	return tuple.New("claim", c.Task, c.Worker, c.Due.UnixMilli(), c.Token)
}

// DecodeClaim returns the claim of a tuple that AnyClaim matches.
func DecodeClaim(t tuple.Tuple) Claim {
	return Claim{Task: t.Str(1), Worker: t.Str(2), Due: time.UnixMilli(t.Int64(3)).UTC(), Token: t.Int64(4)}
}

// AnyClaim matches every claim.
func AnyClaim() tuple.Template { return claimOf(tuple.AnyString) }

// ClaimsOf matches the claims of a session.
func ClaimsOf(session string) tuple.Template {
	return tuple.Match("claim", tuple.AnyString, session, tuple.AnyInt64, tuple.AnyInt64)
}

// claimOf matches the claim of a task; id may be a formal.
func claimOf(id any) tuple.Template {
	return tuple.Match("claim", id, tuple.AnyString, tuple.AnyInt64, tuple.AnyInt64)
}

// DeadLetter is a task that will not be tried again.
type DeadLetter struct {
	Item
	Reason string
}

// tupleOf returns the tuple of a dead letter, and its attributes.
func (l DeadLetter) tupleOf() (tuple.Tuple, space.Attributes) {
	labels := tagLabels(l.Tags)
	for _, parent := range l.After {
		labels = append(labels, childLabel(parent))
	}
	return tuple.New("dead", l.Action, l.ID, l.Attempts, l.Reason, string(l.Data)),
		space.Attributes{Fields: encodeRecord(l.Item), Labels: labels}
}

// DecodeDeadLetter returns the dead letter of an entry that MatchDead matches. If it is
// malformed, it returns fault.ErrCorrupt and what the tuple tells.
func DecodeDeadLetter(e space.Entry) (DeadLetter, error) {
	t := e.Tuple
	l := DeadLetter{Reason: t.Str(4)}
	known := models.Task{Action: t.Str(1), ID: t.Str(2), Attempts: t.Int64(3)}
	l.Task = known
	l.Data = dataOf(t.Str(5))
	err := decodeRecord(e.Fields, &l.Item)
	l.Attempts = known.Attempts
	if err != nil {
		return DeadLetter{Item: Item{Task: known}, Reason: l.Reason}, fmt.Errorf("dead letter %s: %w", known.ID, err)
	}
	return l, nil
}

// MatchDead matches dead letters; each argument may be a formal.
func MatchDead(action, id any) tuple.Template {
	return tuple.Match("dead", action, id, tuple.AnyInt64, tuple.AnyString, tuple.AnyString)
}

// AnyDead matches the dead letters of all actions.
func AnyDead() tuple.Template { return MatchDead(tuple.AnyString, tuple.AnyString) }

// stopMessage is the message that tells a worker to stop a task that it no longer holds.
func stopMessage(id, reason string) tuple.Tuple { return tuple.New("stop", id, reason) }

// ParseStop returns the id and the reason of a message that stopMessage made; ok is false for
// any other message.
func ParseStop(message tuple.Tuple) (id, reason string, ok bool) {
	if !tuple.Match("stop", tuple.AnyString, tuple.AnyString).Matches(message) {
		return "", "", false
	}
	return message.Str(1), message.Str(2), true
}

func decodeReport(t tuple.Tuple) (ResultTuple, error) {
	if !MatchResult(tuple.AnyString, tuple.AnyString, tuple.AnyString).Matches(t) {
		return ResultTuple{}, fmt.Errorf("%s: %w: want a task's id and a result", procReport, fault.ErrInvalid)
	}
	return DecodeResult(t), nil
}

// isCurrent returns the answer of task.report: whether the token was the current one.
func isCurrent(reply tuple.Tuple) bool { return reply.Bool(0) }

// failureTemplate matches the result that a dead task leaves.
func failureTemplate(t models.Task) tuple.Template {
	return MatchResult(t.Action, t.Subject, lease.JoinParts(t.Parts))
}

// listedOf decodes an entry of the space "task" or "dead". If it is malformed, Err is set and the
// other fields are what its tuple tells.
func listedOf(e space.Entry) (l Listed) {
	l.Holder = e.Holder
	if e.Tuple.Str(0) == "dead" {
		d, err := DecodeDeadLetter(e)
		l.Item, l.Dead, l.Reason, l.Err = d.Item, true, e.Tuple.Str(4), err
		return l
	}
	l.Item, l.Err = DecodeEntry(e)
	return l
}

// TokenOf returns the id and the token of a task's tuple, as a get of it returns them.
func TokenOf(t tuple.Tuple) (id string, token int64) {
	h := decodeHeader(t)
	return h.ID, h.Token
}

// dataIn returns the data in the tuple of a task or of a dead letter: its last field.
func dataIn(t tuple.Tuple) string { return t.Str(len(t) - 1) }

// withoutData returns the entry of a task or of a dead letter without the data.
func withoutData(e space.Entry) space.Entry {
	if dataIn(e.Tuple) != "" {
		e.Tuple = e.Tuple.Clone()
		e.Tuple[len(e.Tuple)-1] = ""
	}
	return e
}

// decodeParent returns the end of a parent from a tuple that matchParent matches; of any other
// tuple, fields that are missing are empty.
func decodeParent(t tuple.Tuple) ParentResult {
	return ParentResult{ID: t.Str(1), State: State(t.Str(2)), Result: t.Str(3), LeftOut: t.Bool(4)}
}

// decodeLimit returns the limit of a tuple that matchLimit matches.
func decodeLimit(t tuple.Tuple) limitTuple {
	var rate float64
	if len(t) > 3 {
		rate, _ = t[3].(float64)
	}
	return limitTuple{Limit{t.Str(1), t.Int64(2), rate}, t.Int64(4)}
}

// subjectOf returns the action or the limit that a tuple of the space "taskdata" is about.
func subjectOf(t tuple.Tuple) string { return t.Str(1) }

// limitedActionOf returns the action of a tuple that limitedAction made.
func limitedActionOf(t tuple.Tuple) string { return t.Str(2) }

// decodePaused returns the action of a tuple that matchPaused matches.
func decodePaused(t tuple.Tuple) PausedAction {
	since, _ := time.Parse(time.RFC3339, t.Str(2)) // zero if a foreign client put another text
	return PausedAction{Action: t.Str(1), Since: since}
}

// decodePauseNote returns who paused an action and why, of a tuple that matchPauseNote matches.
func decodePauseNote(t tuple.Tuple) (by, why string) { return t.Str(2), t.Str(3) }

// idIn returns the id of the entry of a task or of a dead letter.
func idIn(e space.Entry) string { return e.Tuple.Str(2) }

func decodeAlert(t tuple.Tuple) Alert {
	return Alert{Channel: t.Str(1), Task: t.Str(2), DiedAt: t.Int64(3)}
}
