// Package join keeps a process of the fleet admitted at a coordinator that authenticates: it joins by a join line, renews
// its certificate before that ends, and joins again by itself where a certificate cannot be used any more.
//
// It opens the connections to the coordinator, which are over TLS: Member.Dial for sessions, Member.Client for the API.
// Both are at the same port.
package join

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/identity"
	"leasehold/shared/process/clock"
	"leasehold/shared/process/members"
	"leasehold/shared/process/retry"
)

// base is the URL of the API for requests. Its host is only a name that every coordinator accepts: Dial knows the
// addresses.
const base = "https://coordinator"

// dialTimeout bounds an attempt to reach one address, with its handshake.
const dialTimeout = 10 * time.Second

// Config is how a process joins.
type Config struct {
	Line  identity.Line // with one address or more; without a secret if the process has joined, and has no join line any more
	Gates *members.List // its addresses, shared with other connections, which learn from each other; nil: those of Line
	Dir   string        // the process's folder, which keeps its key and certificate; empty: they are in memory
	Name  string        // of the process, for people
	Now   func() time.Time
	Log   *slog.Logger
}

// Member is a process that has joined. Its methods may be called concurrently.
type Member struct {
	Config
	key     ed25519.PrivateKey
	request []byte // certificate signing request of the key
	tls     *tls.Config

	joining sync.Mutex // held while the process joins or renews

	mu          sync.Mutex // guards what follows
	certificate *tls.Certificate
	invite      string // in the join line that the process had when it got the certificate
}

// Open loads the key and the certificate of a process, or makes them: it waits for the coordinator until ctx ends.
// Errors: fault.ErrUnauthenticated for a join line that the coordinator does not accept, and for another coordinator at
// the addresses; fault.ErrForbidden for a process that was revoked; those of identity.LoadOrCreateKey.
func Open(ctx context.Context, c Config) (*Member, error) {
	if c.Gates == nil && len(c.Line.Addresses) > 0 {
		c.Gates = members.New(c.Line.Addresses...)
	}
	if c.Gates == nil {
		return nil, fmt.Errorf("the join line has no address: %w: set --host too", fault.ErrInvalid)
	}
	key, err := identity.LoadOrCreateKey(c.Dir)
	if err != nil {
		return nil, err
	}
	m := &Member{Config: c, key: key}
	if m.request, err = identity.Request(key); err != nil {
		return nil, err
	}
	m.tls = identity.FleetConfig(identity.Coordinator, m.trusted, m.own, c.Now)
	m.certificate, m.invite, err = identity.LoadCertificate(c.Dir, key)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.Log.Warn("join: the certificate in the folder cannot be used; joining again", "error", err)
	}
	return m, m.ensure(ctx)
}

// own returns the certificate; nil before the process has joined.
func (m *Member) own() *tls.Certificate {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.certificate
}

// trusted returns the CAs that the process trusts: those of its join line or, once it has a certificate by that line,
// those in the certificate's chain. So it knows the next CA after the first renewal in a change of the CA, also if its
// line does not name it. A line that it has not used yet counts more than a certificate, unless it has no secret.
func (m *Member) trusted() identity.CAs {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.certificate != nil && (m.invite == m.Line.ID || m.Line.Secret == (identity.Secret{})) {
		return identity.IssuersOf(m.certificate, m.Now())
	}
	return m.Line.CAs(m.Now())
}

// leaf returns the certificate of the process as parsed; nil if it has none of a CA that it trusts.
func (m *Member) leaf() *x509.Certificate {
	c := m.own()
	if c == nil || !identity.IssuersOf(c, m.Now()).Meet(m.trusted()) {
		return nil
	}
	return c.Leaf
}

// ensure has the process hold a certificate that applies now. It repeats what can pass until ctx ends.
func (m *Member) ensure(ctx context.Context) error {
	loop := retry.Loop{Message: "join: the coordinator does not answer; trying again", Log: m.Log}
	return loop.Do(ctx, func() error {
		leaf := m.leaf()
		if leaf != nil && m.Now().Before(leaf.NotAfter) {
			return nil
		}
		if leaf != nil {
			err := m.renew(ctx)
			if err == nil || !errors.Is(err, fault.ErrUnauthenticated) {
				return err
			}
		}
		return m.join(ctx)
	})
}

// Rejoin joins again, because the coordinator does not know the process any more.
func (m *Member) Rejoin(ctx context.Context) error {
	loop := retry.Loop{Message: "join: the coordinator does not answer; trying again", Log: m.Log}
	return loop.Do(ctx, func() error { return m.join(ctx) })
}

// errNoLine is for a process whose certificate cannot be used any more.
var errNoLine = fmt.Errorf("%w: the certificate of this process cannot be used any more, and it has no join line to join again: start it with --join", fault.ErrUnauthenticated)

// join joins by the join line. The connection presents no certificate.
func (m *Member) join(ctx context.Context) error {
	if m.Line.Secret == (identity.Secret{}) {
		return errNoLine
	}
	m.joining.Lock()
	defer m.joining.Unlock()
	config := identity.FleetConfig(identity.Coordinator, m.trusted, func() *tls.Certificate { return nil }, m.Now)
	return m.certify(config, func(api *client.Client) (types.Joined, error) {
		return api.Join(ctx, types.NewJoin{Invite: m.Line.ID, Secret: m.Line.Secret.Reveal(), Request: m.request, Name: m.Name})
	})
}

