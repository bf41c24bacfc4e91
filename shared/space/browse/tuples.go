package browse

import (
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/tuple"
)

var queryArgs = tuple.Match(tuple.AnyString, tuple.Formal{Type: tuple.Bytes}, tuple.AnyBool, tuple.AnyBool, tuple.AnyInt64, tuple.AnyInt64)

func (q Query) encode() tuple.Tuple {
	return tuple.New(q.Space, q.Template.Append(nil), q.Open, q.Held, int64(q.Offset), int64(q.Limit))
}

func decodeQuery(args tuple.Tuple) (Query, error) {
	encoded, _ := args[1].([]byte)
	p, rest, err := tuple.DecodeTemplate(encoded)
	if err != nil || len(rest) > 0 {
		return Query{}, fmt.Errorf("%w: want a template", fault.ErrInvalid)
	}
	q := Query{Space: args.Str(0), Template: p, Open: args.Bool(2), Held: args.Bool(3)}
	offset, limit := args.Int64(4), args.Int64(5)
	if offset < 0 || limit < 0 {
		return Query{}, fmt.Errorf("%w: offset %d and limit %d: want at least 0", fault.ErrInvalid, offset, limit)
	}
	q.Offset, q.Limit = int(offset), int(limit)
	return q, nil
}

// answer is what browse.look returns: a part of a page, as large as one tuple can be.
type answer struct {
	data    []byte // for each entry (held, holder) and its tuple
	next    int64  // offset of the next answer
	total   int64
	omitted int64
}

func (a answer) encode() tuple.Tuple { return tuple.New(a.data, a.next, a.total, a.omitted) }

// add encodes one more entry, or counts it as omitted if no answer has space for it. It reports
// false, and does nothing, if this answer has no space left for it.
func (a *answer) add(e Entry) bool {
	size := e.Tuple.Size()
	switch {
	case size > answerBytes:
		a.omitted++
	case len(a.data)+size > answerBytes:
		return false
	default:
		a.data = e.Tuple.Append(tuple.New(e.Held, e.Holder).Append(a.data))
	}
	a.next++
	return true
}

// decodeAnswer reads an answer of browse.look, and its entries. It does not check the types of fields, because only
// the procedure of this package makes answers: a field of another type counts as zero.
func decodeAnswer(reply tuple.Tuple) (a answer, entries []Entry, err error) {
	if len(reply) != 4 {
		return a, nil, fmt.Errorf("%s: %w: an answer of %d fields", Procedure, fault.ErrCorrupt, len(reply))
	}
	data, _ := reply[0].([]byte)
	for len(data) > 0 {
		hold, rest, err := tuple.Decode(data) // (held, holder)
		if err != nil {
			return a, nil, fmt.Errorf("%s: %w: %w", Procedure, fault.ErrCorrupt, err)
		}
		t, rest, err := tuple.Decode(rest)
		if err != nil {
			return a, nil, fmt.Errorf("%s: %w: %w", Procedure, fault.ErrCorrupt, err)
		}
		entries = append(entries, Entry{Tuple: t, Held: hold.Bool(0), Holder: hold.Str(1)})
		data = rest
	}
	return answer{next: reply.Int64(1), total: reply.Int64(2), omitted: reply.Int64(3)}, entries, nil
}
