package api

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"leasehold/coordinator/admission"
	"leasehold/coordinator/auth"
	"leasehold/models"
	"leasehold/shared/access"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/process/clock"
)

// inviteLife is how long an invite can be used by default.
const inviteLife = 24 * time.Hour

// maxLife bounds the life of an invite or a token.
const maxLife = 10 * 365 * 24 * time.Hour

// admissionRoutes are the routes by which processes join, and people and programs are admitted.
func (s *server) admissionRoutes() []route {
	return []route{
		withBody("joinFleet", "POST", "/join", "Have a process join by its invite; the answer is its certificate. The connection needs TLS, and no certificate.", s.join),
		withBody("renewCertificate", "POST", "/renew", "Renew the certificate of a process, which the connection presents. It may have ended up to 30 days ago.", s.renew),
		on("listInvites", "GET", "/invites", "List the invites, the oldest first, without their secrets.", s.listInvites, page(maxPage)...),
		withBody("createInvite", "POST", "/invites", "Make an invite, by which processes join. Only the answer has its join line.", s.createInvite).returns(201),
		on("revokeInvite", "DELETE", "/invites/{invite}", "Revoke an invite: no process joins by it any more. Those that have joined stay.", s.revokeInvite),
		on("listPeers", "GET", "/peers", "List the processes that are connected or were in the last hour, the latest first.", s.listPeers,
			page(maxPage, param{name: "all", kind: flagParam, doc: "list all that can renew their certificates, and those that were revoked"})...),
		on("revokePeer", "DELETE", "/peers/{peer}", "Revoke a process: its connections and sessions end, its tasks return, and its key never joins again.", s.revokePeer,
			param{name: "with_invite", kind: flagParam, doc: "revoke the invite by which it joined, too"}),
		on("listTokens", "GET", "/tokens", "List the tokens by name, without their secrets.", s.listTokens, page(maxPage)...),
		withBody("createToken", "POST", "/tokens", "Make a token for a program or a person. Only the answer has the secret.", s.createToken).returns(201),
		on("revokeToken", "DELETE", "/tokens/{token}", "Revoke a token, by its name or its id: what it has ends.", s.revokeToken),
		on("getIdentity", "GET", "/identity", "Get the fingerprint and the certificate of the coordinator's CA and, while it changes, of the former one.", s.getIdentity),
		withBody("rotateIdentity", "POST", "/identity", "Make a new CA. That of today is accepted until a time; processes learn the new one when they renew their certificates.", s.rotateIdentity),
		on("listAudit", "GET", "/audit", "List the latest changes that people and programs made, the oldest first.", s.listAudit,
			param{name: "since", kind: numberParam, max: int(maxLife.Seconds()), absent: 3600, doc: "age in seconds of the oldest record"}, limit(1000, maxPage)),
	}
}

// authentication returns what authenticates clients; fault.ErrConflict if nothing does.
func (s *server) authentication() (*auth.Auth, error) {
	if s.Auth == nil {
		return nil, fmt.Errorf("%w: this coordinator does not authenticate its clients; start it with --auth", fault.ErrConflict)
	}
	return s.Auth, nil
}

func (s *server) join(ctx context.Context, q *request, n types.NewJoin) (types.Joined, error) {
	a, err := s.authentication()
	if err != nil {
		return types.Joined{}, err
	}
	return showCertified(a.Join(ctx, q.RemoteAddr, n.Invite, n.Secret, n.Request, n.Name))
}

func (s *server) renew(_ context.Context, q *request, n types.NewRenewal) (types.Joined, error) {
	a, err := s.authentication()
	if err != nil {
		return types.Joined{}, err
	}
	return showCertified(a.Renew(q.Request, n.Request))
}

func showCertified(c auth.Certified, err error) (types.Joined, error) {
	return types.Joined{Peer: c.Peer.ID, Role: c.Peer.Role.String(), Chain: c.Chain, Ends: c.Peer.Ends.UTC()}, err
}

func (s *server) listInvites(ctx context.Context, q *request) (types.Page[types.Invite], error) {
	a, err := s.authentication()
	if err != nil {
		return types.Page[types.Invite]{}, err
	}
	all, err := a.Store.Invites(ctx)
	some := cut(q, all)
	return toPage(some.Items, some.Total, showInvite), err
}

func showInvite(i admission.Invite) types.Invite {
	return types.Invite{
		ID: i.ID, Role: i.Role.String(), Name: i.Name, Service: i.Service, Created: i.Created, Expires: unlessZero(i.Expires),
		Uses: i.Uses, Used: i.Used, Latest: unlessZero(i.Latest),
	}
}

