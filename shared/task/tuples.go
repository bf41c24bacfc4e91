package task

import (
	"encoding/json"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/tuple"
)

// priorityField is the position of the priority in a task's tuple, by which the space
// orders its tasks.
const priorityField = 5

// Item is a task with the fields of its tuple that its body does not have.
type Item struct {
	models.Task
	Lease    string // empty: none
	Token    int64  // of the attempt
	Priority int64  // higher is sooner
}

// Encode returns the tuple of a task.
func Encode(i Item) (tuple.Tuple, error) {
	body, err := json.Marshal(i.Task)
	if err != nil {
		return nil, fmt.Errorf("task %s: %w: %w", i.ID, fault.ErrInvalid, err)
	}
	return tuple.New("task", i.Action, i.ID, i.Lease, i.Token, i.Priority, string(body)), nil
}

// Decode returns the task of a tuple that Any matches. If the body is not the JSON of
// a task, it returns fault.ErrCorrupt and what the other fields tell.
func Decode(t tuple.Tuple) (Item, error) {
	h := decodeHeader(t)
	i := Item{Lease: h.Lease, Token: h.Token, Priority: h.Priority}
	err := json.Unmarshal([]byte(h.body), &i.Task)
	if err != nil {
		i.Task = models.Task{}
		err = fmt.Errorf("task %s: body: %w: %w", h.ID, fault.ErrCorrupt, err)
	}
	i.Action, i.ID = h.Action, h.ID
	return i, err
}

// header is the fields of a task's tuple. Reading it is cheap, because the body is not
// parsed.
type header struct {
	Action, ID, Lease string
	Token, Priority   int64
	body              string
}

func decodeHeader(t tuple.Tuple) header {
	return header{t.Str(1), t.Str(2), t.Str(3), t.Int64(4), t.Int64(priorityField), t.Str(6)}
}

// LeaseOf returns the id of the lease of a task that Any matches.
func LeaseOf(t tuple.Tuple) string { return decodeHeader(t).Lease }

// template matches tasks; each argument may be a formal.
func template(action, id, lease any) tuple.Template {
	return tuple.Match("task", action, id, lease, tuple.AnyInt64, tuple.AnyInt64, tuple.AnyString)
}

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

// AnyResult matches the results of one action.
func AnyResult(action string) tuple.Template {
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

// claimOf matches the claim of a task; id may be a formal.
func claimOf(id any) tuple.Template {
	return tuple.Match("claim", id, tuple.AnyString, tuple.AnyInt64, tuple.AnyInt64)
}

// DeadLetter is a task past its maximum number of attempts.
type DeadLetter struct {
	models.Task
	Reason string
}

func (l DeadLetter) encode(body string) tuple.Tuple {
	return tuple.New("dead", l.Action, l.ID, l.Attempts, l.Reason, body)
}

// DecodeDeadLetter returns the dead letter of a tuple that MatchDead matches. If its
// body is not the JSON of a task, it returns fault.ErrCorrupt and what the other fields
// tell.
func DecodeDeadLetter(t tuple.Tuple) (DeadLetter, error) {
	l := DeadLetter{Reason: t.Str(4)}
	err := json.Unmarshal([]byte(t.Str(5)), &l.Task)
	if err != nil {
		l.Task = models.Task{}
		err = fmt.Errorf("dead letter %s: body: %w: %w", t.Str(2), fault.ErrCorrupt, err)
	}
	l.Action, l.ID, l.Attempts = t.Str(1), t.Str(2), t.Int64(3)
	return l, err
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

// claimArgs returns the actions in the arguments of task.claim, or fault.ErrInvalid.
func claimArgs(args tuple.Tuple) ([]string, error) {
	actions := make([]string, len(args))
	for n := range args {
		actions[n] = args.Str(n)
		if !models.ValidID(actions[n]) {
			return nil, fmt.Errorf("%s: %w: action %.100q: %s", procClaim, fault.ErrInvalid, fmt.Sprint(args[n]), models.IDRule)
		}
	}
	if len(actions) == 0 {
		return nil, fmt.Errorf("%s: %w: want at least one action", procClaim, fault.ErrInvalid)
	}
	return actions, nil
}

// decodeReport returns a result that a session reports. Any other tuple is
// fault.ErrInvalid.
func decodeReport(t tuple.Tuple) (ResultTuple, error) {
	if !MatchResult(tuple.AnyString, tuple.AnyString, tuple.AnyString).Matches(t) {
		return ResultTuple{}, fmt.Errorf("%s: %w: want a task's id and a result", procReport, fault.ErrInvalid)
	}
	return DecodeResult(t), nil
}

// DecodeNew returns the task that a session wants to create. A tuple that is not a
// task is fault.ErrInvalid.
func DecodeNew(t tuple.Tuple) (Item, error) {
	if !Any().Matches(t) {
		return Item{}, fmt.Errorf("%w: want a task", fault.ErrInvalid)
	}
	i, err := Decode(t)
	if err != nil {
		return Item{}, fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	}
	return i, nil
}

// isCurrent returns the answer of task.report: whether the token was the current one.
func isCurrent(reply tuple.Tuple) bool { return reply.Bool(0) }

// failureTemplate matches the result that a dead task leaves.
func failureTemplate(t models.Task) tuple.Template {
	return MatchResult(t.Action, t.Subject, lease.JoinParts(t.Parts))
}
