package gospace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// ErrNoMatch is the error of GetP and QueryP when no tuple matches.
var ErrNoMatch = errors.New("no tuple matches")

// callTimeout bounds the operations that do not wait for a tuple, so that they end while a
// remote space cannot be reached.
const callTimeout = 10 * time.Second

// SpaceError is the error of all operations on spaces.
type SpaceError struct {
	Msg    string
	Sid    string      // of NewSpaceError: the handle's ID
	Val    string      // of NewSpaceError: the tuple or template, printed
	Sop    bool        // whether the operation succeeded: false
	Status interface{} // of NewSpaceError
	cause  error
}

// Error returns the message and the cause, or the value.
func (e SpaceError) Error() string {
	if e.cause == nil {
		return e.Msg + ": " + e.Val
	}
	return e.Msg + ": " + e.cause.Error()
}

// Operation reports whether the operation succeeded.
func (e SpaceError) Operation() bool { return e.Sop }

// Unwrap returns the cause: ErrNoMatch, a kind of package fault, or the error of a context.
func (e SpaceError) Unwrap() error { return e.cause }

func failure(err error) error { return SpaceError{Msg: failed, cause: err} }

// SpaceFrame is the set of operations on a space.
type SpaceFrame interface {
	Put(fields ...interface{}) (Tuple, error)
	PutP(fields ...interface{}) (Tuple, error)
	Get(template ...interface{}) (Tuple, error)
	GetP(template ...interface{}) (Tuple, error)
	GetAll(template ...interface{}) ([]Tuple, error)
	Query(template ...interface{}) (Tuple, error)
	QueryP(template ...interface{}) (Tuple, error)
	QueryAll(template ...interface{}) ([]Tuple, error)
	PutAgg(f interface{}, template ...interface{}) (Tuple, error)
	GetAgg(f interface{}, template ...interface{}) (Tuple, error)
	QueryAgg(f interface{}, template ...interface{}) (Tuple, error)
}

// Space is a handle of a space. Copies share it, and any number of goroutines may use it. All operations of a zero
// Space, or of a space with an invalid name, return an error.
//
// An operation that fails returns a tuple with one nil field and a SpaceError.
type Space struct {
	*connection
	ctx     context.Context // nil: background
	timeout time.Duration   // of each operation; 0: none
	ttl     time.Duration   // of puts; 0: none
	unbound bool
	policy  *ComposablePolicy
}

// ID returns an identifier of the handle and its copies.
func (s *Space) ID() (string, error) {
	if s == nil || s.connection == nil {
		return "", failure(errNoSpace)
	}
	return s.id, nil
}

// Close closes the handle and its copies: their operations, also those that wait, end with
// fault.ErrClosed. A space of this process ends, with its tuples, when NewSpace's last handle of
// it is closed.
func (s *Space) Close() error {
	if s == nil || s.connection == nil {
		return failure(errNoSpace)
	}
	return s.close()
}

var errNoSpace = fmt.Errorf("the space was not made by NewSpace or NewRemoteSpace: %w", fault.ErrInvalid)

// Whether an operation may wait for a tuple or for capacity, so that callTimeout is not for it.
const (
	waiting = true
	atOnce  = false
)

// run calls f with the space, and the context of an operation that waits or does not. Its error
// is a SpaceError.
func (s *Space) run(waits bool, f func(context.Context, space.Space) error) error {
	ctx, repo, stop, err := s.begin(waits)
	if err != nil {
		return failure(err)
	}
	defer stop()
	return s.finishCall(repo, f(ctx, repo.Space(s.name)))
}

// call is run for an f that needs the whole session. For waits see callContext.
func (s *Space) call(waits bool, f func(context.Context, space.Repository) error) error {
	ctx, repo, stop, err := s.begin(waits)
	if err != nil {
		return failure(err)
	}
	defer stop()
	return s.finishCall(repo, f(ctx, repo))
}

// begin returns the context of one operation (callContext) and the session, after it has connected.
// Unless there is an error, stop must follow.
func (s *Space) begin(waits bool) (ctx context.Context, repo space.Repository, stop context.CancelFunc, err error) {
	if s == nil || s.connection == nil {
		return nil, nil, nil, errNoSpace
	}
	ctx, stop = s.callContext(waits)
	if repo, err = s.open(ctx); err != nil {
		stop()
	}
	return ctx, repo, stop, err
}

// finishCall returns the error of an operation on the space. A remote session that has ended is
// replaced by the next operation.
func (s *Space) finishCall(repo space.Repository, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, fault.ErrClosed) && !s.local {
		s.drop(repo)
	}
	return failure(err)
}

// callContext returns the context of one operation; waits is whether it waits for a match, or
// until the space is not full. Without a timeout of the handle, an operation that does not wait
// ends after callTimeout if the space is remote.
func (s *Space) callContext(waits bool) (context.Context, context.CancelFunc) {
	ctx := s.ctx
	if ctx == nil {
		ctx = context.Background()
	}
	switch {
	case s.timeout > 0:
		return context.WithTimeout(ctx, s.timeout)
	case !waits && !s.local:
		return context.WithTimeout(ctx, callTimeout)
	}
	return ctx, func() {}
}

func noTuple() Tuple { return Tuple{Flds: []interface{}{nil}} }

// Put adds a tuple and returns it. A pointer stands for the value to which it points. Put waits while the space is
// full. It fails with fault.ErrInvalid if a field cannot be encoded.
func (s *Space) Put(fields ...interface{}) (Tuple, error) {
	return s.put(waiting, fields)
}

