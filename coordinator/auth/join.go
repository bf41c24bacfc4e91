package auth

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"fmt"
	"net/http"

	"leasehold/coordinator/admission"
	"leasehold/shared/fault"
	"leasehold/shared/identity"
)

// Certified is a certificate that a process gets.
type Certified struct {
	Peer  admission.Peer
	Chain [][]byte // DER: the certificate, and the CA's
}

// Invite makes an invite, and returns it with its join line. The line has the addresses and,
// while the CA changes, both CAs.
func (a *Auth) Invite(ctx context.Context, i admission.Invite, addresses []string) (admission.Invite, identity.Line, error) {
	line := identity.Line{Role: i.Role.String(), ID: identity.NewID(), CA: a.Authority.Fingerprint(), Secret: identity.NewSecret(), Addresses: addresses}
	line.Former, line.FormerEnd = a.Authority.Former()
	i.ID = line.ID
	i, err := a.Store.CreateInvite(ctx, i, line.Secret.Reveal())
	return i, line, err
}

// Join admits a process at an address by its invite, and certifies the key of its request (identity.Request).
func (a *Auth) Join(ctx context.Context, remote, invite, secret string, csr []byte, name string) (Certified, error) {
	key, err := keyOf(csr)
	if err != nil {
		return Certified{}, err
	}
	peer, err := a.Store.Join(ctx, invite, secret, key, name, a.Now().Add(Life))
	if err != nil {
		return Certified{}, a.guesses.check(remote, err)
	}
	a.Log.Info("auth: a process has joined", "peer", peer.ID, "role", peer.Role, "name", peer.Name, "invite", peer.Invite)
	return a.certify(peer, csr)
}

// Renew certifies the key of a process again, whose certificate the connection of the request has presented. It may
// have ended, but the request must be for the same key.
func (a *Auth) Renew(r *http.Request, csr []byte) (Certified, error) {
	p := proofOf(r.Context())
	switch key, err := keyOf(csr); {
	case err != nil:
		return Certified{}, err
	case p.err != nil:
		return Certified{}, p.err
	case p.peer == "":
		return Certified{}, fmt.Errorf("%w: the connection has no certificate to renew; join again", fault.ErrUnauthenticated)
	case admission.PeerID(key) != p.peer:
		return Certified{}, fmt.Errorf("%w: the request is for another key than that of %s", fault.ErrForbidden, p.peer)
	}
	peer, err := a.Store.Renew(r.Context(), p.peer, a.Now().Add(Life))
	if err != nil {
		return Certified{}, err
	}
	return a.certify(peer, csr)
}

func (a *Auth) certify(peer admission.Peer, csr []byte) (Certified, error) {
	chain, ends, err := a.Authority.Issue(csr, peer.Role.String(), peer.ID, Life)
	peer.Ends = ends
	return Certified{peer, chain}, err
}

// keyOf returns the public key of a certificate signing request, after its signature was checked: the sender has the key.
func keyOf(csr []byte) (ed25519.PublicKey, error) {
	request, err := x509.ParseCertificateRequest(csr)
	if err == nil {
		err = request.CheckSignature()
	}
	if err != nil {
		return nil, fmt.Errorf("certificate request: %w: %w", fault.ErrInvalid, err)
	}
	key, ok := request.PublicKey.(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("certificate request: %w: want an Ed25519 key", fault.ErrInvalid)
	}
	return key, nil
}

// RevokePeer revokes a peer, and ends what it has.
func (a *Auth) RevokePeer(ctx context.Context, id string, withInvite bool) (admission.Peer, error) {
	p, err := a.Store.RevokePeer(ctx, id, withInvite)
	if err == nil {
		a.ended(p.ID)
	}
	return p, err
}

// RevokeToken revokes a token, and ends what it has.
func (a *Auth) RevokeToken(ctx context.Context, name string) (admission.Token, error) {
	t, err := a.Store.RevokeToken(ctx, name)
	if err == nil {
		a.ended(t.ID)
	}
	return t, err
}
