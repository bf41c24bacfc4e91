package task

import (
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// The answers of procedures.

// decodeItems reads the answer to a claim or a creation: for each task its record and the number of its parents, its
// tuple, and how its parents ended. Without data there are no tasks.
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

// encodeEnded encodes the error of one outcome, or else the tasks that it created, which the answer of its procedure
// has.
func encodeEnded(err error, reply tuple.Tuple) tuple.Tuple {
	switch {
	case err != nil:
		return tuple.New(fault.Of(err).Code, truncate(err.Error()))
	case len(reply) > 1:
		return tuple.New("", "", blobOf(createdOf(reply)))
	}
	return tuple.New("", "")
}

// decodeEnded is the inverse of encodeEnded.
func decodeEnded(t tuple.Tuple) (e Ended, err error) {
	if code := t.Str(0); code != "" {
		e.Err = refusal{fault.FromCode(code), t.Str(1)}
	}
	if len(t) > 2 {
		e.Created, err = itemsOf(t[2:])
	}
	return e, err
}

// decodeNext returns an answer of task.next: what became of each of the outcomes, in their order, and the claimed tasks,
// still encoded.
func decodeNext(reply tuple.Tuple, outcomes int) (ends []Ended, claimed []byte, err error) {
	data := blobOf(reply)
	for len(data) > 0 {
		t, rest, err := tuple.Decode(data)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w: %w", procNext, fault.ErrCorrupt, err)
		}
		one, err := decodeEnded(t)
		if err != nil {
			return nil, nil, err
		}
		ends, data = append(ends, one), rest
	}
	if len(ends) != outcomes {
		return nil, nil, fmt.Errorf("%s: %w: %d answers to %d outcomes", procNext, fault.ErrCorrupt, len(ends), outcomes)
	}
	return ends, blobOf(reply[min(1, len(reply)):]), nil // the second field; nothing if it is missing
}

// createdOf returns the part of the answer of task.report that has the created tasks.
func createdOf(reply tuple.Tuple) tuple.Tuple { return reply[min(1, len(reply)):] }

// isAlive returns the answer of task.watch: whether the task has not ended.
func isAlive(reply tuple.Tuple) bool { return reply.Bool(0) }

// decodeShown returns the task in an answer of task.show.
func decodeShown(reply tuple.Tuple) Shown {
	e := space.Entry{Tuple: nestedOf(reply, 2), Holder: reply.Str(0), Attributes: space.Attributes{Fields: reply.Str(1)}}
	shown := Shown{listedOf(e)}
	shown.Why = Why{reply.Str(3), reply.Str(4)}
	return shown
}

// shownEntry returns the dead letter in an answer of task.showdead.
func shownEntry(reply tuple.Tuple) space.Entry {
	return space.Entry{Tuple: nestedOf(reply, 0), Attributes: space.Attributes{Fields: reply.Str(1)}}
}

// decodePage returns the page of tasks that task.list answers, and the cursor of the next page, which is empty at the
// end. A task that cannot be decoded is in the page, with the error in its field Err.
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

// decodeEndsPage returns the page of ended tasks that task.listended answers, and the cursor of the next page, which
// is empty at the end. An answer of another form counts as an empty last page.
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

// decodeCount returns one field of an answer of task.counts.
func decodeCount(field any) (State, int64) {
	t, _ := field.(tuple.Tuple)
	return State(t.Str(0)), t.Int64(1)
}

// decodeLimitState returns one limit of an answer of task.limits.
func decodeLimitState(t tuple.Tuple) LimitState {
	return LimitState{decodeLimit(t).Limit, t.Int64(5), t.Int64(6)}
}

// encodeItems returns tasks as one field, which decodeItems reads: for each its record and its
// tuple, without parents.
func encodeItems(items []Item) (data []byte) {
	for _, i := range items {
		data = plainTuple(i).Append(tuple.New(encodeRecord(i), int64(0)).Append(data))
	}
	return data
}

// decodeActions returns the names in an answer of task.actions, and how many actions there are.
func decodeActions(reply tuple.Tuple) (names []string, total int, err error) {
	for data := blobOf(reply); len(data) > 0; {
		var one tuple.Tuple
		if one, data, err = tuple.Decode(data); err != nil {
			return nil, 0, fmt.Errorf("%s: %w: %w", procActions, fault.ErrCorrupt, err)
		}
		names = append(names, one.Str(0))
	}
	return names, int(reply.Int64(1)), nil
}

// decodeFacts returns the facts in an answer of task.overview.
func decodeFacts(reply tuple.Tuple) (all []ActionFacts) {
	for at := range reply {
		all = append(all, factsIn(nestedOf(reply, at)))
	}
	return all
}

// factsIn is the inverse of ActionFacts.encode.
func factsIn(t tuple.Tuple) ActionFacts {
	f := ActionFacts{Action: t.Str(0), Workers: t.Int64(1), Slots: t.Int64(2), InUse: t.Int64(3), Oldest: t.Str(4), Counts: Counts{}}
	if since := t.Int64(5); since != 0 {
		f.OldestSince = time.Unix(0, since).UTC()
	}
	for n, state := range countedStates {
		f.Counts[state] = t.Int64(6 + n)
	}
	return f
}

// bulkReply is the answer of task.bulk.
func bulkReply(count int, done []string, refused []Refused, next tuple.Tuple) tuple.Tuple {
	var ids, errs []byte
	for _, id := range done {
		ids = tuple.New(id).Append(ids)
	}
	for _, r := range refused {
		errs = tuple.New(r.ID, fault.Of(r.Err).Code, truncate(r.Err.Error()), r.Selectable).Append(errs)
	}
	return tuple.New(int64(count), ids, errs, append(tuple.Tuple{}, next...))
}

// decodeBulk is the inverse of bulkReply.
func decodeBulk(reply tuple.Tuple) (part BulkPart, err error) {
	part.Count, part.Next = int(reply.Int64(0)), Cursor(nestedOf(reply, 3))
	var one tuple.Tuple
	for data := blobOf(reply[min(1, len(reply)):]); len(data) > 0; {
		if one, data, err = tuple.Decode(data); err != nil {
			return BulkPart{}, fmt.Errorf("%s: %w: %w", procBulk, fault.ErrCorrupt, err)
		}
		part.Done = append(part.Done, one.Str(0))
	}
	for data := blobOf(reply[min(2, len(reply)):]); len(data) > 0; {
		if one, data, err = tuple.Decode(data); err != nil {
			return BulkPart{}, fmt.Errorf("%s: %w: %w", procBulk, fault.ErrCorrupt, err)
		}
		part.Refused = append(part.Refused, Refused{one.Str(0), refusal{fault.FromCode(one.Str(1)), one.Str(2)}, one.Bool(3)})
	}
	return part, nil
}
