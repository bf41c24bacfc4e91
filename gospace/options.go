package gospace

import (
	"context"
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/browse"
)

// SpaceOptions are what goSpace's NewSpace has no argument for.
type SpaceOptions struct {
	// Options apply to a space that does not exist yet. With Kind: space.Ordered and OrderBy: n, the match whose
	// field n, an int64, is the highest comes first. An operation returns fault.ErrConflict if the space exists with
	// other options.
	space.Options
	// Folder keeps the tuples of this space, and of other spaces with the folder or address. One process at a time
	// uses it. Empty: the tuples are in memory.
	Folder string
	Policy *ComposablePolicy // or nil
}

// NewSpaceWith is NewSpace with options. If there is a folder and this process cannot listen at the
// address, the operations return an error.
func NewSpaceWith(name string, o SpaceOptions) Space {
	s := Space{connection: newConnection(name), policy: o.Policy}
	s.options = o.Options
	switch {
	case s.secure && o.Folder != "":
		s.err = fmt.Errorf("space %.200q: a space at tls:// is of another program, and needs no folder: %w", name, fault.ErrInvalid)
	case s.err == nil && !s.secure:
		s.attach(hosts.join(s.address, s.name, o.Folder, findOrOpen))
	}
	return s
}

// WithContext returns a handle of the same space, whose operations end with ctx.
func (s *Space) WithContext(ctx context.Context) *Space {
	return s.with(func(c *Space) { c.ctx = ctx })
}

// WithTimeout returns a handle of the same space, each of whose operations ends after d with
// context.DeadlineExceeded. With 0 they have no timeout of their own.
func (s *Space) WithTimeout(d time.Duration) *Space {
	return s.with(func(c *Space) { c.timeout = d })
}

// WithTTL returns a handle of the same space, whose puts add tuples for d: then they are removed, unless they were
// taken or renewed (OpRenew). With 0 they stay until they are taken; puts fail with fault.ErrInvalid if d is below 0.
// A fold (PutAgg) uses it too.
func (s *Space) WithTTL(d time.Duration) *Space {
	return s.with(func(c *Space) { c.ttl = d })
}

// WithoutBinding returns a handle of the same space, whose operations store nothing through the pointers of
// templates, as in goSpace.
func (s *Space) WithoutBinding() *Space {
	return s.with(func(c *Space) { c.unbound = true })
}

// with returns a copy of the handle that shares the connection, changed; nil of a nil handle.
func (s *Space) with(change func(*Space)) *Space {
	if s == nil {
		return nil
	}
	c := *s
	change(&c)
	return &c
}

// List returns a page of all tuples that are not taken, of any length and type, in the order of the space, and how
// many there are. It takes none, and leaves out tuples too large for an answer of 1 MiB.
func (s *Space) List(offset, limit int) (page []Tuple, total int, err error) {
	err = s.call(atOnce, func(ctx context.Context, repo space.Repository) error {
		found, err := browse.Client{Repo: repo}.Page(ctx, browse.Query{Space: s.name, Open: true, Offset: offset, Limit: limit})
		for _, e := range found.Entries {
			page = append(page, decodeTuple(e.Tuple))
		}
		total = found.Total
		return err
	})
	return page, total, err
}
