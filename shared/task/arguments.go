package task

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// The arguments and answers of procedures, and their parts.

// blobOf returns the bytes in the first field; nothing if it has no bytes.
func blobOf(t tuple.Tuple) []byte {
	if len(t) == 0 {
		return nil
	}
	data, _ := t[0].([]byte)
	return data
}

// nestedOf returns the tuple in a field; nothing if there is none.
func nestedOf(t tuple.Tuple, field int) tuple.Tuple {
	if field >= len(t) {
		return nil
	}
	nested, _ := t[field].(tuple.Tuple)
	return nested
}

// numberOf returns the number in the first field.
func numberOf(t tuple.Tuple) int64 { return t.Int64(0) }

// createdOf returns the part of the answer of task.report that has the created tasks.
func createdOf(reply tuple.Tuple) tuple.Tuple { return reply[min(1, len(reply)):] }

// subjectOf returns the action or the limit that a tuple of the space "taskdata" is about.
func subjectOf(t tuple.Tuple) string { return t.Str(1) }

// limitedActionOf returns the action of a tuple that limitedAction made.
func limitedActionOf(t tuple.Tuple) string { return t.Str(2) }

// decodePaused returns the action of a tuple that matchPaused matches. Since is zero if a foreign
// client put text that is not a time.
func decodePaused(t tuple.Tuple) PausedAction {
	since, _ := time.Parse(time.RFC3339, t.Str(2)) // zero if a foreign client put another text
	return PausedAction{Action: t.Str(1), Since: since}
}

// shownEntry returns the dead letter in an answer of task.showdead.
func shownEntry(reply tuple.Tuple) space.Entry {
	return space.Entry{Tuple: nestedOf(reply, 0), Attributes: space.Attributes{Fields: reply.Str(1)}}
}

// decodeShown returns the task in an answer of task.show.
func decodeShown(reply tuple.Tuple) Shown {
	e := space.Entry{Tuple: nestedOf(reply, 2), Holder: reply.Str(0), Attributes: space.Attributes{Fields: reply.Str(1)}}
	shown := Shown{listedOf(e)}
	shown.Why = Why{reply.Str(3), reply.Str(4)}
	return shown
}

// wantedLimit returns the limit in the arguments of task.setlimit.
func wantedLimit(args tuple.Tuple) Limit {
	rate, _ := args[2].(float64)
	return Limit{args.Str(0), args.Int64(1), rate}
}

// decodeLimitState returns one limit of an answer of task.limits.
func decodeLimitState(t tuple.Tuple) LimitState {
	return LimitState{decodeLimit(t).Limit, t.Int64(5), t.Int64(6)}
}

// decodeCount returns one field of an answer of task.counts.
func decodeCount(field any) (State, int64) {
	t, _ := field.(tuple.Tuple)
	return State(t.Str(0)), t.Int64(1)
}

// handBackOf returns the arguments of task.handback.
func handBackOf(args tuple.Tuple) (id string, token int64, delaySeconds float64) {
	if len(args) > 2 {
		delaySeconds, _ = args[2].(float64)
	}
	return args.Str(0), args.Int64(1), delaySeconds
}

// reportOf returns the arguments of task.report.
func reportOf(args tuple.Tuple) (id string, result tuple.Tuple, create []byte) {
	result, _ = args[1].(tuple.Tuple)
	if len(args) > 2 {
		create, _ = args[2].([]byte)
	}
	return args.Str(0), result, create
}

// reportArgs returns the arguments of task.report without new tasks.
func reportArgs(i Item, part string, final bool, body any) (tuple.Tuple, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("result of task %s: %w: %w", i.ID, fault.ErrInvalid, err)
	}
	r := ResultTuple{Action: i.Action, Subject: i.Subject, Part: part, Lease: i.Lease, Token: i.Token, Final: final, Body: string(data)}
	return tuple.New(i.ID, EncodeResult(r)), nil
}

