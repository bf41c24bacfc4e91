package task

import (
	"context"
	"slices"
	"strings"
	"time"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Filter selects live tasks, dead letters, or ended tasks. Without a State it selects live tasks; any other empty
// field selects all.
type Filter struct {
	State   State // a state of a live task; StateDead; Resolved, Cancelled or AnyEnd for ended ones
	Action  string
	Tag     string
	Group   string
	Text    string        // in the last error, in any case
	Older   time.Duration // created longer ago
	Younger time.Duration // created less long ago
	Data    string        // in the data, in the same case; data that an ended task does not keep are not found
	Before  time.Time     // created before, or of a dead letter: died before
}

// Listed is one task of a list.
type Listed struct {
	Item
	Holder string // the session that has it
	Dead   bool   // it is a dead letter
	Reason string // of a dead letter; empty if a foreign client gave none
	End    *End   // nil: it is alive or a dead letter
	Why    Why    // why it is not running, if it is alive
	Err    error  // why the task cannot be decoded; nil: it can
}

const (
	maxExamined = 1000 // tasks that one call of task.list looks at
	// MaxListed is the maximum number of tasks in one page.
	MaxListed = 1000
)

func (f Filter) encode() tuple.Tuple {
	before := int64(0)
	if !f.Before.IsZero() {
		before = f.Before.UnixNano()
	}
	return tuple.New(string(f.State), f.Action, f.Tag, f.Group, f.Text, int64(f.Older), int64(f.Younger), f.Data, before)
}

var listArgs = tuple.Match(tuple.Formal{Type: tuple.Nested}, tuple.AnyInt64, tuple.Formal{Type: tuple.Nested})

// HasEnded reports whether a task is resolved, cancelled or dead.
func (l Listed) HasEnded() bool { return l.End != nil || l.Dead }

// StateNow returns the state of a task.
func (l Listed) StateNow() State {
	switch {
	case l.End != nil:
		return l.End.State
	case l.Dead:
		return StateDead
	}
	return l.Item.StateNow()
}

// AnyEnd selects the tasks of the history: resolved and cancelled ones, and dead letters that
// were discarded.
const AnyEnd State = "ended"

// inHistory reports whether a filter selects ended tasks.
func (f Filter) inHistory() bool {
	return f.State == Resolved || f.State == Cancelled || f.State == AnyEnd
}

// selectsEnded is selects for ended tasks. The labels of tags are gone with them.
func (f Filter) selectsEnded(l Listed, now time.Time) bool {
	if f.Tag != "" && !slices.Contains(l.Tags, f.Tag) {
		return false
	}
	if f.State == AnyEnd {
		f.State = ""
	}
	return f.selects(l, now)
}

// walks returns the walks that, one after the other, visit all that f selects, with as few
// others as the indexes allow.
func (f Filter) walks() []space.Walk {
	name, template, ofAction := Space, Any(), AnyOf(f.Action)
	if f.State == StateDead {
		name, template, ofAction = Dead, AnyDead(), MatchDead(f.Action, tuple.AnyString)
	}
	if f.Action != "" {
		template = ofAction
	}
	visible, held := space.Walk{Space: name, Template: template}, space.Walk{Space: name, Template: template, Held: true}
	labelled := func(state State) space.Walk {
		return space.Walk{Space: name, Label: stateLabel(state, f.Action)}
	}
	switch {
	case f.Tag != "":
		return []space.Walk{{Space: name, Label: label("t", f.Tag)}}
	case f.State == StateDead:
		return []space.Walk{visible}
	case f.State == "":
		return []space.Walk{visible, held}
	case f.State == Waiting && f.Action != "":
		return []space.Walk{visible, labelled(inBackOff), labelled(behindLimit)}
	case f.State == Waiting:
		return []space.Walk{visible, held}
	case f.Action != "":
		return []space.Walk{labelled(f.State)}
	}
	return []space.Walk{held}
}

// selects reports whether a filter selects a task.
func (f Filter) selects(l Listed, now time.Time) bool {
	age := now.Sub(l.CreatedAt)
	switch {
	case f.Action != "" && l.Action != f.Action,
		f.State != "" && l.StateNow() != f.State,
		f.Group != "" && l.Group != f.Group,
		f.Older > 0 && age < f.Older,
		f.Younger > 0 && age > f.Younger,
		!f.Before.IsZero() && !l.began().Before(f.Before),
		f.Data != "" && !strings.Contains(string(l.Data), f.Data):
		return false
	}
	return f.Text == "" || strings.Contains(strings.ToLower(l.lastError()), strings.ToLower(f.Text))
}

// began returns when a task was created, or when it became a dead letter if that is known.
func (l Listed) began() time.Time {
	if l.Dead && !l.DiedAt.IsZero() {
		return l.DiedAt
	}
	return l.CreatedAt
}

// lastError returns why a task is dead, or why its last attempt failed; if neither is known, its state. Filter.Text
// is looked for in it, so for a dead letter both reason and state count.
func (l Listed) lastError() string {
	if l.End != nil && l.End.Note != "" {
		return l.End.Note
	}
	if l.Dead || l.Err != nil || len(l.History) == 0 {
		return l.Reason + l.State
	}
	return l.History[len(l.History)-1].Error
}

// maxHead bounds what a list tells of a task beside its tuple and its fields, in bytes.
const maxHead = 2 * maxReason

// list (filter, limit, cursor) returns up to limit tasks behind a cursor, and the next cursor, which is empty at the
// end. It looks at maxExamined tasks, so that a page may be short before the end.
func list(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	wanted, err := parseList(args)
	if err != nil {
		return nil, err
	}
	var data []byte
	examined, found, now, walks := 0, int64(0), tx.Now(), wanted.filter.walks()
	at, after := placeOf(wanted.cursor, len(walks))
	explain := newExplainer(tx)
	for ; at < len(walks); at, after = at+1, (space.Position{}) {
		w := walks[at]
		w.After = after
		full := false
		tx.Walk(w, func(e space.Entry) bool {
			// By number, or by bytes; one task always fits.
			full = found == wanted.limit || examined == maxExamined || len(data)+e.Tuple.Size()+len(e.Fields)+maxHead > maxAnswer && len(data) > 0
			if full {
				return false
			}
			after = e.Position
			examined++
			if l := listedOf(e); wanted.filter.selects(l, now) {
				found++
				why := explain.listed(e, l)
				data = tuple.New(e.Holder, e.Fields, why.Code, truncate(why.Text)).Append(data) // decodePage reads both
				data = e.Tuple.Append(data)
			}
			return true
		})
		if full {
			return tuple.New(data, append(tuple.New(int64(at)), encodePosition(after)...)), nil
		}
	}
	return tuple.New(data, tuple.Tuple{}), nil
}

// List returns up to limit of the tasks that a filter selects, from a cursor on, and the cursor of the next page:
// empty at the end. limit is from 1 to MaxListed; any other fails with fault.ErrInvalid. A task that cannot be
// decoded is in the page, with Listed.Err; a damaged page fails with fault.ErrCorrupt. A page may have fewer tasks,
// even none, before the end. Ended tasks come without their results, the latest first. Tasks that change their place
// meanwhile may be missed, or returned twice.
func (c Client) List(ctx context.Context, f Filter, from Cursor, limit int) (all []Listed, next Cursor, err error) {
	procedure := procList
	if f.inHistory() {
		procedure = procListEnded
	}
	reply, err := c.Repo.Call(ctx, space.OpID{}, procedure, tuple.New(f.encode(), int64(limit), append(tuple.Tuple{}, from...)))
	if err != nil {
		return nil, nil, err
	}
	if f.inHistory() {
		return decodeEndsPage(reply)
	}
	return decodePage(reply)
}

// Counts are the tasks of one action that are alive, by state.
type Counts map[State]int64

// countedLabels are the labels of the hidden tasks that counts adds up, by state.
var countedLabels = map[State][]State{
	Claimed: {Claimed}, StateDelayed: {StateDelayed}, StateBlocked: {StateBlocked}, StatePaused: {StatePaused}, Waiting: {inBackOff, behindLimit},
}

// counts (action) returns (state, number)… of the tasks that are alive. It returns no error.
func counts(tx space.Tx, action string) (tuple.Tuple, error) {
	var reply tuple.Tuple
	all := countsOf(tx, action)
	for _, state := range []State{Waiting, StateDelayed, StateBlocked, StatePaused, Claimed} {
		reply = append(reply, tuple.New(string(state), all[state]))
	}
	return reply, nil
}

// Counts counts the tasks of an action that are alive, by state. It costs the same for any number of tasks.
func (c Client) Counts(ctx context.Context, action string) (Counts, error) {
	reply, err := c.Repo.Call(ctx, space.OpID{}, procCounts, tuple.New(action))
	if err != nil {
		return nil, err
	}
	all := Counts{}
	for _, f := range reply {
		state, n := decodeCount(f)
		all[state] = n
	}
	return all, nil
}
