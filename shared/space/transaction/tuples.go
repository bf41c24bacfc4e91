package transaction

import (
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

var (
	anyBytes  = tuple.Formal{Type: tuple.Bytes}
	runArgs   = tuple.Match(tuple.AnyBool, anyBytes) // waits, operations
	applyArgs = tuple.Match(anyBytes)                // operations
	anyOp     = tuple.Match(tuple.AnyInt64, tuple.AnyString, tuple.AnyInt64)
	anyAnswer = tuple.Match(tuple.AnyBool, tuple.AnyInt64, anyBytes)
)

func encodeRun(waits bool, ops []byte) tuple.Tuple { return tuple.New(waits, ops) }

func decodeRun(args tuple.Tuple) (waits bool, ops []byte) {
	ops, _ = args[1].([]byte)
	return args.Bool(0), ops
}

func decodeApply(args tuple.Tuple) (ops []byte) {
	ops, _ = args[0].([]byte)
	return ops
}

// encodeOps encodes each operation as (kind, space, TTL in ns) and its template or tuple. It refuses what decodeOps
// or an engine would refuse in any state, so that the error names the operation.
func encodeOps(ops []Op) (data []byte, err error) {
	if err := checkNumber(len(ops)); err != nil {
		return nil, err
	}
	for i, op := range ops {
		if err := op.check(); err != nil {
			return nil, fmt.Errorf("operation %d of %d, %s: %w", i+1, len(ops), op, err)
		}
		data = tuple.New(int64(op.Kind), op.Space, int64(op.TTL)).Append(data)
		if op.Kind == KindPut {
			data = op.Tuple.Append(data)
		} else {
			data = op.Template.Append(data)
		}
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("a transaction of %d bytes, at most %d: %w", len(data), MaxBytes, fault.ErrTooLarge)
	}
	return data, nil
}

// checkNumber refuses no operations with fault.ErrInvalid, and more than MaxOps with
// fault.ErrTooLarge.
func checkNumber(n int) error {
	switch {
	case n == 0:
		return fmt.Errorf("a transaction without operations: %w", fault.ErrInvalid)
	case n > MaxOps:
		return fmt.Errorf("a transaction of %d operations or more, at most %d: %w", n, MaxOps, fault.ErrTooLarge)
	}
	return nil
}

// check refuses, with fault.ErrInvalid, an operation that no engine accepts in any state: of an
// unknown kind, without a valid name of a space, with a negative TTL, or with a malformed tuple
// of a put or template of another kind.
func (o Op) check() error {
	switch {
	case o.Kind < KindGet || o.Kind > KindRenew:
		return fmt.Errorf("want a kind from %d to %d: %w", KindGet, KindRenew, fault.ErrInvalid)
	case o.Space == "" || len(o.Space) > space.MaxName:
		return fmt.Errorf("a space of %d bytes, want 1 to %d: %w", len(o.Space), space.MaxName, fault.ErrInvalid)
	case o.TTL < 0:
		return fmt.Errorf("a TTL of %s, want 0 or more: %w", o.TTL, fault.ErrInvalid)
	}
	err := o.Template.Validate()
	if o.Kind == KindPut {
		err = o.Tuple.Validate()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	}
	return nil
}

func decodeOps(data []byte) (ops []Op, err error) {
	for len(data) > 0 {
		if err := checkNumber(len(ops) + 1); err != nil {
			return nil, err
		}
		head, rest, err := tuple.Decode(data)
		if err != nil || !anyOp.Matches(head) {
			return nil, fmt.Errorf("operation %d: want (kind, space, TTL): %w", len(ops)+1, fault.ErrInvalid)
		}
		op := Op{Kind: Kind(head.Int64(0)), Space: head.Str(1), TTL: time.Duration(head.Int64(2))}
		if op.Kind == KindPut {
			op.Tuple, data, err = tuple.Decode(rest)
		} else {
			op.Template, data, err = tuple.DecodeTemplate(rest)
		}
		if err == nil {
			err = op.check()
		}
		if err != nil {
			return nil, fmt.Errorf("operation %d: %w: %w", len(ops)+1, fault.ErrInvalid, err)
		}
		ops = append(ops, op)
	}
	return ops, checkNumber(len(ops))
}

// answer is what transaction.run returns.
type answer struct {
	met        bool          // all conditions hold
	unmetIndex int64         // unless met: of the first operation whose condition does not hold
	found      []tuple.Tuple // if met: one for each operation, nil for one that finds none
}

func encodeFound(found []byte) tuple.Tuple { return tuple.New(true, int64(0), found) }

func encodeUnmet(index int) tuple.Tuple { return tuple.New(false, int64(index), []byte{}) }

func decodeAnswer(reply tuple.Tuple, ops []Op) (answer, error) {
	corrupt := fmt.Errorf("%s: an answer to %d operations: %w", procRun, len(ops), fault.ErrCorrupt)
	if !anyAnswer.Matches(reply) {
		return answer{}, corrupt
	}
	a := answer{met: reply.Bool(0), unmetIndex: reply.Int64(1)}
	if !a.met {
		if a.unmetIndex < 0 || a.unmetIndex >= int64(len(ops)) {
			return answer{}, corrupt
		}
		return a, nil
	}
	data, _ := reply[2].([]byte)
	for _, op := range ops {
		t, rest, err := tuple.Decode(data)
		if err != nil {
			return answer{}, fmt.Errorf("%w: %w", corrupt, err)
		}
		if op.Kind == KindAbsent || op.Kind == KindPut {
			t = nil // it was encoded as the empty tuple
		}
		a.found, data = append(a.found, t), rest
	}
	return a, nil
}
