package space

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/tuple"
)

// Kind decides which of the matching tuples a get or a query finds.
type Kind string

// The kinds of space. The empty kind is Sequential.
const (
	Sequential Kind = "sequential" // the oldest match
	Queue      Kind = "queue"      // the oldest tuple, if it matches
	Stack      Kind = "stack"      // the newest tuple, if it matches
	Pile       Kind = "pile"       // the newest match
	Random     Kind = "random"     // any match, uniformly
	Ordered    Kind = "ordered"    // the match with the highest OrderBy field, then the oldest
)

// Kinds lists every kind.
var Kinds = []Kind{Sequential, Queue, Stack, Pile, Random, Ordered}

// Overflow decides what a put into a full space does.
type Overflow string

// The kinds of overflow. The empty one is Block.
const (
	Block      Overflow = "block"       // Put waits, PutP fails with fault.ErrOverloaded
	DropOldest Overflow = "drop_oldest" // the oldest tuple not held is removed
)

// DefaultCapacity is the capacity of a space, in tuples, if its options have none.
const DefaultCapacity = 1_000_000

// Options of a space, fixed at its creation.
type Options struct {
	Kind     Kind
	OrderBy  int // Ordered: index of the int64 field; tuples without one are refused
	Capacity int // tuples, held ones included; 0 is DefaultCapacity
	Overflow Overflow
	Volatile bool // never journalled: empty after a restart
}

// String returns the options for people, such as "ordered by field 0, capacity 100, block, volatile".
func (o Options) String() string {
	text := string(o.Kind)
	if o.Kind == Ordered {
		text += fmt.Sprintf(" by field %d", o.OrderBy)
	}
	text += fmt.Sprintf(", capacity %d, %s", o.Capacity, o.Overflow)
	if o.Volatile {
		text += ", volatile"
	}
	return text
}

// Normalize returns o with the defaults filled in. It fails with fault.ErrInvalid for invalid values; then the
// returned options must not be used.
func (o Options) Normalize() (Options, error) {
	o.Kind, o.Overflow, o.Capacity = cmp.Or(o.Kind, Sequential), cmp.Or(o.Overflow, Block), cmp.Or(o.Capacity, DefaultCapacity)
	switch {
	case !slices.Contains(Kinds, o.Kind):
		return o, fmt.Errorf("kind %q: %w: accepted are %v", o.Kind, fault.ErrInvalid, Kinds)
	case o.Overflow != Block && o.Overflow != DropOldest:
		return o, fmt.Errorf("overflow %q: %w: accepted are %s and %s", o.Overflow, fault.ErrInvalid, Block, DropOldest)
	case o.Capacity < 0:
		return o, fmt.Errorf("capacity %d: %w: must be at least 1, or 0 for %d", o.Capacity, fault.ErrInvalid, DefaultCapacity)
	case o.OrderBy < 0 || o.OrderBy >= tuple.MaxArity:
		return o, fmt.Errorf("order field %d: %w: must be the index of a field, 0 to %d", o.OrderBy, fault.ErrInvalid, tuple.MaxArity-1)
	}
	return o, nil
}

// Info describes a space that exists.
type Info struct {
	Name    string
	Options Options
	Visible int // tuples that a get or query can find
	Held    int // tuples that are held
}

// PutOptions limit how long a tuple stays.
type PutOptions struct {
	TTL time.Duration // 0: until it is taken
	// Expiry names the procedure that runs, in the same journal record, when the TTL
	// ends; it gets Expired.Args. The tuple is removed unless the procedure holds it
	// or extends its TTL. Empty: the tuple is removed.
	Expiry string
	// Ephemeral ties the tuple to the session that put it: it is removed when that
	// ends.
	Ephemeral bool
	// Reserve lets the put use what a space of Reserving, and the memory budget, keep for the fleet's own work.
	Reserve bool
	Attributes
}
