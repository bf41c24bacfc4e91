package auth

import (
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"leasehold/coordinator/admission"
	"leasehold/coordinator/authority"
	"leasehold/coordinator/gate/mux"
	"leasehold/shared/access"
	"leasehold/shared/fault"
)

// Life is how long the certificate of a process is valid.
const Life = 24 * time.Hour

// endsSoon is the rest of a certificate's life in which it should not be used any more. Processes renew theirs before it.
const endsSoon = Life / 4

// Config has the parts of a coordinator's identity.
type Config struct {
	Authority *authority.Authority
	Store     *admission.Store
	Log       *slog.Logger
	Now       func() time.Time
	// Keep keeps the CA elsewhere too, after each change; nil: it is in the folder alone.
	Keep func(context.Context) error
}

// Auth authenticates clients. Its methods may be called concurrently.
type Auth struct {
	Config
	cookies cookies
	guesses guesses
	notes   chan admission.Record // of the audit, that wait to be written

	mu        sync.Mutex // guards what follows
	end       func(id string)
	connected func() []string
	rotated   func()
	looked    time.Time // by EndExpired
}

// New returns an Auth; Run writes its audit.
func New(c Config) *Auth {
	return &Auth{Config: c, looked: c.Now(), cookies: newCookies(c.Now), guesses: guesses{now: c.Now, log: c.Log, of: map[netip.Prefix]guesser{}}, notes: make(chan admission.Record, maxNotes)}
}

// proof is what the certificate of a connection proves. It is verified once for each connection, because that takes a
// signature; whether the process was revoked is looked up for each request.
type proof struct {
	secured bool   // the connection has TLS
	peer    string // id; empty: no certificate
	key     *x509.Certificate
	expired bool
	err     error
}

// prove verifies the certificate of a connection.
func (a *Auth) prove(c net.Conn) (p proof) {
	state, secured := mux.StateOf(c)
	if !secured {
		return proof{}
	}
	p.secured = true
	_, p.peer, p.expired, p.err = a.Authority.Peer(state, a.Now())
	if len(state.PeerCertificates) > 0 {
		p.key = state.PeerCertificates[0]
	}
	return p
}

// identity returns the identity that a proof proves now; the zero Identity without a certificate. A certificate that has
// ended proves nothing.
func (a *Auth) identity(p proof) (access.Identity, error) {
	switch {
	case p.err != nil:
		return access.Identity{}, p.err
	case p.peer == "":
		return access.Identity{}, nil
	case p.key != nil && (a.Now().After(p.key.NotAfter) || p.expired):
		return access.Identity{}, fmt.Errorf("%s: %w: its certificate applies from %s until %s, and the coordinator's clock shows %s: it has to be renewed",
			p.peer, fault.ErrUnauthenticated, p.key.NotBefore.Format(time.RFC3339), p.key.NotAfter.Format(time.RFC3339), a.Now().UTC().Format(time.RFC3339))
	}
	return a.Store.ByPeer(p.peer)
}

// OfConn returns the identity that the certificate of a connection proves.
func (a *Auth) OfConn(c net.Conn) (access.Identity, error) {
	i, err := a.identity(a.prove(c))
	if err == nil && i.ID == "" {
		err = fmt.Errorf("%w: the client has no certificate: a process needs a join line (--join; leasehold invite makes one)", fault.ErrUnauthenticated)
	}
	return i, err
}

type proofKey struct{}

// ConnContext is for http.Server: requests of a connection have what its certificate proves.
func (a *Auth) ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, proofKey{}, a.prove(c))
}

func proofOf(ctx context.Context) proof {
	p, _ := ctx.Value(proofKey{}).(proof)
	return p
}

// OfRequest returns the identity that makes a request: by its token, by the certificate of its connection, or by its
// cookie, in that order; the zero Identity if it shows none of them. A token in the query is refused, because URLs are in
// logs.
func (a *Auth) OfRequest(r *http.Request) (access.Identity, error) {
	if r.URL.Query().Has("token") || r.URL.Query().Has("access_token") {
		return access.Identity{}, fmt.Errorf("%w: a token in a URL is refused, because URLs are in logs: send the header Authorization: Bearer TOKEN", fault.ErrInvalid)
	}
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, secret, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") { // RFC 9110: the case of a scheme does not count
			return access.Identity{}, fmt.Errorf("%w: want the header Authorization: Bearer TOKEN", fault.ErrUnauthenticated)
		}
		return a.ByToken(r.RemoteAddr, strings.TrimSpace(secret))
	}
	if p := proofOf(r.Context()); p.peer != "" || p.err != nil {
		i, err := a.identity(p)
		if err == nil {
			if err := a.Store.Saw(r.Context(), i.ID); err != nil {
				a.Log.Warn("auth: cannot note that a process is there", "peer", i.ID, "error", err)
			}
		}
		return i, err
	}
	return a.cookies.identity(r, a.Store.ByToken)
}

// EndsSoon reports whether the certificate of the connection of a request ends soon. A process has another one by then, so
// the connection should be replaced: on this one its requests will be refused.
func (a *Auth) EndsSoon(r *http.Request) bool {
	p := proofOf(r.Context())
	return p.key != nil && a.Now().After(p.key.NotAfter.Add(-endsSoon))
}

// OnRevoke has end called with the id of each identity that is revoked, so that its connections and sessions end.
func (a *Auth) OnRevoke(end func(id string)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.end = end
}

// Connected has the ids of the identities that are connected at the native gate come from a function.
func (a *Auth) Connected(ids func() []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.connected = ids
}

// ended ends what an identity that was revoked still has.
func (a *Auth) ended(id string) {
	a.mu.Lock()
	end := a.end
	a.mu.Unlock()
	if end != nil {
		end(id)
	}
}
