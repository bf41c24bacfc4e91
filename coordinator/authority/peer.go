package authority

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/identity"
)

// Peer returns who is at the other end of a connection by its client certificate. Without a certificate the role and
// the error are empty. expired reports whether the certificate does not apply at now: such a peer may only
// renew it. A certificate of another CA is fault.ErrUnauthenticated. Peer verifies a signature (about 50 µs), so call
// it once for each connection.
func (a *Authority) Peer(state tls.ConnectionState, now time.Time) (role, peer string, expired bool, err error) {
	if len(state.PeerCertificates) == 0 {
		return "", "", false, nil
	}
	leaf := state.PeerCertificates[0]
	if err := a.verifyPeer(leaf); err != nil {
		return "", "", false, err
	}
	return identity.RoleOf(leaf), identity.PeerOf(leaf), now.Before(leaf.NotBefore) || now.After(leaf.NotAfter), nil
}

// verifyPeer checks that a CA that is accepted has issued a certificate to a process that joined. Its dates do not count
// here, because a peer renews its certificate with an expired one. Other certificates in the chain do not count either:
// the first one is of the CA that was current when it was issued.
func (a *Authority) verifyPeer(leaf *x509.Certificate) error {
	err := error(nil)
	for _, ca := range a.accepted() {
		if err = leaf.CheckSignatureFrom(ca.cert); err == nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("the certificate of %s %.100q is of another coordinator, want one of the CA %s: %w: %w",
			identity.RoleOf(leaf), identity.PeerOf(leaf), a.Fingerprint(), fault.ErrUnauthenticated, err)
	}
	if !slices.Contains(identity.Roles(), identity.RoleOf(leaf)) || !slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageClientAuth) {
		return fmt.Errorf("the certificate for the role %.100q is not one for clients: %w", identity.RoleOf(leaf), fault.ErrUnauthenticated)
	}
	return nil
}
