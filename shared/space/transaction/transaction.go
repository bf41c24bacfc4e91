// Package transaction is the protocol of transactions that a client composes: a list of
// operations on several spaces of one repository, which all happen or none. The list travels
// as one request, so it works in process and over every connection.
//
//	transaction.Client{Repo: repo}.Run(ctx,
//		transaction.Get("stock", tuple.Match("tea", tuple.AnyInt64)),
//		transaction.Absent("blocked", tuple.Match("alice")),
//		transaction.Put("orders", tuple.New("alice", "tea"), time.Hour))
//
// Invariants: the operations run in order in one procedure, and each sees the effects of
// those before it. Nobody else sees a state in between. If a condition does not hold, or an
// operation fails, nothing has happened.
//
// The operations cannot depend on what others found, because they are sent before. To change a
// tuple, query it, compute, and then get exactly this tuple and put the new one: if another
// session was faster the condition does not hold, and the caller repeats. For more than that,
// register a procedure (space.Procedure).
//
// A connection that breaks does not repeat a transaction. But unlike the answer to a plain get, its answer is not
// acknowledged: if the process of the caller dies before it has read the answer, the transaction has still happened.
package transaction

import (
	"context"
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Bounds of a transaction. The tuples that it finds have the same bound as its operations.
const (
	MaxOps   = 64
	MaxBytes = tuple.MaxBytes - 1<<10 // of the operations, encoded
)

// ErrUnmet means that a condition of a transaction does not hold, so that nothing has
// happened. It is a fault.ErrConflict.
var ErrUnmet = fmt.Errorf("nothing was changed: %w", fault.ErrConflict)

// Kind is what an operation does.
type Kind int64

// The kinds of operation. The numbers are part of the protocol.
const (
	KindGet    Kind = 1 // takes a match
	KindQuery  Kind = 2 // reads a match
	KindAbsent Kind = 3 // requires that no visible tuple matches
	KindPut    Kind = 4 // adds a tuple
	KindRenew  Kind = 5 // starts the TTL of a match again
)

var kindNames = map[Kind]string{KindGet: "get", KindQuery: "query", KindAbsent: "absent", KindPut: "put", KindRenew: "renew"}

// ParseKind returns the kind with a name: get, query, absent, put or renew. It fails with fault.ErrInvalid for any
// other name.
func ParseKind(name string) (Kind, error) {
	for k, n := range kindNames {
		if n == name {
			return k, nil
		}
	}
	return 0, fmt.Errorf("kind %.100q: want get, query, absent, put or renew: %w", name, fault.ErrInvalid)
}

// Op is one operation. Get, Query, Absent, Put and Renew make one.
type Op struct {
	Kind     Kind
	Space    string
	Template tuple.Template // of all kinds but KindPut
	Tuple    tuple.Tuple    // of KindPut
	TTL      time.Duration  // of KindPut and KindRenew; 0: the tuple stays until it is taken
}

// Get takes the tuple that a get would take. The condition is that there is one.
func Get(name string, p tuple.Template) Op { return Op{Kind: KindGet, Space: name, Template: p} }

// Query reads the tuple that a query would find. The condition is that there is one.
func Query(name string, p tuple.Template) Op { return Op{Kind: KindQuery, Space: name, Template: p} }

// Absent has the condition that no tuple matches. A held tuple does not count.
func Absent(name string, p tuple.Template) Op { return Op{Kind: KindAbsent, Space: name, Template: p} }

// Put adds a tuple for a time to live, or until it is taken if ttl is 0. If the space is full, the transaction fails
// with fault.ErrOverloaded, because it does not wait for capacity.
func Put(name string, t tuple.Tuple, ttl time.Duration) Op {
	return Op{Kind: KindPut, Space: name, Tuple: t, TTL: ttl}
}

// Renew starts the time to live of the tuple that a query would find again, with a new length; 0
// is without end. The condition is that there is one.
func Renew(name string, p tuple.Template, ttl time.Duration) Op {
	return Op{Kind: KindRenew, Space: name, Template: p, TTL: ttl}
}

// String describes the operation for errors, cut to some hundred bytes.
func (o Op) String() string {
	name, known := kindNames[o.Kind]
	switch {
	case !known:
		return fmt.Sprintf("kind %d in %.100q", o.Kind, o.Space)
	case o.Kind == KindPut:
		return fmt.Sprintf("%s in %.100q %.200s", name, o.Space, o.Tuple)
	}
	return fmt.Sprintf("%s in %.100q %.200s", name, o.Space, o.Template)
}

// Whether a transaction waits until its conditions hold.
const (
	untilMet = true
	once     = false
)

// Client runs transactions over one session. It may be used concurrently.
type Client struct{ Repo space.Repository }

// Run runs a transaction. It waits until there is a tuple for each Get, Query and Renew; an Absent that does not hold
// fails with ErrUnmet at once. It returns one tuple for each operation, nil for Absent and Put. Errors:
// fault.ErrNotFound for a space that does not exist, fault.ErrInvalid for malformed operations or none,
// fault.ErrTooLarge for more than MaxOps operations, or more than MaxBytes of operations or of found tuples,
// fault.ErrOverloaded for a Put into a full space, fault.ErrForbidden for a change in a space of a protocol, and
// fault.ErrCorrupt for an answer that cannot be decoded. An error of one operation names it.
func (c Client) Run(ctx context.Context, ops ...Op) ([]tuple.Tuple, error) {
	return c.run(ctx, untilMet, ops)
}

// RunP is Run, but does not wait: if a condition does not hold, it fails with ErrUnmet.
func (c Client) RunP(ctx context.Context, ops ...Op) ([]tuple.Tuple, error) {
	return c.run(ctx, once, ops)
}

// PutIfAbsent puts a tuple into a space if no visible tuple of the space matches p, and reports whether it did. It
// fails as Run does, but never with ErrUnmet.
func (c Client) PutIfAbsent(ctx context.Context, name string, p tuple.Template, t tuple.Tuple, ttl time.Duration) (put bool, err error) {
	a, err := c.call(ctx, once, []Op{Absent(name, p), Put(name, t, ttl)})
	return a.met, err
}

// run is call, except that a condition that does not hold is an error, which names it.
func (c Client) run(ctx context.Context, waits bool, ops []Op) ([]tuple.Tuple, error) {
	a, err := c.call(ctx, waits, ops)
	if err == nil && !a.met {
		why := "no tuple matches"
		if ops[a.unmetIndex].Kind == KindAbsent {
			why = "a tuple matches"
		}
		return nil, fmt.Errorf("operation %d of %d, %s: %s: %w", a.unmetIndex+1, len(ops), ops[a.unmetIndex], why, ErrUnmet)
	}
	return a.found, err
}

// call sends a transaction and returns its answer. If waits is true it waits until the conditions hold. If one does
// not hold, it returns no error, and answer.met is false.
func (c Client) call(ctx context.Context, waits bool, ops []Op) (answer, error) {
	data, err := encodeOps(ops)
	if err != nil {
		return answer{}, err
	}
	reply, err := c.Repo.Call(ctx, space.OpID{}, procRun, encodeRun(waits, data))
	if err != nil {
		return answer{}, err
	}
	return decodeAnswer(reply, ops)
}