// renew renews the certificate.
func (m *Member) renew(ctx context.Context) error {
	m.joining.Lock()
	defer m.joining.Unlock()
	return m.certify(m.tls, func(api *client.Client) (types.Joined, error) {
		return api.Renew(ctx, types.NewRenewal{Request: m.request})
	})
}

// certify has the coordinator issue a certificate, and keeps it.
func (m *Member) certify(config *tls.Config, ask func(*client.Client) (types.Joined, error)) error {
	var joined types.Joined
	var err error
	for range m.Gates.Order() {
		asked := m.Gates.First()
		if joined, err = m.askFirst(config, ask); !errors.Is(err, fault.ErrUnavailable) {
			break
		}
		m.Gates.Failed(asked) // it may be a standby
	}
	if err != nil {
		return err
	}
	certificate, err := identity.NewCertificate(joined.Chain, m.key)
	if err != nil {
		return fmt.Errorf("the coordinator's certificate for this process: %w", err)
	}
	m.mu.Lock()
	m.certificate, m.invite = certificate, m.Line.ID
	m.mu.Unlock()
	return identity.SaveCertificate(m.Dir, joined.Chain, m.Line.ID)
}

// askFirst asks the first coordinator that can be reached.
func (m *Member) askFirst(config *tls.Config, ask func(*client.Client) (types.Joined, error)) (types.Joined, error) {
	api, err := client.NewWith(base, client.Options{Dial: func(ctx context.Context) (net.Conn, error) { return dialFirst(ctx, m.Gates, config) }})
	if err != nil {
		return types.Joined{}, err
	}
	defer api.Close()
	return ask(api)
}

// Run renews the certificate before it ends, until ctx ends. A renewal that fails is repeated: the process goes on
// meanwhile, and joins again if it has to.
func (m *Member) Run(ctx context.Context) {
	for {
		pause := time.Minute
		if leaf := m.leaf(); leaf != nil {
			pause = identity.Renewal(leaf, rand.Float64).Sub(m.Now())
		}
		select {
		case <-time.After(max(pause, time.Second)):
		case <-ctx.Done():
			return
		}
		err := m.renew(ctx)
		if errors.Is(err, fault.ErrUnauthenticated) {
			err = m.join(ctx)
		}
		if err != nil && ctx.Err() == nil {
			m.Log.Warn("join: the certificate could not be renewed; trying again in a minute", "error", err)
			select {
			case <-time.After(retry.Jitter(time.Minute)):
			case <-ctx.Done():
				return
			}
		}
	}
}

// Dial opens a connection to the coordinator with TLS, at the first of its addresses that answers. Before that, the
// certificate is renewed if it has ended. Without an answer the error is fault.ErrUnavailable.
func (m *Member) Dial(ctx context.Context) (net.Conn, error) {
	if err := m.certified(ctx); err != nil {
		return nil, err
	}
	return dialFirst(ctx, m.Gates, m.tls)
}

// DialAt is Dial to one of the coordinator's addresses.
func (m *Member) DialAt(ctx context.Context, address string) (net.Conn, error) {
	if err := m.certified(ctx); err != nil {
		return nil, err
	}
	return dialOne(ctx, address, m.tls)
}

// certified waits until the process has a certificate that applies now.
func (m *Member) certified(ctx context.Context) error {
	if leaf := m.leaf(); leaf == nil || !m.Now().Before(leaf.NotAfter) {
		return m.ensure(ctx)
	}
	return nil
}

// dialFirst opens a connection to the first of the gates that answers.
func dialFirst(ctx context.Context, gates *members.List, config *tls.Config) (net.Conn, error) {
	var errs []error
	for _, address := range gates.Order() {
		c, err := dialOne(ctx, address, config)
		if err == nil {
			return c, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", address, err))
	}
	return nil, members.Unreached(errs)
}

// dialOne opens a connection to an address. Errors of the network are fault.ErrUnavailable; the others are
// those of identity.Dial.
func dialOne(ctx context.Context, address string, config *tls.Config) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	c, err := identity.Dial(ctx, address, config)
	if err == nil || errors.Is(err, fault.ErrUnauthenticated) || errors.Is(err, fault.ErrInvalid) {
		return c, err
	}
	return nil, fmt.Errorf("%w: %w", fault.ErrUnavailable, err)
}

// Client returns a client of the coordinator's API.
func (m *Member) Client() (*client.Client, error) {
	return client.NewWith(base, client.Options{Dial: m.Dial})
}

// ClientAs is Client with the rights of a token instead of those of this process.
func (m *Member) ClientAs(token string) (*client.Client, error) {
	return client.NewWith(base, client.Options{Dial: m.Dial, Token: token})
}

// ClientOf returns a client of the API of the coordinator with one of the CAs, at the first of its addresses that answers,
// with the certificate of a process that has joined; nil: without one. It neither joins nor renews.
func ClientOf(certificate *tls.Certificate, cas identity.CAs, addresses []string) (*client.Client, error) {
	config, gates := identity.FleetConfig(identity.Coordinator, func() identity.CAs { return cas }, func() *tls.Certificate { return certificate }, clock.Now), members.New(addresses...)
	return client.NewWith(base, client.Options{Dial: func(ctx context.Context) (net.Conn, error) { return dialFirst(ctx, gates, config) }})
}