// unlessZero returns a time for JSON, which leaves out nil.
func unlessZero(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (s *server) createInvite(ctx context.Context, _ *request, n types.NewInvite) (types.Invite, error) {
	a, err := s.authentication()
	if err != nil {
		return types.Invite{}, err
	}
	addresses, err := s.JoinAddresses(ctx)
	if err != nil {
		return types.Invite{}, err
	}
	return CreateInvite(ctx, a, n, addresses)
}

// CreateInvite makes an invite, whose join line has the addresses if n has none. A role, a name or an end
// that is not accepted is fault.ErrInvalid.
func CreateInvite(ctx context.Context, a *auth.Auth, n types.NewInvite, addresses []string) (types.Invite, error) {
	role, err := access.ParseRoles(n.Role)
	if err != nil {
		return types.Invite{}, err
	}
	if n.Service && (n.Expires != 0 || n.Uses != 0) {
		return types.Invite{}, fmt.Errorf("%w: an invite of a service has no end and any number of uses; leave out expires_s and uses", fault.ErrInvalid)
	}
	i := admission.Invite{Role: role, Name: n.Name, Service: n.Service, Uses: n.Uses}
	if i.Expires, err = endOf("expires_s", n.Expires, inviteLife); err != nil {
		return types.Invite{}, err
	}
	if n.Service {
		i.Expires = time.Time{}
	}
	if len(n.Addresses) > 0 {
		addresses = n.Addresses
	}
	made, line, err := a.Invite(ctx, i, addresses)
	if err != nil {
		return types.Invite{}, err
	}
	shown := showInvite(made)
	shown.Join = line.Reveal()
	return shown, nil
}

// endOf returns the time at which something ends that lasts so long from now; absent is the life if there is none, 0 for
// none.
func endOf(name string, life models.Seconds, absent time.Duration) (time.Time, error) {
	d, err := seconds(name, life, maxLife)
	if d == 0 {
		d = absent
	}
	if err != nil || d == 0 {
		return time.Time{}, err
	}
	return clock.Now().Add(d).UTC().Truncate(time.Second), nil
}

func (s *server) revokeInvite(ctx context.Context, q *request) (none, error) {
	a, err := s.authentication()
	if err != nil {
		return none{}, err
	}
	return none{}, a.Store.RevokeInvite(ctx, q.text("invite"))
}

func (s *server) listPeers(ctx context.Context, q *request) (types.Page[types.Peer], error) {
	a, err := s.authentication()
	if err != nil {
		return types.Page[types.Peer]{}, err
	}
	some := cut(q, a.Peers(ctx, q.flag("all")))
	return toPage(some.Items, some.Total, showPeer), nil
}

func showPeer(p admission.Peer) types.Peer {
	return types.Peer{ID: p.ID, Role: p.Role.String(), Name: p.Name, Invite: p.Invite, Joined: p.Joined.UTC(), Seen: p.Seen.UTC(), Ends: p.Ends.UTC(), Revoked: p.Revoked}
}

func (s *server) revokePeer(ctx context.Context, q *request) (types.Peer, error) {
	a, err := s.authentication()
	if err != nil {
		return types.Peer{}, err
	}
	p, err := a.RevokePeer(ctx, q.text("peer"), q.flag("with_invite"))
	return showPeer(p), err
}

func (s *server) listTokens(_ context.Context, q *request) (types.Page[types.Token], error) {
	a, err := s.authentication()
	if err != nil {
		return types.Page[types.Token]{}, err
	}
	some := cut(q, a.Store.Tokens())
	return toPage(some.Items, some.Total, showToken), nil
}

func showToken(t admission.Token) types.Token {
	return types.Token{ID: t.ID, Name: t.Name, Roles: t.Roles.Names(), Spaces: t.Spaces, Created: t.Created, Expires: unlessZero(t.Expires)}
}

func (s *server) createToken(ctx context.Context, _ *request, n types.NewToken) (types.Token, error) {
	a, err := s.authentication()
	if err != nil {
		return types.Token{}, err
	}
	roles, err := access.ParseRoles(strings.Join(n.Roles, ","))
	if err != nil {
		return types.Token{}, err
	}
	t := admission.Token{Name: n.Name, Roles: roles, Spaces: slices.Clone(n.Spaces)}
	if t.Expires, err = endOf("expires_s", n.Expires, 0); err != nil {
		return types.Token{}, err
	}
	made, secret, err := a.Store.CreateToken(ctx, t)
	shown := showToken(made)
	shown.Token = secret
	return shown, err
}

func (s *server) revokeToken(ctx context.Context, q *request) (types.Token, error) {
	a, err := s.authentication()
	if err != nil {
		return types.Token{}, err
	}
	t, err := a.RevokeToken(ctx, q.text("token"))
	return showToken(t), err
}

func (s *server) listAudit(ctx context.Context, q *request) (types.Page[types.AuditRecord], error) {
	a, err := s.authentication()
	if err != nil {
		return types.Page[types.AuditRecord]{}, err
	}
	since := a.Now().Add(-time.Duration(q.number("since")) * time.Second)
	records, err := a.Store.Audit(ctx, since, q.number("limit"))
	return toPage(records, len(records), func(r admission.Record) types.AuditRecord {
		return types.AuditRecord{
			At: r.At, Identity: r.Identity.ID, Name: r.Identity.Name, Roles: r.Identity.Roles.Names(), Address: r.Address,
			Action: r.Action, Object: r.Object, Outcome: r.Outcome,
		}
	}), err
}
