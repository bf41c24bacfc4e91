package node

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"leasehold/coordinator/admission"
	"leasehold/coordinator/api"
	"leasehold/coordinator/authority"
	"leasehold/coordinator/permission"
	"leasehold/models"
	"leasehold/shared/access"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/identity"
	"leasehold/shared/process/datadir"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
	"leasehold/shared/space/transaction"
	"leasehold/shared/tuple"
)

// secured is a coordinator that authenticates its clients, at both of its ports.
type secured struct {
	*testing.T
	at    datadir.Addresses
	ca    *authority.Authority // of the coordinator, read from its data folder
	now   func() time.Time     // of ca
	admin *client.Client
}

func newSecured(t *testing.T) *secured {
	t.Helper()
	cfg, err := config.Load(nil)
	require.NoError(t, err)
	cfg.Data, cfg.Listen, cfg.HTTP, cfg.Auth = t.TempDir(), "127.0.0.1:0", "127.0.0.1:0", true
	ctx, stop := context.WithCancel(context.Background())
	listening, ended := make(chan datadir.Addresses, 1), make(chan error, 1)
	go func() { ended <- RunCoordinator(ctx, cfg, discard, func(at datadir.Addresses) { listening <- at }) }()
	t.Cleanup(func() { stop(); require.NoError(t, <-ended) })
	s := &secured{T: t, at: <-listening, now: time.Now}
	s.ca, err = authority.Open(filepath.Join(cfg.Data, identityDir), func() time.Time { return s.now() })
	require.NoError(t, err)
	token, err := os.ReadFile(filepath.Join(cfg.Data, identityDir, datadir.TokenFile))
	require.NoError(t, err)
	s.admin, err = client.NewWith("https://coordinator", client.Options{Token: strings.TrimSpace(string(token)), Dial: s.dial(nil)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.admin.Close()) })
	require.Eventually(t, func() bool { return s.admin.Alive(t.Context()) == nil }, 20*time.Second, 10*time.Millisecond)
	return s
}

// dial returns what opens connections to the gate's port with a certificate; nil: none.
func (s *secured) dial(certificate *tls.Certificate) func(context.Context) (net.Conn, error) {
	c := identity.ClientConfig(s.ca.Fingerprint(), func() *tls.Certificate { return nil }, time.Now)
	if certificate != nil { // also of another CA, which processes do not present
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return certificate, nil }
	}
	return func(ctx context.Context) (net.Conn, error) { return identity.Dial(ctx, s.at.Gate, c) }
}

// visitor is a client with or without an identity.
type visitor struct {
	name        string
	roles       access.Roles // access.None for one that is refused
	token       string
	certificate *tls.Certificate
}

// token makes a token.
func (s *secured) token(name string, expires time.Duration, roles ...string) string {
	s.Helper()
	t, err := s.admin.CreateToken(s.Context(), types.NewToken{Name: name, Roles: roles, Expires: models.SecondsOf(expires)})
	require.NoError(s, err)
	return t.Token
}

// joined returns the certificate of a process that has joined.
func (s *secured) joined(role string) *tls.Certificate {
	s.Helper()
	invite, err := s.admin.CreateInvite(s.Context(), types.NewInvite{Role: role})
	require.NoError(s, err)
	line, err := identity.ParseLine(invite.Join)
	require.NoError(s, err)
	key, csr := s.key()
	api, err := client.NewWith("https://coordinator", client.Options{Dial: s.dial(nil)})
	require.NoError(s, err)
	defer api.Close()
	joined, err := api.Join(s.Context(), types.NewJoin{Invite: line.ID, Secret: line.Secret.Reveal(), Request: csr, Name: role})
	require.NoError(s, err)
	return s.certificate(joined.Chain, key)
}

func (s *secured) key() (ed25519.PrivateKey, []byte) {
	s.Helper()
	key, err := identity.LoadOrCreateKey("")
	require.NoError(s, err)
	csr, err := identity.Request(key)
	require.NoError(s, err)
	return key, csr
}

func (s *secured) certificate(chain [][]byte, key ed25519.PrivateKey) *tls.Certificate {
	s.Helper()
	c, err := identity.NewCertificate(chain, key)
	require.NoError(s, err)
	return c
}

// issued returns a certificate of a CA for a process that the coordinator does not know, or knows by its key.
func (s *secured) issued(by *authority.Authority, key ed25519.PrivateKey, csr []byte) *tls.Certificate {
	s.Helper()
	chain, _, err := by.Issue(csr, "manager", admission.PeerID(key.Public().(ed25519.PublicKey)), 24*time.Hour)
	require.NoError(s, err)
	return s.certificate(chain, key)
}

