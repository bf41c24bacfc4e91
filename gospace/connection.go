package gospace

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/identity"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
	"leasehold/spaces"
)

// defaultPort is the port of addresses without one.
const defaultPort = "31415"

// closeTimeout bounds the orderly end of a session.
const closeTimeout = 5 * time.Second

// reconnectTimeout is how long the client tries to replace a lost connection: as long as a coordinator may take to
// restart. If the program at the other end has ended for good, its space has too.
const reconnectTimeout = 30 * time.Second

// connection is what the copies of a Space share.
type connection struct {
	id, address, name string
	options           space.Options // of the space if it does not exist
	local             bool
	secure            bool  // by TLS, with the token and the CA of the environment
	err               error // of its making
	host              *host // of a space of this process; else nil

	ending context.Context // ends with close
	cancel context.CancelFunc

	dialling chan struct{} // holds one element while a call opens the session
	mu       sync.Mutex    // guards repo
	repo     space.Repository
}

// NewSpace returns a space of this process for a name, which is made unless it exists. For
// tcp://host:port/name it opens the space to the network at that address or, if it cannot
// listen there, joins the space of the program that does. The port is 31415 by default, and
// a query such as ?KEEP has no effect. For tls://host:port/name it is NewRemoteSpace. An error is returned by the operations. Of the policies
// none or one is accepted.
func NewSpace(name string, policy ...*ComposablePolicy) Space {
	if len(policy) > 1 {
		s := Space{connection: newConnection(name)}
		s.err = fmt.Errorf("%d policies: want at most one: %w", len(policy), fault.ErrInvalid)
		return s
	}
	var o SpaceOptions
	if len(policy) == 1 {
		o.Policy = policy[0]
	}
	return NewSpaceWith(name, o)
}

// NewRemoteSpace returns a space of the program that listens at tcp://host:port/name: a
// coordinator, or a process that called NewSpace. The space is made unless it exists. The first
// operation connects; it waits for the program if it does not run yet. A name alone is the space
// of that name in this process or, if there is none, at localhost. For tls://host:port/name the connection has TLS, and
// the coordinator gets the token of LEASEHOLD_TOKEN (the token or @FILE). LEASEHOLD_CA is the fingerprint of its CA or
// a PEM file with it.
func NewRemoteSpace(name string) Space {
	s := Space{connection: newConnection(name)}
	if s.err == nil && s.address == "" {
		s.attach(hosts.join("", s.name, "", findOnly))
		if s.host == nil {
			s.address = net.JoinHostPort("localhost", defaultPort)
		}
	}
	return s
}

// newConnection returns the connection of a space, not open yet. Its err is set if uri is malformed.
func newConnection(uri string) *connection {
	c := &connection{id: rand.Text(), dialling: make(chan struct{}, 1)}
	c.ending, c.cancel = context.WithCancel(context.Background())
	c.address, c.name, c.err = parse(uri)
	c.secure = strings.HasPrefix(uri, "tls://")
	return c
}

// parse splits tcp://host:port/name, or tls:// in place of tcp://; the address of a name alone is empty.
func parse(uri string) (address, name string, err error) {
	invalid := fmt.Errorf("space %.200q: want a name or tcp://host:port/name, or tls:// for a coordinator that authenticates: %w", uri, fault.ErrInvalid)
	name = uri
	if strings.Contains(uri, "://") {
		u, err := url.Parse(uri)
		if err != nil || u.Scheme != "tcp" && u.Scheme != "tls" || u.Hostname() == "" {
			return "", "", invalid
		}
		port := u.Port()
		if port == "" {
			port = defaultPort
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "", "", invalid
		}
		address, name = net.JoinHostPort(u.Hostname(), port), strings.TrimPrefix(u.Path, "/")
	} else if host, _, ok := strings.Cut(uri, "/"); ok && strings.Contains(host, ":") {
		return "", "", invalid // host:port/name, where tcp:// is missing
	}
	if name == "" || len(name) > space.MaxName {
		return "", "", invalid
	}
	return address, name, nil
}