// failureArgs returns the arguments of task.release.
func failureArgs(i Item, f Failure) tuple.Tuple {
	return tuple.New(i.ID, i.Token, f.Reason, f.Delay.Seconds(), f.Output, f.GiveUp)
}

// handBackArgs returns the arguments of task.handback.
func handBackArgs(i Item, delay time.Duration) tuple.Tuple {
	args := tuple.New(i.ID, i.Token)
	if delay > 0 {
		args = append(args, delay.Seconds())
	}
	return args
}

// progressOf returns the arguments of task.extend.
func progressOf(args tuple.Tuple) (id string, token int64, p models.Progress) {
	if len(args) > 2 {
		p.Fraction, _ = args[2].(float64)
		p.Text = args.Str(3)
	}
	return args.Str(0), args.Int64(1), p
}

// decodePage returns the page of tasks that task.list answers, and the cursor of the next page,
// which is empty at the end. A damaged page is fault.ErrCorrupt. A task that cannot be decoded is
// in the page, with the error in its field Err.
func decodePage(reply tuple.Tuple) (all []Listed, next Cursor, err error) {
	data := blobOf(reply)
	for len(data) > 0 {
		head, rest, err := tuple.Decode(data)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w: %w", procList, fault.ErrCorrupt, err)
		}
		t, rest, err := tuple.Decode(rest)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w: %w", procList, fault.ErrCorrupt, err)
		}
		e := space.Entry{Tuple: t, Holder: head.Str(0), Attributes: space.Attributes{Fields: head.Str(1)}}
		l := listedOf(e)
		l.Why = Why{head.Str(2), head.Str(3)}
		all, data = append(all, l), rest
	}
	return all, Cursor(nestedOf(reply, 1)), nil
}

// dataIn returns the data in the tuple of a task or of a dead letter: its last field.
func dataIn(t tuple.Tuple) string { return t.Str(len(t) - 1) }

// withoutData returns the entry of a task or of a dead letter without the data. The body that
// a version before records wrote stays, because it is more than data.
func withoutData(e space.Entry) space.Entry {
	if e.Fields != "" && dataIn(e.Tuple) != "" {
		e.Tuple = e.Tuple.Clone()
		e.Tuple[len(e.Tuple)-1] = ""
	}
	return e
}

// encodeEnd returns the value of the history record of a task or of a dead letter that ended.
func encodeEnd(e space.Entry, at time.Time, end ending) []byte {
	head := tuple.New("end", e.Tuple, e.Fields, string(end.state), at.UnixNano(), end.note)
	return append(head.Append(nil), end.result...)
}

// endedTask is a task of the history.
type endedTask struct {
	Listed
	entry space.Entry // as it was
}

// decodeEnd reads what encodeEnd wrote. The error is fault.ErrCorrupt. If only the record of the
// task is damaged, there is no error, but Listed.Err is set.
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

var endTemplate = tuple.Match("end", tuple.Formal{Type: tuple.Nested}, tuple.AnyString, tuple.AnyString, tuple.AnyInt64, tuple.AnyString)

// parseEnded returns the id in the arguments of task.ended, or fault.ErrInvalid.
func parseEnded(args tuple.Tuple) (id string, err error) {
	if wanted := tuple.Match(tuple.AnyString); !wanted.Matches(args) {
		return "", fmt.Errorf("%w: the arguments must be %s", fault.ErrInvalid, wanted)
	}
	return args.Str(0), nil
}

// parseListEnded returns the arguments of task.listended. The page begins behind the history
// record with the number before; 0 is the first page. The errors are those of parseList.
func parseListEnded(args tuple.Tuple) (f Filter, limit, before int64, err error) {
	f, limit, _, _, err = parseList(args)
	if err != nil {
		return f, 0, 0, err
	}
	if c, _ := args[2].(tuple.Tuple); len(c) == 1 {
		before = max(c.Int64(0), 0)
	}
	return f, limit, before, nil
}

