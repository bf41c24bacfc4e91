package space

import (
	"context"
	"time"

	"leasehold/shared/tuple"
)

// Repository is a set of spaces, used by one session. The package comment lists the errors; a method names only its
// own.
type Repository interface {
	// Session returns the id of the session.
	Session() string
	// Create makes a space. If one exists with equal options it does nothing; with other options it fails with
	// fault.ErrConflict. Other errors: fault.ErrInvalid for invalid options, fault.ErrOverloaded for too many spaces.
	Create(ctx context.Context, name string, o Options) error
	// List describes all spaces, by name.
	List(ctx context.Context) ([]Info, error)
	// Space returns a handle; it does not check that the space exists.
	Space(name string) Space
	// Call runs a procedure, and blocks while the procedure waits. A non-zero op makes the call repeatable. It fails
	// with fault.ErrNotFound for an unknown procedure; the procedure's own errors keep their kinds.
	Call(ctx context.Context, op OpID, procedure string, args tuple.Tuple) (tuple.Tuple, error)
	// Receive waits for the next message that a procedure sent to this session.
	Receive(ctx context.Context) (tuple.Tuple, error)
	// Close ends the session in order: what it holds is handed back, and its ephemeral tuples are
	// removed. A closed repository stays closed. If the session has ended already, it does nothing
	// and returns nil.
	Close(ctx context.Context) error
}

// Space is one named multiset of tuples. If the space does not exist, all methods but Name fail with
// fault.ErrNotFound; other errors as for Repository.
type Space interface {
	Name() string
	// Put adds a tuple; it waits while a blocking space is full. The tuple is removed after ttl, or never if ttl is
	// 0; a negative ttl fails with fault.ErrInvalid.
	Put(ctx context.Context, t tuple.Tuple, ttl time.Duration) error
	// PutP is Put, but fails with fault.ErrOverloaded if the space is full.
	PutP(ctx context.Context, t tuple.Tuple, ttl time.Duration) error
	// Get takes a match; it waits for one.
	Get(ctx context.Context, p tuple.Template) (tuple.Tuple, error)
	// GetP takes a match, and reports whether there was one; none is not an error.
	GetP(ctx context.Context, p tuple.Template) (tuple.Tuple, bool, error)
	// GetAll takes all matches, in the order of the kind. If they are more than MaxReply bytes, it fails with
	// fault.ErrTooLarge and takes nothing.
	GetAll(ctx context.Context, p tuple.Template) ([]tuple.Tuple, error)
	// Query, QueryP and QueryAll are Get, GetP and GetAll without taking.
	Query(ctx context.Context, p tuple.Template) (tuple.Tuple, error)
	QueryP(ctx context.Context, p tuple.Template) (tuple.Tuple, bool, error)
	QueryAll(ctx context.Context, p tuple.Template) ([]tuple.Tuple, error)
	// GetUpTo takes the first limit matches in the order of the kind, or fewer if more do not fit MaxReply bytes; it
	// takes at least one if there is one. It fails with fault.ErrInvalid for a limit below 1. QueryUpTo is the same
	// without taking.
	GetUpTo(ctx context.Context, p tuple.Template, limit int) ([]tuple.Tuple, error)
	QueryUpTo(ctx context.Context, p tuple.Template, limit int) ([]tuple.Tuple, error)
	// Count counts the matches that are visible.
	Count(ctx context.Context, p tuple.Template) (int, error)
	// Notify subscribes to the changes of tuples that match, from now on; a nil template matches all. The
	// subscription ends with the session, the space or Close. It fails with fault.ErrOverloaded for too many
	// subscriptions.
	Notify(ctx context.Context, p tuple.Template) (Subscription, error)
}

// Subscription delivers the changes of one space in their order.
type Subscription interface {
	// Next waits for events. Missed counts earlier events, dropped because the subscriber was slow, or lost because
	// the journal was loaded again. It fails with fault.ErrClosed once the subscription has ended.
	Next(ctx context.Context) (events []Event, missed int, err error)
	Close(ctx context.Context) error
}

// Conn carries requests of one session to an engine.
type Conn interface {
	Session() string
	Do(ctx context.Context, r Request) (Reply, error)
}

// Over returns a repository whose calls c carries.
func Over(c Conn) Repository { return repository{c} }

type repository struct{ conn Conn }

func (r repository) Session() string { return r.conn.Session() }

func (r repository) Create(ctx context.Context, name string, o Options) error {
	_, err := r.conn.Do(ctx, Request{Verb: VerbCreate, Space: name, Options: o})
	return err
}

func (r repository) List(ctx context.Context) ([]Info, error) {
	reply, err := r.conn.Do(ctx, Request{Verb: VerbList})
	return reply.Infos, err
}

func (r repository) Space(name string) Space { return handle{r.conn, name} }

func (r repository) Call(ctx context.Context, op OpID, procedure string, args tuple.Tuple) (tuple.Tuple, error) {
	reply, err := r.conn.Do(ctx, Request{Verb: VerbCall, Op: op, Procedure: procedure, Args: args})
	return reply.Tuple, err
}

func (r repository) Receive(ctx context.Context) (tuple.Tuple, error) {
	reply, err := r.conn.Do(ctx, Request{Verb: VerbReceive})
	return reply.Tuple, err
}

func (r repository) Close(ctx context.Context) error {
	_, err := r.conn.Do(ctx, Request{Verb: VerbEnd})
	return err
}
