package hold

import (
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/tuple"
)

// encode returns the tuple that stands for a hold.
func encode(id, in string, ref int64) tuple.Tuple { return tuple.New("hold", id, in, ref) }

func match(id, in, ref any) tuple.Template { return tuple.Match("hold", id, in, ref) }

// refOf returns the ref of the tuple that is held.
func refOf(t tuple.Tuple) int64 { return t.Int64(3) }

// takeArgs are the arguments of hold.take: space, template, nanoseconds, and whether to wait.
var takeArgs = tuple.Match(tuple.AnyString, tuple.Formal{Type: tuple.Bytes}, tuple.AnyInt64, tuple.AnyBool)

// parseTake decodes arguments that match takeArgs.
func parseTake(args tuple.Tuple) (in string, t tuple.Template, ttl time.Duration, waits bool, err error) {
	data, _ := args[1].([]byte)
	t, rest, err := tuple.DecodeTemplate(data)
	if err != nil || len(rest) > 0 {
		return "", nil, 0, false, fmt.Errorf("hold.take: %w: want a template", fault.ErrInvalid)
	}
	return args.Str(0), t, time.Duration(args.Int64(2)), args.Bool(3), nil
}

func (t Taken) encode() tuple.Tuple { return tuple.New(t.ID, t.Tuple.Append(nil)) }

// decodeTaken is the inverse of Taken.encode.
func decodeTaken(reply tuple.Tuple) (Taken, error) {
	if !tuple.Match(tuple.AnyString, tuple.Formal{Type: tuple.Bytes}).Matches(reply) {
		return Taken{}, fmt.Errorf("hold.take: %w: want an id and a tuple", fault.ErrCorrupt)
	}
	data, _ := reply[1].([]byte)
	found, rest, err := tuple.Decode(data)
	if err != nil || len(rest) > 0 {
		return Taken{}, fmt.Errorf("hold.take: %w: a malformed tuple", fault.ErrCorrupt)
	}
	return Taken{ID: reply.Str(0), Tuple: found}, nil
}