// decodeEndsPage returns the page of ended tasks that task.listended answers, and the cursor of
// the next page, which is empty at the end. A damaged task is fault.ErrCorrupt; an answer of
// another form counts as an empty last page.
func decodeEndsPage(reply tuple.Tuple) (all []Listed, next Cursor, err error) {
	data := blobOf(reply)
	for len(data) > 0 {
		one, rest, err := tuple.Decode(data)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w: %w", procListEnded, fault.ErrCorrupt, err)
		}
		l, err := decodeEnd(string(blobOf(one)))
		if err != nil {
			return nil, nil, err
		}
		all, data = append(all, l.Listed), rest
	}
	return all, Cursor(nestedOf(reply, 1)), nil
}

// TokenOf returns the id and the token of a task's tuple, as a get of it returns them.
func TokenOf(t tuple.Tuple) (id string, token int64) {
	h := decodeHeader(t)
	return h.ID, h.Token
}

// decodeParent returns the end of a parent from a tuple that matchParent matches; of any other
// tuple, fields that are missing are empty.
func decodeParent(t tuple.Tuple) ParentResult {
	return ParentResult{ID: t.Str(1), State: State(t.Str(2)), Result: t.Str(3)}
}

// decodeNews reads what encodeNews wrote, for 1 to MaxCreate tasks. Anything else is
// fault.ErrInvalid. It checks the form only; createOne checks the values.
func decodeNews(data []byte) (all []New, err error) {
	for len(data) > 0 {
		t, rest, err := tuple.Decode(data)
		if err != nil || !newTemplate.Matches(t) {
			return nil, fmt.Errorf("%w: want tasks to create", fault.ErrInvalid)
		}
		inner, _ := t[0].(tuple.Tuple)
		i, err := DecodeNew(inner, t.Str(1))
		if err != nil {
			return nil, err
		}
		n := New{Task: i.Task, Priority: i.Priority, Ref: t.Str(2), OnConflict: t.Str(3)}
		ended, _ := t[4].([]byte)
		for len(ended) > 0 {
			r, more, err := tuple.Decode(ended)
			if err != nil || !matchParent(tuple.AnyString).Matches(r) {
				return nil, fmt.Errorf("%w: want parents that have ended", fault.ErrInvalid)
			}
			n.Ended, ended = append(n.Ended, decodeParent(r)), more
		}
		if all == nil {
			all = make([]New, 0, expected(data, rest))
		}
		all, data = append(all, n), rest
	}
	if len(all) == 0 || len(all) > MaxCreate {
		return nil, fmt.Errorf("%w: %d tasks to create: want 1 to %d", fault.ErrInvalid, len(all), MaxCreate)
	}
	return all, nil
}

// decodeItems reads the answer to a claim or a creation: for each task its record and the number
// of its parents, its tuple, and how its parents ended. Without data there are no tasks; data of
// another form are fault.ErrCorrupt.
func decodeItems(data []byte) (all []ClaimedTask, err error) {
	for len(data) > 0 {
		head, rest, err := tuple.Decode(data)
		if err != nil {
			return nil, fmt.Errorf("answer: %w: %w", fault.ErrCorrupt, err)
		}
		t, rest, err := tuple.Decode(rest)
		if err != nil {
			return nil, fmt.Errorf("answer: %w: %w", fault.ErrCorrupt, err)
		}
		var c ClaimedTask
		if c.Item, err = decodeTask(t, head.Str(0)); err != nil {
			return nil, err
		}
		for range head.Int64(1) {
			if t, rest, err = tuple.Decode(rest); err != nil {
				return nil, fmt.Errorf("answer: %w: %w", fault.ErrCorrupt, err)
			}
			c.Parents = append(c.Parents, decodeParent(t))
		}
		if all == nil {
			all = make([]ClaimedTask, 0, expected(data, rest))
		}
		all, data = append(all, c), rest
	}
	return all, nil
}

