package authority

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"time"

	"leasehold/shared/identity"
)

// backdating is how long before its issue a certificate applies, for clocks that are behind.
const backdating = time.Hour

// lifeOfCA is 20 years.
const lifeOfCA = 20 * 365 * 24 * time.Hour

// Authority is an open certificate authority. Its methods are safe for concurrent use.
type Authority struct {
	key  crypto.Signer
	cert *x509.Certificate
	now  func() time.Time
}

// Fingerprint returns the fingerprint of the CA, as in join lines.
func (a *Authority) Fingerprint() identity.Fingerprint { return identity.FingerprintOf(a.cert) }

// CertificatePEM returns the certificate of the CA in PEM, for clients that verify names.
func (a *Authority) CertificatePEM() []byte { return encodeCertificate(a.cert.Raw) }

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// newCA returns a new key of a CA, in PKCS #8, and its certificate, both in DER. The key is P-256, because browsers do not
// accept Ed25519 signatures in certificates: Chromium shows ERR_CERT_INVALID, past which a user cannot go, and
// ERR_CERT_AUTHORITY_INVALID for P-256, past which one can.
func newCA(now time.Time) (key, cert []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	key, err = x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	template, err := template(now, lifeOfCA)
	if err != nil {
		return nil, nil, err
	}
	// The subject has a random part, because clients that trust several CAs tell them apart by it.
	template.Subject = pkix.Name{CommonName: "leasehold CA " + identity.NewID()}
	template.IsCA, template.BasicConstraintsValid, template.MaxPathLenZero = true, true, true
	template.KeyUsage = x509.KeyUsageCertSign
	cert, err = x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	return key, cert, err
}

// template returns the part that all certificates have: a random serial number, and when they apply.
func template(now time.Time, life time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{SerialNumber: serial, NotBefore: now.Add(-backdating).UTC(), NotAfter: now.Add(life).UTC()}, nil
}
