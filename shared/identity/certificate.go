package identity

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"time"

	"leasehold/shared/fault"
)

// RoleOf returns the role in a certificate; none if it was not issued for a process.
func RoleOf(cert *x509.Certificate) string {
	if units := cert.Subject.OrganizationalUnit; len(units) == 1 {
		return units[0]
	}
	return ""
}

// PeerOf returns the id of the process that a certificate was issued for.
func PeerOf(cert *x509.Certificate) string { return cert.Subject.CommonName }

// Request returns a certificate signing request in DER, which proves that the caller has the key. It names nothing,
// because the coordinator decides about role and id.
func Request(key ed25519.PrivateKey) ([]byte, error) {
	return x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
}

// NewCertificate returns the certificate of a process: its chain in DER, the process's first, and its key. It fails
// with fault.ErrInvalid if the chain cannot be decoded, and with fault.ErrConflict if the certificate has another key.
func NewCertificate(chain [][]byte, key ed25519.PrivateKey) (*tls.Certificate, error) {
	if len(chain) == 0 {
		return nil, fmt.Errorf("a certificate: the chain is empty: %w", fault.ErrInvalid)
	}
	leaf, err := x509.ParseCertificate(chain[0])
	if err != nil {
		return nil, fmt.Errorf("a certificate: %w: %w", fault.ErrInvalid, err)
	}
	if !key.Public().(ed25519.PublicKey).Equal(leaf.PublicKey) {
		return nil, fmt.Errorf("the certificate of %s %q was issued for another key: %w", RoleOf(leaf), PeerOf(leaf), fault.ErrConflict)
	}
	return &tls.Certificate{Certificate: chain, PrivateKey: key, Leaf: leaf}, nil
}

// Renewal returns the time at which to renew a certificate: between 60 % and two thirds of its life. random returns a
// number from 0 up to 1, so that processes that joined together do not renew together.
func Renewal(cert *x509.Certificate, random func() float64) time.Time {
	const earliest, latest = 3.0 / 5, 2.0 / 3
	life := cert.NotAfter.Sub(cert.NotBefore)
	part := latest - random()*(latest-earliest)
	return cert.NotBefore.Add(time.Duration(float64(life) * part))
}