// expected returns how many values data hold if all are as long as the first, after which rest is
// left; at most 64, because the data may be of a foreign client. rest is shorter than data,
// because a value has at least one byte.
func expected(data, rest []byte) int { return min(64, 1+len(rest)/(len(data)-len(rest))) }

// parseClaim returns the arguments of task.claim: how many tasks, from 1 to MaxClaims and 1 if
// there is no number, and at least one action, each once. Anything else is fault.ErrInvalid.
func parseClaim(args tuple.Tuple) (claimWanted, error) {
	c := claimWanted{number: 1}
	if len(args) > 0 && tuple.TypeOf(args[0]) == tuple.Int64 {
		if c.number = args.Int64(0); c.number < 1 || c.number > MaxClaims {
			return c, fmt.Errorf("%s: %w: %d tasks: want 1 to %d", procClaim, fault.ErrInvalid, c.number, MaxClaims)
		}
		args = args[1:]
	}
	for n := range args {
		action := args.Str(n)
		if !models.ValidID(action) {
			return c, fmt.Errorf("%s: %w: action %.100q: %s", procClaim, fault.ErrInvalid, fmt.Sprint(args[n]), models.IDRule)
		}
		if !slices.Contains(c.actions, action) {
			c.actions = append(c.actions, action)
		}
	}
	if len(c.actions) == 0 {
		return c, fmt.Errorf("%s: %w: want at least one action", procClaim, fault.ErrInvalid)
	}
	return c, nil
}

// encode returns the outcome as one of those in the arguments of task.next.
func (o Outcome) encode() tuple.Tuple { return tuple.New(o.procedure, o.args) }

var outcomeTemplate = tuple.Match(tuple.AnyString, tuple.Formal{Type: tuple.Nested})

// parseNext returns the arguments of task.next. The number of wanted is 0 if nothing is to be
// claimed. The error is fault.ErrInvalid, also for more than MaxOutcomes outcomes and for a
// procedure that ends no attempt.
func parseNext(args tuple.Tuple) (all []Outcome, wanted claimWanted, err error) {
	short := tuple.Match(tuple.Formal{Type: tuple.Bytes}, tuple.AnyInt64)
	if len(args) < 2 || !short.Matches(args[:2]) {
		return nil, wanted, fmt.Errorf("%s: %w: the arguments must begin with %s", procNext, fault.ErrInvalid, short)
	}
	data := blobOf(args)
	for len(data) > 0 {
		t, rest, err := tuple.Decode(data)
		if err != nil || !outcomeTemplate.Matches(t) {
			return nil, wanted, fmt.Errorf("%s: %w: want outcomes that are %s", procNext, fault.ErrInvalid, outcomeTemplate)
		}
		o := Outcome{procedure: t.Str(0), args: nestedOf(t, 1)}
		o.id = o.args.Str(0)
		if !slices.Contains([]string{procReport, procRelease, procHandBack}, o.procedure) {
			return nil, wanted, fmt.Errorf("%s: %w: outcome %.50q: want %s, %s or %s", procNext, fault.ErrInvalid, o.procedure, procReport, procRelease, procHandBack)
		}
		all, data = append(all, o), rest
	}
	if len(all) > MaxOutcomes {
		return nil, wanted, fmt.Errorf("%s: %w: %d outcomes, at most %d", procNext, fault.ErrInvalid, len(all), MaxOutcomes)
	}
	if args.Int64(1) != 0 {
		wanted, err = parseClaim(args[1:])
	} else if len(args) > 2 { // it claims nothing, but refuses bad actions
		wanted, err = parseClaim(args[2:])
		wanted.number = 0
	}
	return all, wanted, err
}

// encodeRefusal encodes the error of one outcome, which may be nil.
func encodeRefusal(err error) tuple.Tuple {
	if err == nil {
		return tuple.New("", "")
	}
	return tuple.New(fault.Of(err).Code, truncate(err.Error()))
}

