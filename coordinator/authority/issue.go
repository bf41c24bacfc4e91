package authority

import (
	"cmp"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"slices"
	"strings"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/identity"
)

const (
	maxRequest = 4096 // bytes
	maxPeer    = 64   // characters, the limit of X.509 for a common name
)

// Issue certifies the key of a certificate signing request (identity.Request) for a role and a peer. It returns the
// certificate and the CA's in DER, and when the certificate ends: after life, in whole seconds. It applies from an hour
// ago. While there is a former CA, its certificate for the same key follows with that CA's, and ends not after the CA. A manager's certificate is for clients and servers, others are for clients only. The names and extensions in the
// request do not count. Issue fails with fault.ErrInvalid for a request with a wrong signature or another kind of key,
// a role that does not join, a peer that is not 1 to 64 characters, and a life that is not positive.
func (a *Authority) Issue(csr []byte, role, peer string, life time.Duration) (chain [][]byte, notAfter time.Time, err error) {
	public, err := checkRequest(csr)
	if err != nil {
		return nil, time.Time{}, err
	}
	if !slices.Contains(identity.Roles(), role) {
		return nil, time.Time{}, fmt.Errorf("a certificate for the role %.100q, want %s: %w", role, strings.Join(identity.Roles(), " or "), fault.ErrInvalid)
	}
	if peer == "" || len(peer) > maxPeer {
		return nil, time.Time{}, fmt.Errorf("a certificate for the peer %.100q, want 1 to %d characters: %w", peer, maxPeer, fault.ErrInvalid)
	}
	if life <= 0 {
		return nil, time.Time{}, fmt.Errorf("a certificate for %s, want a positive duration: %w", life, fault.ErrInvalid)
	}
	template, err := template(a.now(), life)
	if err != nil {
		return nil, time.Time{}, err
	}
	template.Subject = pkix.Name{OrganizationalUnit: []string{role}, CommonName: peer}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}
	template.DNSNames = []string{identity.NameOf(role)} // at the port of its metrics
	chain, leaf, err := signByEach(a.accepted(), template, public)
	if err != nil {
		return nil, time.Time{}, err
	}
	return chain, leaf.NotAfter, nil
}

// signByEach returns the chain of a certificate for a key with one of each CA, and the first, which is the current CA's.
func signByEach(cas []*ca, template *x509.Certificate, public crypto.PublicKey) (chain [][]byte, first *x509.Certificate, err error) {
	for _, ca := range cas {
		t := *template
		if !ca.end.IsZero() && ca.end.Before(t.NotAfter) {
			t.NotAfter = ca.end.UTC()
		}
		leaf, err := ca.sign(&t, public)
		if err != nil {
			return nil, nil, err
		}
		chain, first = append(chain, leaf.Raw, ca.cert.Raw), cmp.Or(first, leaf)
	}
	return chain, first, nil
}

// checkRequest returns the public key of a certificate signing request that its owner has signed.
func checkRequest(csr []byte) (ed25519.PublicKey, error) {
	if len(csr) > maxRequest {
		return nil, fmt.Errorf("a certificate signing request of %d bytes, want at most %d: %w", len(csr), maxRequest, fault.ErrInvalid)
	}
	request, err := x509.ParseCertificateRequest(csr)
	if err == nil {
		err = request.CheckSignature()
	}
	if err != nil {
		return nil, fmt.Errorf("a certificate signing request: %w: %w", fault.ErrInvalid, err)
	}
	public, ok := request.PublicKey.(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("a certificate signing request: want an Ed25519 key, not %T: %w", request.PublicKey, fault.ErrInvalid)
	}
	return public, nil
}

// sign signs a certificate for a key.
func (c *ca) sign(template *x509.Certificate, public crypto.PublicKey) (*x509.Certificate, error) {
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.BasicConstraintsValid = true // a leaf states that it is not a CA
	der, err := x509.CreateCertificate(rand.Reader, template, c.cert, public, c.key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}
