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
	Msg   string
	cause error
}

// Error returns the message and the cause.
func (e SpaceError) Error() string { return e.Msg + ": " + e.cause.Error() }

// Unwrap returns the cause: ErrNoMatch, a kind of package fault, or the error of a context.
func (e SpaceError) Unwrap() error { return e.cause }

func failure(err error) error { return SpaceError{"operation on this space failed", err} }

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

// Space is a handle of a space. Copies share it, and any number of goroutines may use it. The
// operations of a zero Space, and those of a space with an invalid name, return an error.
//
// An operation that fails returns a tuple with one nil field and a SpaceError.
type Space struct {
	*connection
	ctx     context.Context // nil: background
	unbound bool
	policy  *ComposablePolicy
}

// WithContext returns a handle of the same space, whose operations end with ctx.
func (s *Space) WithContext(ctx context.Context) *Space {
	if s == nil {
		return nil
	}
	c := *s
	c.ctx = ctx
	return &c
}

// WithoutBinding returns a handle of the same space, whose operations store nothing through the
// pointers of templates, as those of goSpace.
func (s *Space) WithoutBinding() *Space {
	if s == nil {
		return nil
	}
	c := *s
	c.unbound = true
	return &c
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

// run calls f with the space. Unless the operation waits, it ends after callTimeout if the space is remote.
func (s *Space) run(waits bool, f func(context.Context, space.Space) error) error {
	if s == nil || s.connection == nil {
		return failure(errNoSpace)
	}
	ctx := s.ctx
	if ctx == nil {
		ctx = context.Background()
	}
	if !waits && !s.local {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, callTimeout)
		defer stop()
	}
	if err := s.do(ctx, f); err != nil {
		return failure(err)
	}
	return nil
}

func noTuple() Tuple { return Tuple{Flds: []interface{}{nil}} }

// Put adds a tuple and returns it. A pointer stands for the value to which it points. Put
// waits while the space is full.
func (s *Space) Put(fields ...interface{}) (Tuple, error) {
	return s.put(true, fields)
}

// PutP is Put, except that it does not wait if the space is full: that is
// fault.ErrOverloaded.
func (s *Space) PutP(fields ...interface{}) (Tuple, error) {
	return s.put(false, fields)
}

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
			return sp.Put(ctx, stored, 0)
		}
		return sp.PutP(ctx, stored, 0)
	})
	if err != nil {
		return noTuple(), err
	}
	return Tuple{values}, nil
}

// Get takes the oldest match; it waits for one.
func (s *Space) Get(template ...interface{}) (Tuple, error) {
	return s.find(template, true, func(ctx context.Context, sp space.Space, p tuple.Template) (tuple.Tuple, bool, error) {
		t, err := sp.Get(ctx, p)
		return t, true, err
	})
}

// Query returns the oldest match; it waits for one.
func (s *Space) Query(template ...interface{}) (Tuple, error) {
	return s.find(template, true, func(ctx context.Context, sp space.Space, p tuple.Template) (tuple.Tuple, bool, error) {
		t, err := sp.Query(ctx, p)
		return t, true, err
	})
}

// GetP takes the oldest match. The error is ErrNoMatch if there is none.
func (s *Space) GetP(template ...interface{}) (Tuple, error) {
	return s.find(template, false, func(ctx context.Context, sp space.Space, p tuple.Template) (tuple.Tuple, bool, error) {
		return sp.GetP(ctx, p)
	})
}

// QueryP returns the oldest match. The error is ErrNoMatch if there is none.
func (s *Space) QueryP(template ...interface{}) (Tuple, error) {
	return s.find(template, false, func(ctx context.Context, sp space.Space, p tuple.Template) (tuple.Tuple, bool, error) {
		return sp.QueryP(ctx, p)
	})
}

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
	return s.all(template, space.Space.GetAll)
}

// QueryAll returns all matches, oldest first. It stores nothing through pointers.
func (s *Space) QueryAll(template ...interface{}) ([]Tuple, error) {
	return s.all(template, space.Space.QueryAll)
}

func (s *Space) all(template []interface{}, f func(space.Space, context.Context, tuple.Template) ([]tuple.Tuple, error)) ([]Tuple, error) {
	p, err := encodeTemplate(template)
	if err != nil {
		return []Tuple{}, failure(err)
	}
	tuples := []Tuple{}
	err = s.run(false, func(ctx context.Context, sp space.Space) error {
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
	err := s.run(false, func(ctx context.Context, _ space.Space) error {
		infos, err := s.list(ctx)
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
