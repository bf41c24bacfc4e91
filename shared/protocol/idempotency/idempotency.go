// Package idempotency is the protocol by which a caller repeats a call of a procedure without
// repeating its effect: the first answer is kept under a key that the caller chose, and a
// repeated call with that key gets it.
//
// An operation id (space.OpID) does the same within one session. A key is for callers whose
// requests share a session, such as clients of the HTTP API, and it survives restarts,
// because the answer is a tuple in the space "idempotency", put in the transaction of the call:
//
//	("idempotency", key, fingerprint, bytes, end int64, answer)
//
// The fingerprint is a hash of the request, which shows when a key is used for another request. Answers are kept for
// 10 minutes, the newest 100,000 of them and at most MaxBytes; end is how many bytes were kept so far, so that the
// oldest ones are removed without counting. An error is not an answer, because nothing has happened then.
//
// The package does not decide which calls may be repeated: the code that offers keys does.
package idempotency

import (
	"context"
	"fmt"
	"strings"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Space is the space of the protocol.
const Space = "idempotency"

// Bounds of the answers.
const (
	TTL      = 10 * time.Minute
	MaxKeys  = 100_000
	MaxBytes = 64 << 20 // of keys and answers
	MaxKey   = 128      // bytes of a key that the caller chose
)

const (
	procCall   = "idempotency.call"
	procForget = "idempotency.forget"
	procAmend  = "idempotency.amend"
)

// labelAll is the label of every answer, by which the newest one is found.
const labelAll = "all"

// Spaces returns the space that the protocol needs.
func Spaces() []space.Definition {
	return []space.Definition{{Name: Space, QueryOnly: true, Options: space.Options{Capacity: MaxKeys, Overflow: space.DropOldest}}}
}

// Procedures returns idempotency.call (key, fingerprint, procedure, arguments), which calls the
// procedure unless the key has an answer, idempotency.forget (key), and idempotency.amend (key, answer).
func Procedures() space.Procedures {
	return space.Procedures{procCall: space.WithArgs(callArgs, call), procForget: space.WithArgs1(forget), procAmend: space.WithArgs(amendArgs, amend)}
}

// call (key, fingerprint, procedure, arguments) returns the answer kept under the key, or calls the procedure and
// keeps its answer.
func call(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	c := decodeCall(args)
	if e, known := tx.Find(Space, withKey(c.key), nil); known {
		kept := decodeAnswer(e.Tuple)
		if kept.fingerprint != c.fingerprint {
			return nil, fmt.Errorf("key %q: %w: it was used for another request in the last %v", chosen(c.key), fault.ErrKeyReused, TTL)
		}
		return kept.reply, nil
	}
	reply, err := tx.Call(c.procedure, c.args)
	if err != nil {
		return nil, err
	}
	return reply, keepAnswer(tx, answer{key: c.key, fingerprint: c.fingerprint, reply: reply})
}

// keepAnswer puts an answer, and removes the oldest ones if all are too large together: those
// from whose beginning to the end of the new one there are more than MaxBytes.
func keepAnswer(tx space.Tx, a answer) error {
	a.bytes = int64(len(a.key) + len(a.fingerprint) + a.reply.Size())
	a.end = a.bytes
	if newest, ok := tx.LastLabelled(Space, labelAll); ok {
		a.end += decodeAnswer(newest.Tuple).end
	}
	t := a.encode()
	if t.Size() > tuple.MaxBytes {
		return fmt.Errorf("key %q: %w: an answer of %d bytes cannot be kept; send less at once, or no key", chosen(a.key), fault.ErrTooLarge, a.bytes)
	}
	var old []int64
	tx.Walk(space.Walk{Space: Space, Template: anyAnswer}, func(e space.Entry) bool { // the oldest first
		kept := decodeAnswer(e.Tuple)
		if a.end-(kept.end-kept.bytes) <= MaxBytes {
			return false // it fits with all newer ones
		}
		old = append(old, e.Ref)
		return true
	})
	for _, ref := range old {
		if err := tx.Take(ref); err != nil {
			return err
		}
	}
	_, err := tx.Put(Space, t, space.PutOptions{TTL: TTL, Attributes: space.Attributes{Labels: []string{labelAll}}})
	return err
}

// forget (key) removes the answer of a key, because its caller never got it and its effect was
// undone.
func forget(tx space.Tx, key string) (tuple.Tuple, error) {
	e, known := tx.Find(Space, withKey(key), nil)
	if !known {
		return nil, nil
	}
	return nil, tx.Take(e.Ref)
}

// amend (key, answer) replaces the answer of a key by one that is not larger, because its caller never got it and a part
// of its effect was undone.
func amend(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	key, reply := amendmentOf(args)
	e, known := tx.Find(Space, withKey(key), nil)
	if !known {
		return nil, nil
	}
	a := decodeAnswer(e.Tuple)
	if reply.Size() > a.reply.Size() {
		return nil, fmt.Errorf("key %q: %w: the new answer is larger than the old one", chosen(a.key), fault.ErrTooLarge)
	}
	a.reply = reply
	return nil, tx.Replace(e.Ref, a.encode())
}

// Keyed is a session whose calls of procedures happen once for a key. It is for one request,
// and not for concurrent use. If the request calls several procedures, each has an answer of
// its own, so the request must call the same ones when it is repeated. All other operations
// are the session's.
type Keyed struct {
	space.Repository
	Key         string      // at most MaxKey bytes
	Fingerprint string      // of the request
	answered    int         // calls
	first       tuple.Tuple // answer
}

// Call calls a procedure, or returns the answer that it gave under the key. It fails with fault.ErrKeyReused if the
// key belongs to another request, and with fault.ErrTooLarge if the answer cannot be kept; then nothing has happened.
func (k *Keyed) Call(ctx context.Context, op space.OpID, procedure string, args tuple.Tuple) (tuple.Tuple, error) {
	reply, err := k.Repository.Call(ctx, op, procCall, callOf{k.keyOf(k.answered), k.Fingerprint, procedure, args}.encode())
	if err != nil {
		return nil, err
	}
	if k.answered == 0 {
		k.first = reply
	}
	k.answered++
	return reply, nil
}

// AmendFirst replaces the answer of the first call of the request, which its caller never got, by edit of it, which is not
// larger. It may be repeated after an error, and does nothing if there was no call.
func (k *Keyed) AmendFirst(ctx context.Context, edit func(answer tuple.Tuple) tuple.Tuple) error {
	if k.answered == 0 {
		return nil
	}
	_, err := k.Repository.Call(ctx, space.OpID{}, procAmend, tuple.New(k.keyOf(0), nested(edit(k.first))))
	return err
}

// ForgetFrom removes the answers of the request, which its caller never got, from the answer to a call on; the first
// call is 0. It may be repeated after an error.
func (k *Keyed) ForgetFrom(ctx context.Context, call int) error {
	for ; k.answered > call; k.answered-- {
		if _, err := k.Repository.Call(ctx, space.OpID{}, procForget, tuple.New(k.keyOf(k.answered-1))); err != nil {
			return err
		}
	}
	return nil
}

// keyOf returns the key of one of the request's calls.
func (k *Keyed) keyOf(call int) string { return fmt.Sprintf("%s/%d", k.Key, call) }

// chosen returns the key that the caller chose, of one that keyOf returned, for errors.
func chosen(key string) string {
	if at := strings.LastIndexByte(key, '/'); at >= 0 {
		key = key[:at]
	}
	return key[:min(len(key), MaxKey)]
}
