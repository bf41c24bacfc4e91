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

// The arguments of procedures, and their parts, in the order of a task's life. Functions named
// parse check them; those named after what they return, such as reportOf, rely on the template
// that the procedure requires.

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

// pageAfter returns where the page behind an answer of task.parents begins.
func pageAfter(reply tuple.Tuple) int { return int(reply.Int64(1)) }

// parentsOf returns the arguments of task.parents: the id of a task, and a position in its After.
func parentsOf(args tuple.Tuple) (id string, from int64) { return args.Str(0), args.Int64(1) }

// decodePosition reads what encodePosition wrote. A tuple of another form is the beginning, or a
// place within the sequence, so it cannot do harm.
func decodePosition(t tuple.Tuple) space.Position {
	return space.Position{Major: t.Int64(0), Turn: t.Int64(1), Minor: t.Int64(2)}
}

// decodeNews reads what encodeNews wrote, for 1 to MaxCreate tasks. It checks the form only; createOne checks the
// values.
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

// parseClaim returns the arguments of task.claim: how many tasks, from 1 to MaxClaims, and at least one action.
// Without a number it is 1; an action named twice counts once.
func parseClaim(args tuple.Tuple) (claimWanted, error) {
	c := claimWanted{number: 1}
	if len(args) > 0 && tuple.TypeOf(args[0]) == tuple.Int64 {
		c.number = args.Int64(0)
		if c.number < 1 || c.number > MaxClaims {
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

// parseNext returns the arguments of task.next. The number of wanted is 0 if nothing is to be claimed.
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

// reportArgs returns the arguments of task.report without new tasks.
func reportArgs(i Item, part string, final bool, body any) (tuple.Tuple, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("result of task %s: %w: %w", i.ID, fault.ErrInvalid, err)
	}
	r := ResultTuple{Action: i.Action, Subject: i.Subject, Part: part, Lease: i.Lease, Token: i.Token, Final: final, Body: string(data)}
	return tuple.New(i.ID, EncodeResult(r)), nil
}

// withOutput returns the arguments of task.report with what the attempt printed, if that is not empty.
func withOutput(args tuple.Tuple, output string) tuple.Tuple {
	if output == "" {
		return args
	}
	if len(args) == 2 {
		args = append(args.Clone(), []byte{})
	}
	return append(args, tail(output))
}

// reported are the arguments of task.report.
type reported struct {
	id          string
	result      tuple.Tuple
	createsMore bool   // whether create is encoded tasks
	create      []byte // tasks to create
	output      string // at most maxOutput bytes that the attempt printed
}

// parseReport returns the arguments of task.report, with the output cut to its bound.
func parseReport(args tuple.Tuple) (r reported, err error) {
	short := tuple.Match(tuple.AnyString, tuple.Formal{Type: tuple.Nested})
	full := append(short.Clone(), tuple.Formal{Type: tuple.Bytes})
	printed := append(full.Clone(), tuple.AnyString)
	if !short.Matches(args) && !full.Matches(args) && !printed.Matches(args) {
		return r, fmt.Errorf("%w: the arguments must be %s, %s or %s", fault.ErrInvalid, short, full, printed)
	}
	r.id, r.result, r.output = args.Str(0), nestedOf(args, 1), tail(args.Str(3))
	if len(args) > 2 {
		r.create, _ = args[2].([]byte)
	}
	r.createsMore = len(args) == 3 || len(r.create) > 0
	return r, nil
}

// failureArgs returns the arguments of task.release.
func failureArgs(i Item, f Failure) tuple.Tuple {
	return tuple.New(i.ID, i.Token, f.Reason, f.Delay.Seconds(), f.Output, f.GiveUp)
}

// parseFailure returns the arguments of task.release, with reason and output cut to their bounds.
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

// handBackArgs returns the arguments of task.handback.
func handBackArgs(i Item, delay time.Duration) tuple.Tuple {
	args := tuple.New(i.ID, i.Token)
	if delay > 0 {
		args = append(args, delay.Seconds())
	}
	return args
}

// handBackOf returns the arguments of task.handback.
func handBackOf(args tuple.Tuple) (id string, token int64, delaySeconds float64, reason string) {
	if len(args) > 2 {
		delaySeconds, _ = args[2].(float64)
	}
	return args.Str(0), args.Int64(1), delaySeconds, args.Str(3)
}

// passedOn returns the answer of task.handback with a reason: whether another worker gets the task.
func passedOn(reply tuple.Tuple) bool { return reply.Bool(0) }

// progressOf returns the arguments of task.extend.
func progressOf(args tuple.Tuple) (id string, token int64, p models.Progress) {
	if len(args) > 2 {
		p.Fraction, _ = args[2].(float64)
		p.Text = args.Str(3)
	}
	return args.Str(0), args.Int64(1), p
}

// listWanted is the arguments of task.list and of task.listended.
type listWanted struct {
	filter Filter
	limit  int64
	cursor tuple.Tuple // empty: the first page
}

func parseList(args tuple.Tuple) (w listWanted, err error) {
	if !listArgs.Matches(args) {
		return w, fmt.Errorf("%w: the arguments must be %s", fault.ErrInvalid, listArgs)
	}
	t := nestedOf(args, 0)
	w = listWanted{
		filter: filterOf(t),
		limit:  args.Int64(1), cursor: nestedOf(args, 2),
	}
	if w.limit < 1 || w.limit > MaxListed {
		return w, fmt.Errorf("%d tasks of a list: %w: want 1 to %d", w.limit, fault.ErrInvalid, MaxListed)
	}
	return w, nil
}

// placeOf returns where a page of task.list goes on: in walk number at, behind the position after.
// Both are zero for the first page, and if the cursor has another form. The number of a walk that
// does not exist becomes walks, so that the page is an empty last one.
func placeOf(cursor tuple.Tuple, walks int) (at int, after space.Position) {
	if len(cursor) == 4 && cursor.Int64(0) >= 0 {
		at, after = int(min(cursor.Int64(0), int64(walks))), decodePosition(cursor[1:])
	}
	return at, after
}

// recordOf returns the number of the history record behind which a page of task.listended begins.
// It is 0 for the first page, and if the cursor has another form.
func recordOf(cursor tuple.Tuple) (before int64) {
	if len(cursor) == 1 {
		before = max(cursor.Int64(0), 0)
	}
	return before
}

// parseEnded returns the id in the arguments of task.ended, or fault.ErrInvalid.
func parseEnded(args tuple.Tuple) (id string, err error) {
	if wanted := tuple.Match(tuple.AnyString); !wanted.Matches(args) {
		return "", fmt.Errorf("%w: the arguments must be %s", fault.ErrInvalid, wanted)
	}
	return args.Str(0), nil
}

// wantedLimit returns the limit in the arguments of task.setlimit.
func wantedLimit(args tuple.Tuple) Limit {
	rate, _ := args[2].(float64)
	return Limit{args.Str(0), args.Int64(1), rate}
}

// textsOf returns the fields of arguments that are all texts; ok reports whether they are.
func textsOf(args tuple.Tuple) (all []string, ok bool) {
	for _, f := range args {
		text, isText := f.(string)
		if !isText {
			return nil, false
		}
		all = append(all, text)
	}
	return all, true
}

// pauseWanted is the arguments of task.pause.
type pauseWanted struct{ action, by, why string }

// parsePause returns the arguments of task.pause, whose by and why may be missing together.
func parsePause(args tuple.Tuple) (w pauseWanted, err error) {
	texts, ok := textsOf(args)
	switch {
	case ok && len(texts) == 1:
		return pauseWanted{action: texts[0]}, nil
	case ok && len(texts) == 3:
		return pauseWanted{texts[0], truncate(texts[1]), truncate(texts[2])}, nil
	}
	return w, fmt.Errorf("%w: want an action, or an action, who pauses it and why", fault.ErrInvalid)
}

// filterOf is the inverse of Filter.encode. The last two fields are missing in calls of older programs.
func filterOf(t tuple.Tuple) Filter {
	f := Filter{
		State: State(t.Str(0)), Action: t.Str(1), Tag: t.Str(2), Group: t.Str(3), Text: t.Str(4),
		Older: time.Duration(t.Int64(5)), Younger: time.Duration(t.Int64(6)), Data: t.Str(7),
	}
	if before := t.Int64(8); before != 0 {
		f.Before = time.Unix(0, before).UTC()
	}
	return f
}

// bulkWanted is the arguments of task.bulk.
type bulkWanted struct {
	Bulk
	cursor tuple.Tuple
}

var bulkArgs = tuple.Match(tuple.AnyString, tuple.Formal{Type: tuple.Nested}, tuple.AnyInt64, tuple.Formal{Type: tuple.Nested}, tuple.AnyString)

// parseBulk returns the arguments of task.bulk.
func parseBulk(args tuple.Tuple) (w bulkWanted, err error) {
	if !bulkArgs.Matches(args) {
		return w, fmt.Errorf("%w: the arguments must be %s", fault.ErrInvalid, bulkArgs)
	}
	w = bulkWanted{Bulk{args.Str(0), filterOf(nestedOf(args, 1)), args.Str(4), int(args.Int64(2))}, nestedOf(args, 3)}
	isDead := w.Filter.State == StateDead
	switch {
	case w.Filter.inHistory():
		return w, fmt.Errorf("state %q: %w: tasks that have ended cannot be changed", w.Filter.State, fault.ErrInvalid)
	case w.Max < 1 || w.Max > MaxBulk:
		return w, fmt.Errorf("%d tasks: %w: want 1 to %d", w.Max, fault.ErrInvalid, MaxBulk)
	case w.Verb == BulkCount:
		return w, nil
	case (w.Verb == BulkRequeue || w.Verb == BulkDiscard) && isDead, w.Verb == BulkCancel && !isDead:
		return w, nil
	}
	return w, fmt.Errorf("%.50q of tasks in state %.50q: %w: want %s or %s of dead letters, or %s of live tasks", w.Verb, string(w.Filter.State), fault.ErrInvalid, BulkRequeue, BulkDiscard, BulkCancel)
}
