package idempotency

import "leasehold/shared/tuple"

// answer is the record of one call.
type answer struct {
	key, fingerprint string
	bytes            int64 // of the answer
	end              int64 // of all answers so far, this one included
	reply            tuple.Tuple
}

func (a answer) encode() tuple.Tuple {
	return tuple.New("answer", a.key, a.fingerprint, a.bytes, a.end, nested(a.reply))
}

func decodeAnswer(t tuple.Tuple) answer {
	reply, _ := t[5].(tuple.Tuple)
	return answer{key: t.Str(1), fingerprint: t.Str(2), bytes: t.Int64(3), end: t.Int64(4), reply: reply}
}

var anyNested = tuple.Formal{Type: tuple.Nested}

// withKey matches the answer of a key, which may be a formal.
func withKey(key any) tuple.Template {
	return tuple.Match("answer", key, tuple.AnyString, tuple.AnyInt64, tuple.AnyInt64, anyNested)
}

var anyAnswer = withKey(tuple.AnyString)

// callOf are the arguments of idempotency.call.
type callOf struct {
	key, fingerprint, procedure string
	args                        tuple.Tuple
}

func (c callOf) encode() tuple.Tuple {
	return tuple.New(c.key, c.fingerprint, c.procedure, nested(c.args))
}

var callArgs = tuple.Match(tuple.AnyString, tuple.AnyString, tuple.AnyString, anyNested)

// amendArgs are a key and its new answer.
var amendArgs = tuple.Match(tuple.AnyString, anyNested)

// amendmentOf returns a key and its new answer of arguments that amendArgs matches.
func amendmentOf(args tuple.Tuple) (key string, reply tuple.Tuple) {
	reply, _ = args[1].(tuple.Tuple)
	return args.Str(0), reply
}

// decodeCall reads arguments that callArgs matches.
func decodeCall(args tuple.Tuple) callOf {
	wanted, _ := args[3].(tuple.Tuple)
	return callOf{key: args.Str(0), fingerprint: args.Str(1), procedure: args.Str(2), args: wanted}
}

// nested returns a tuple as a field, for which nil is not a tuple.
func nested(t tuple.Tuple) tuple.Tuple {
	if t == nil {
		return tuple.Tuple{}
	}
	return t
}

// Called returns the procedure, with its arguments, that idempotency.call with these arguments calls; an empty name for
// arguments that no caller sends.
func Called(args tuple.Tuple) (procedure string, of tuple.Tuple) {
	if !callArgs.Matches(args) {
		return "", nil
	}
	c := decodeCall(args)
	return c.procedure, c.args
}