// refused returns who must not get in anywhere.
func (s *secured) refused() []visitor {
	s.Helper()
	expired := s.token("expired", 2*time.Second, "admin")
	revoked := s.token("revoked", 0, "admin")
	_, err := s.admin.RevokeToken(s.Context(), "revoked")
	require.NoError(s, err)
	revokedProcess := s.joined("manager")
	_, err = s.admin.RevokePeer(s.Context(), identity.PeerOf(revokedProcess.Leaf), false)
	require.NoError(s, err)
	other, err := authority.Create(filepath.Join(s.TempDir(), "identity"), time.Now)
	require.NoError(s, err)
	known := s.joined("manager")
	key := known.PrivateKey.(ed25519.PrivateKey)
	csr, err := identity.Request(key)
	require.NoError(s, err)
	unknown, unknownRequest := s.key()
	s.now = func() time.Time { return time.Now().Add(-25 * time.Hour) }
	ended := s.issued(s.ca, key, csr)
	s.now = func() time.Time { return time.Now().Add(25 * time.Hour) }
	early := s.issued(s.ca, key, csr)
	s.now = time.Now
	all := []visitor{
		{name: "nobody"},
		{name: "an expired token", token: expired}, {name: "a revoked token", token: revoked}, {name: "an invented token", token: admission.NewAdminSecret()},
		{name: "a revoked certificate", certificate: revokedProcess}, {name: "a certificate that has ended", certificate: ended},
		{name: "a certificate that applies later", certificate: early},
		{name: "a certificate of a process that is not known", certificate: s.issued(s.ca, unknown, unknownRequest)},
	}
	foreign, err := s.dial(s.issued(other, key, csr))(s.Context())
	if err == nil { // in TLS 1.3 the client learns of the refusal at its first read
		_, err = foreign.Read(make([]byte, 1))
		_ = foreign.Close() // refused
	}
	require.ErrorContains(s, err, "tls: bad certificate", "a certificate of another coordinator")
	require.Eventually(s, func() bool { return s.status(all[1], "GET", "/api/v1/tasks") == 401 }, 20*time.Second, 50*time.Millisecond)
	return all
}

// admitted returns one of each role.
func (s *secured) admitted() []visitor {
	return []visitor{
		{name: "a reader", roles: access.Reader, token: s.token("reader", 0, "reader")},
		{name: "a producer", roles: access.Producer, token: s.token("producer", 0, "producer")},
		{name: "a worker by its token", roles: access.Worker, token: s.token("worker", 0, "worker")},
		{name: "a worker", roles: access.Worker, certificate: s.joined("worker")},
		{name: "a manager", roles: access.Manager, certificate: s.joined("manager")},
		{name: "an administrator", roles: access.Admin, token: s.token("ann", 0, "admin")},
	}
}

// status sends a request without a body, and returns the status of the answer.
func (s *secured) status(v visitor, method, path string) int {
	s.Helper()
	dial := s.dial(v.certificate)
	web := &http.Transport{DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}
	defer web.CloseIdleConnections()
	return s.ask(web, v, method, path)
}

func (s *secured) ask(web *http.Transport, v visitor, method, path string) int {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, "https://coordinator"+path, nil)
	require.NoError(s, err)
	if v.token != "" {
		r.Header.Set("Authorization", "Bearer "+v.token)
	}
	resp, err := web.RoundTrip(r)
	require.NoError(s, err)
	require.NoError(s, resp.Body.Close())
	return resp.StatusCode
}

// operation is a route of the API as its document has it.
type operation struct {
	ID    string   `yaml:"operationId"`
	Roles []string `yaml:"x-roles"`
}

// needs returns the roles of the route; access.Public without a role.
func (o operation) needs(t *testing.T) access.Roles {
	t.Helper()
	if o.ID == "getMetrics" {
		return access.Reader
	}
	if len(o.Roles) == 0 {
		return access.Public
	}
	need, err := access.ParseRoles(strings.Join(o.Roles, ","))
	require.NoError(t, err)
	return need
}

// decidedByPath are the operations whose session must be one's own, or whose space needs a role.
var decidedByPath = map[string]bool{"endSession": true, "listTuples": true, "readTuple": true}

// Each route is asked by everybody, over TLS as from another machine.
func TestFault44EachRouteRefusesWhoeverLacksItsRole(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	text, err := api.OpenAPI(api.WholeDocument)
	require.NoError(t, err)
	var document struct {
		Paths map[string]map[string]operation
	}
	require.NoError(t, yaml.Unmarshal(text, &document))
	inPath := strings.NewReplacer("{space}", "chess", "{segment}", strings.Repeat("0", 64), "{", "", "}", "")
	for _, v := range append(s.refused(), s.admitted()...) {
		dial := s.dial(v.certificate)
		web := &http.Transport{DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}
		for path, methods := range document.Paths {
			for method, o := range methods {
				need := o.needs(t)
				if need == access.Public {
					continue // TestAWrongTokenIsRefusedExceptWhereNoneIsNeeded
				}
				got := s.ask(web, v, strings.ToUpper(method), inPath.Replace(path))
				what := o.ID + " as " + v.name
				switch {
				case v.roles == access.None:
					require.Contains(t, []int{401, 403, 429}, got, what) // 429: many wrong tokens from one address
				case !v.roles.Meet(need):
					require.Equal(t, 403, got, what)
				case !decidedByPath[o.ID]:
					require.NotContains(t, []int{401, 403, 429}, got, what)
				}
			}
		}
		web.CloseIdleConnections()
	}
}