// attach sets what hosts.join returned: without a host and an error the space is remote.
func (c *connection) attach(h *host, err error) {
	c.host, c.local, c.err = h, h != nil, err
}

// program names the program of the space, as far as this process knows it: spaces of one program
// have the same.
func (c *connection) program() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.host != nil {
		return c.host.key
	}
	return "tcp://" + c.address
}

// current returns the open session; nil, and why, if none can be opened.
func (c *connection) current() (space.Repository, error) {
	if c.err != nil {
		return nil, c.err
	}
	if c.ending.Err() != nil {
		return nil, fmt.Errorf("space %s: %w", c.name, fault.ErrClosed)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.repo, nil
}

// open returns the session, and opens it if it is not open, which makes the space too. One call at a time opens it.
func (c *connection) open(ctx context.Context) (space.Repository, error) {
	if repo, err := c.current(); repo != nil || err != nil {
		return repo, err
	}
	select {
	case c.dialling <- struct{}{}:
		defer func() { <-c.dialling }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if repo, err := c.current(); repo != nil || err != nil {
		return repo, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(c.ending, stop)()
	repo, err := c.openSession(ctx)
	if err != nil {
		if c.ending.Err() != nil {
			return nil, fmt.Errorf("space %s: %w", c.name, fault.ErrClosed)
		}
		return nil, fmt.Errorf("space %s at %s: %w", c.name, c.address, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.repo = repo
	return repo, nil
}

// openSession opens a session and makes the space. It refuses a space with other options, unless none were asked for.
// After an error no session is open.
func (c *connection) openSession(ctx context.Context) (repo space.Repository, err error) {
	if c.host != nil {
		var local *spaces.Repository
		if local, err = c.host.Repository(ctx, remote.SessionID("gospace")); err == nil {
			repo = local.Repository
		}
	} else {
		repo, err = c.dial(ctx)
	}
	if err != nil {
		return nil, err
	}
	err = repo.Create(ctx, c.name, c.options)
	if c.options == (space.Options{}) && errors.Is(err, fault.ErrConflict) {
		err = nil // without options, a space that exists with some is used as it is
	}
	if err != nil {
		return nil, errors.Join(err, endSession(repo))
	}
	return repo, nil
}

// dial opens a session at another program.
func (c *connection) dial(ctx context.Context) (space.Repository, error) {
	config := remote.Config{Address: c.address, Session: remote.SessionID("gospace"), Reconnect: reconnectTimeout}
	var err error
	if c.secure {
		if config.Token, err = identity.ReadToken(os.Getenv("LEASEHOLD_TOKEN")); err == nil {
			config.TLS, err = identity.TokenConfig(os.Getenv("LEASEHOLD_CA"))
		}
	}
	if err != nil {
		return nil, err
	}
	conn, err := remote.Dial(ctx, config)
	if err != nil {
		return nil, err
	}
	return space.Over(conn), nil
}

// drop forgets a session that has ended, so that the next call opens another.
func (c *connection) drop(repo space.Repository) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.repo == repo {
		c.repo = nil
	}
}

// close ends the session and leaves the host. A call that opens the session ends first. It does
// nothing if it was called before.
func (c *connection) close() error {
	if c.ending.Err() != nil {
		return nil
	}
	c.cancel()
	c.dialling <- struct{}{} // a call that connects ends first
	defer func() { <-c.dialling }()
	c.mu.Lock()
	repo := c.repo
	c.repo = nil
	c.mu.Unlock()
	var err error
	if repo != nil {
		err = endSession(repo)
	}
	c.mu.Lock()
	h := c.host
	c.host = nil
	c.mu.Unlock()
	if h != nil {
		hosts.leave(h, c.name)
	}
	return err
}

// endSession ends a session within closeTimeout. One that has ended already is not an error.
func endSession(repo space.Repository) error {
	ctx, stop := context.WithTimeout(context.Background(), closeTimeout)
	defer stop()
	if err := repo.Close(ctx); err != nil && !errors.Is(err, fault.ErrClosed) {
		return err
	}
	return nil
}