// decodeNext returns an answer of task.next: for each of the outcomes, in their order, its error
// or nil, and the claimed tasks, still encoded. Anything else is fault.ErrCorrupt.
func decodeNext(reply tuple.Tuple, outcomes int) (refused []error, claimed []byte, err error) {
	data := blobOf(reply)
	for len(data) > 0 {
		t, rest, err := tuple.Decode(data)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w: %w", procNext, fault.ErrCorrupt, err)
		}
		var one error
		if code := t.Str(0); code != "" {
			one = refusal{fault.FromCode(code), t.Str(1)}
		}
		refused, data = append(refused, one), rest
	}
	if len(refused) != outcomes {
		return nil, nil, fmt.Errorf("%s: %w: %d answers to %d outcomes", procNext, fault.ErrCorrupt, len(refused), outcomes)
	}
	return refused, blobOf(reply[min(1, len(reply)):]), nil
}

// decodeLimit returns the limit of a tuple that matchLimit matches.
func decodeLimit(t tuple.Tuple) limitTuple {
	var rate float64
	if len(t) > 3 {
		rate, _ = t[3].(float64)
	}
	return limitTuple{Limit{t.Str(1), t.Int64(2), rate}, t.Int64(4)}
}

// parseList returns the arguments of task.list. The page goes on in walk at of Filter.walks,
// behind the position after; both are zero for the first page. A number of a walk that does not
// exist is an empty last page. The error is fault.ErrInvalid, also if limit is not from 1 to
// MaxListed.
func parseList(args tuple.Tuple) (f Filter, limit int64, at int, after space.Position, err error) {
	if !listArgs.Matches(args) {
		return f, 0, 0, after, fmt.Errorf("%w: the arguments must be %s", fault.ErrInvalid, listArgs)
	}
	t, _ := args[0].(tuple.Tuple)
	f = Filter{State(t.Str(0)), t.Str(1), t.Str(2), t.Str(3), t.Str(4), time.Duration(t.Int64(5)), time.Duration(t.Int64(6))}
	if limit = args.Int64(1); limit < 1 || limit > MaxListed {
		return f, 0, 0, after, fmt.Errorf("%d tasks of a list: %w: want 1 to %d", limit, fault.ErrInvalid, MaxListed)
	}
	if c, _ := args[2].(tuple.Tuple); len(c) == 4 && c.Int64(0) >= 0 {
		at, after = int(min(c.Int64(0), 9)), decodePosition(c[1:])
	}
	return f, limit, at, after, nil
}

// listedOf decodes an entry of the space "task" or "dead". If it is malformed, Err is set and the
// other fields are what its tuple tells.
func listedOf(e space.Entry) (l Listed) {
	l.Holder = e.Holder
	if e.Tuple.Str(0) == "dead" {
		d, err := DecodeDeadLetter(e)
		l.Item, l.Reason, l.Err = d.Item, e.Tuple.Str(4), err
		return l
	}
	l.Item, l.Err = DecodeEntry(e)
	return l
}

// parseFailure returns the arguments of task.release, with reason and output cut to their bounds.
// The error is fault.ErrInvalid, also for a delay that delayOf refuses.
func parseFailure(args tuple.Tuple) (f failure, err error) {
	if !releaseArgs.Matches(args) && !fullReleaseArgs.Matches(args) {
		return f, fmt.Errorf("%w: the arguments must be %s or %s", fault.ErrInvalid, releaseArgs, fullReleaseArgs)
	}
	f = failure{id: args.Str(0), token: args.Int64(1), reason: truncate(args.Str(2)), output: tail(args.Str(4)), giveUp: args.Bool(5)}
	if len(args) > 3 {
		f.delay, err = delayOf(args[3].(float64))
	}
	return f, err
}

// decodePosition reads what encodePosition wrote. A tuple of another form is the beginning, or a
// place within the sequence, so it cannot do harm.
func decodePosition(t tuple.Tuple) space.Position {
	return space.Position{Major: t.Int64(0), Turn: t.Int64(1), Minor: t.Int64(2)}
}