// PutP is Put, but does not wait if the space is full: it fails with fault.ErrOverloaded.
func (s *Space) PutP(fields ...interface{}) (Tuple, error) {
	return s.put(atOnce, fields)
}

// put encodes and puts a tuple, and returns it with pointers replaced by their values. If waits is true it waits
// while the space is full; otherwise it fails then.
func (s *Space) put(waits bool, fields []interface{}) (Tuple, error) {
	values, err := dereferenced(fields)
	if err != nil {
		return noTuple(), failure(err)
	}
	stored, err := encodeTuple(values)
	if err != nil {
		return noTuple(), failure(err)
	}
	err = s.run(waits, func(ctx context.Context, sp space.Space) error {
		if waits {
			return sp.Put(ctx, stored, s.ttl)
		}
		return sp.PutP(ctx, stored, s.ttl)
	})
	if err != nil {
		return noTuple(), err
	}
	return Tuple{values}, nil
}

// Get takes the oldest match; it waits for one.
func (s *Space) Get(template ...interface{}) (Tuple, error) {
	return s.find(template, waiting, func(ctx context.Context, sp space.Space, p tuple.Template) (tuple.Tuple, bool, error) {
		t, err := sp.Get(ctx, p)
		return t, true, err
	})
}

// Query returns the oldest match; it waits for one.
func (s *Space) Query(template ...interface{}) (Tuple, error) {
	return s.find(template, waiting, func(ctx context.Context, sp space.Space, p tuple.Template) (tuple.Tuple, bool, error) {
		t, err := sp.Query(ctx, p)
		return t, true, err
	})
}

// GetP takes the oldest match. It returns ErrNoMatch if there is none.
func (s *Space) GetP(template ...interface{}) (Tuple, error) {
	return s.find(template, atOnce, func(ctx context.Context, sp space.Space, p tuple.Template) (tuple.Tuple, bool, error) {
		return sp.GetP(ctx, p)
	})
}

// QueryP returns the oldest match. It returns ErrNoMatch if there is none.
func (s *Space) QueryP(template ...interface{}) (Tuple, error) {
	return s.find(template, atOnce, func(ctx context.Context, sp space.Space, p tuple.Template) (tuple.Tuple, bool, error) {
		return sp.QueryP(ctx, p)
	})
}

// find runs f, which looks for one match, and binds what it found to the template's pointers. waits is whether f
// waits for a match: see callContext. If f returns false, there is none, and find returns ErrNoMatch.
func (s *Space) find(template []interface{}, waits bool, f func(context.Context, space.Space, tuple.Template) (tuple.Tuple, bool, error)) (Tuple, error) {
	p, err := encodeTemplate(template)
	if err != nil {
		return noTuple(), failure(err)
	}
	var found tuple.Tuple
	err = s.run(waits, func(ctx context.Context, sp space.Space) error {
		t, ok, err := f(ctx, sp, p)
		if err == nil && !ok {
			return ErrNoMatch
		}
		found = t
		return err
	})
	if err != nil {
		return noTuple(), err
	}
	t := decodeTuple(found)
	if !s.unbound {
		bind(template, t.Flds)
	}
	return t, nil
}

// GetAll takes all matches, oldest first. It stores nothing through pointers.
func (s *Space) GetAll(template ...interface{}) ([]Tuple, error) {
	return s.findAll(template, space.Space.GetAll)
}

// QueryAll returns all matches, oldest first. It stores nothing through pointers.
func (s *Space) QueryAll(template ...interface{}) ([]Tuple, error) {
	return s.findAll(template, space.Space.QueryAll)
}

// GetUpTo takes the first matches: at most limit, and as many as fit 4 MiB. It stores nothing through pointers. It
// fails with fault.ErrInvalid for a limit below 1.
func (s *Space) GetUpTo(limit int, template ...interface{}) ([]Tuple, error) {
	return s.findAll(template, func(sp space.Space, ctx context.Context, p tuple.Template) ([]tuple.Tuple, error) {
		return sp.GetUpTo(ctx, p, limit)
	})
}

// QueryUpTo is GetUpTo, except that it takes nothing.
func (s *Space) QueryUpTo(limit int, template ...interface{}) ([]Tuple, error) {
	return s.findAll(template, func(sp space.Space, ctx context.Context, p tuple.Template) ([]tuple.Tuple, error) {
		return sp.QueryUpTo(ctx, p, limit)
	})
}

// findAll returns the matches that f finds; an empty slice, not nil, if there are none.
func (s *Space) findAll(template []interface{}, f func(space.Space, context.Context, tuple.Template) ([]tuple.Tuple, error)) ([]Tuple, error) {
	p, err := encodeTemplate(template)
	if err != nil {
		return []Tuple{}, failure(err)
	}
	tuples := []Tuple{}
	err = s.run(atOnce, func(ctx context.Context, sp space.Space) error {
		found, err := f(sp, ctx, p)
		for _, t := range found {
			tuples = append(tuples, decodeTuple(t))
		}
		return err
	})
	return tuples, err
}

// Size returns the number of tuples that can be found; -1 with an error.
func (s *Space) Size() (int, error) {
	size := -1
	err := s.call(atOnce, func(ctx context.Context, repo space.Repository) error {
		infos, err := repo.List(ctx)
		if err != nil {
			return err
		}
		for _, i := range infos {
			if i.Name == s.name {
				size = i.Visible
				return nil
			}
		}
		return fmt.Errorf("space %s: %w", s.name, fault.ErrNotFound)
	})
	return size, err
}
