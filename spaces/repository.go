package spaces

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"leasehold/shared/fault"
	"leasehold/shared/identity"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
)

// Repository is a set of spaces for one session: the host's own, and the ones that Join has added. Its methods may be
// called concurrently.
type Repository struct {
	space.Repository

	mu     sync.Mutex // guards joined
	joined map[string]joined
}

// joined is a space of another program.
type joined struct {
	space.Space
	repo    space.Repository
	address string
}

// Repository opens a session at the host. It fails with fault.ErrConflict if a session of that id is open. Ids are
// such as worker-1: a role and the rest.
func (h *Host) Repository(ctx context.Context, session string) (*Repository, error) {
	repo, err := h.engine.Session(ctx, session, 0)
	if err != nil {
		return nil, err
	}
	return &Repository{Repository: repo, joined: map[string]joined{}}, nil
}

// Dial opens a session at the native gate of another program, such as a coordinator. It tries again until ctx ends,
// so that the other program may be started later. It fails as remote.Dial does.
func Dial(ctx context.Context, address, session string) (*Repository, error) {
	return DialWith(ctx, address, session, Access{})
}

// Access is how a client proves who it is to a coordinator that authenticates, and recognises it. With one of them the
// connection has TLS.
type Access struct {
	Token string // what leasehold token create printed, or @FILE with it
	// CA is the fingerprint of the coordinator's CA (leasehold identity show), its certificate as PEM, or a PEM file
	// (leasehold identity show --ca). If it is empty, the certificate must be for the name in the address and of a CA that
	// the system knows.
	CA string
}

// DialWith is Dial for a coordinator that authenticates. It also fails with fault.ErrUnauthenticated for a wrong token and
// for a coordinator of another CA, which gets no token, and with fault.ErrInvalid for a wrong CA.
func DialWith(ctx context.Context, address, session string, a Access) (*Repository, error) {
	c := remote.Config{Address: address, Session: session}
	if a != (Access{}) {
		var err error
		if c.Token, err = identity.ReadToken(a.Token); err == nil {
			c.TLS, err = identity.TokenConfig(a.CA)
		}
		if err != nil {
			return nil, fmt.Errorf("dial %s: %w", address, err)
		}
	}
	conn, err := remote.Dial(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Repository{Repository: space.Over(conn), joined: map[string]joined{}}, nil
}

// Join adds a space of another program under a name, which hides an own space of that name, and replaces a joined
// one. uri is tcp://host:port/space, the address of a native gate. It opens a session at the other program, and tries
// again until ctx ends. Errors: fault.ErrInvalid for another form of uri, fault.ErrNotFound if the space does not
// exist.
func (r *Repository) Join(ctx context.Context, name, uri string) error {
	return r.JoinWith(ctx, name, uri, Access{})
}

// JoinWith is Join for a space of a coordinator that authenticates. It fails as DialWith does too.
func (r *Repository) JoinWith(ctx context.Context, name, uri string, a Access) error {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "tcp" || u.Port() == "" || len(u.Path) < 2 {
		return fmt.Errorf("join %.200q: want tcp://host:port/space: %w", uri, fault.ErrInvalid)
	}
	repo, err := DialWith(ctx, u.Host, remote.SessionID("client"), a)
	if err != nil {
		return fmt.Errorf("join %s: %w", uri, err)
	}
	there := strings.TrimPrefix(u.Path, "/")
	all, err := repo.List(ctx)
	if err == nil && !slices.ContainsFunc(all, func(i space.Info) bool { return i.Name == there }) {
		err = fmt.Errorf("space %s: %w", there, fault.ErrNotFound)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("join %s: %w", uri, err), repo.Close(ctx))
	}
	r.mu.Lock()
	old, replaced := r.joined[name]
	r.joined[name] = joined{repo.Space(there), repo, u.Host}
	r.mu.Unlock()
	if replaced {
		return old.repo.Close(ctx)
	}
	return nil
}

// Space returns a space: the joined one of that name, which hides an own one, or the own one. It does not check that
// the space exists.
func (r *Repository) Space(name string) space.Space {
	r.mu.Lock()
	defer r.mu.Unlock()
	if j, ok := r.joined[name]; ok {
		return j
	}
	return r.Repository.Space(name)
}

// Joined returns the names of the joined spaces, in order.
func (r *Repository) Joined() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.joined))
}

// Close ends the session, and those at other programs. The joined spaces are no longer joined.
// It returns all errors.
func (r *Repository) Close(ctx context.Context) error {
	r.mu.Lock()
	all := r.joined
	r.joined = map[string]joined{}
	r.mu.Unlock()
	err := r.Repository.Close(ctx)
	for _, j := range all {
		err = errors.Join(err, j.repo.Close(ctx))
	}
	return err
}