// session opens a session at the gate, in the mode of the role.
func (s *secured) session(v visitor, mode string) (*remote.Conn, error) {
	dial := s.dial(v.certificate)
	return remote.Dial(s.Context(), remote.Config{
		Address: s.at.Gate, Mode: mode, Session: remote.SessionID("client"), Token: v.token, Log: discard,
		Dial: func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx) },
	})
}

// spacesOfDoors are a space of programs, and those of the protocols.
var spacesOfDoors = []string{"chess", "task", "result", "dead", "lease", "batch", "idempotency", "taskdata", "alert", "status", "log", "visit", "schedule", "taskends", "hold"}

var anything = tuple.Match(tuple.AnyInt64)

// requests returns requests through every door of the spaces: verbs, procedures, and calls inside of others.
func requests() (all []space.Request) {
	keyed := func(procedure string, args tuple.Tuple) space.Request {
		return space.Request{Verb: space.VerbCall, Procedure: "idempotency.call", Args: tuple.New("key-"+procedure, "fingerprint", procedure, args)}
	}
	for name := range permission.Procedures {
		all = append(all, space.Request{Verb: space.VerbCall, Procedure: name}, keyed(name, tuple.Tuple{}))
	}
	for _, name := range spacesOfDoors {
		for _, v := range []space.Verb{space.VerbPut, space.VerbPutP, space.VerbCreate} {
			all = append(all, space.Request{Verb: v, Space: name, Tuple: tuple.New(int64(1))})
		}
		for _, v := range []space.Verb{space.VerbGet, space.VerbGetP, space.VerbGetAll, space.VerbGetUpTo, space.VerbQuery, space.VerbQueryP, space.VerbQueryAll, space.VerbQueryUpTo, space.VerbCount, space.VerbNotify} {
			all = append(all, space.Request{Verb: v, Space: name, Template: anything, Limit: 1})
		}
		for _, inside := range []tuple.Tuple{tuple.New(name, int64(0)), tuple.New(name, int64(1)), tuple.New(name, int64(2))} {
			for _, procedure := range []string{"browse.look", "interop.find", "interop.findall", "hold.take", "hold.ack", "hold.back"} {
				all = append(all, space.Request{Verb: space.VerbCall, Procedure: procedure, Args: inside}, keyed(procedure, inside))
			}
		}
	}
	return all
}

// Each request that the table refuses is refused over the wire, also if it arrives in a batch with others.
func TestTheGateRefusesWhateverTheTableDoes(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	for _, v := range s.refused() {
		for _, mode := range []string{"client", "worker", "manager", "coordinator"} {
			_, err := s.session(v, mode)
			require.True(t, errors.Is(err, fault.ErrUnauthenticated) || errors.Is(err, fault.ErrForbidden), "%s as %s: %v", v.name, mode, err)
		}
	}
	modes := map[string]access.Roles{"client": access.Any, "worker": access.Worker, "manager": access.Manager, "coordinator": access.None}
	for _, v := range s.admitted() {
		for mode, need := range modes {
			if v.roles.Meet(need) {
				continue
			}
			_, err := s.session(v, mode)
			require.ErrorIs(t, err, fault.ErrForbidden, "%s as %s", v.name, mode)
		}
		conn, err := s.session(v, "client")
		require.NoError(t, err)
		s.requireRefusals(v, conn)
		require.NoError(t, space.Over(conn).Close(context.Background()))
	}
}

// requireRefusals sends the requests that a role may not make, many at a time.
func (s *secured) requireRefusals(v visitor, conn *remote.Conn) {
	s.Helper()
	as := access.Identity{ID: "token-1", Roles: v.roles}
	var sending sync.WaitGroup
	places := make(chan struct{}, 32)
	refused := 0
	for _, r := range requests() {
		if permission.Check(as, conn.Session(), r) == nil {
			continue
		}
		refused++
		places <- struct{}{}
		sending.Go(func() {
			defer func() { <-places }()
			_, err := conn.Do(s.Context(), r)
			if !errors.Is(err, fault.ErrForbidden) && !errors.Is(err, fault.ErrNotFound) && !errors.Is(err, fault.ErrInvalid) {
				s.Errorf("%s: %s: %v", v.name, r, err)
			}
		})
	}
	sending.Wait()
	require.NotZero(s, refused)
	s.requireTransactionRefusals(as, transaction.Client{Repo: space.Over(conn)})
}

// requireTransactionRefusals sends transactions with an operation that a role may not make.
func (s *secured) requireTransactionRefusals(as access.Identity, c transaction.Client) {
	s.Helper()
	for _, name := range spacesOfDoors {
		for _, op := range []transaction.Op{transaction.Put(name, tuple.New(int64(1)), 0), transaction.Get(name, anything), transaction.Query(name, anything), transaction.Absent(name, anything)} {
			if permission.Operation(as, op) == nil {
				continue
			}
			for _, ops := range [][]transaction.Op{{op}, {transaction.Absent("status", anything), op}} {
				_, err := c.RunP(s.Context(), ops...)
				require.ErrorIs(s, err, fault.ErrForbidden, "%s: %s", as.Roles, op)
			}
		}
	}
}
