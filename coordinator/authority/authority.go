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
	"sync"
	"time"

	"leasehold/shared/identity"
)

// backdating is how long before its issue a certificate applies, for clocks that are behind.
const backdating = time.Hour

// lifeOfCA is 20 years.
const lifeOfCA = 20 * 365 * 24 * time.Hour

// Authority is an open certificate authority. Its methods are safe for concurrent use.
//
// While it changes its CA (Rotate), it has two: the current one and the former one, which is accepted until its end. Each
// certificate that it issues for processes, and its own for them, is then two for the same key, one of each CA, so that
// it does not matter which of the CAs the other side knows.
type Authority struct {
	dir    string
	now    func() time.Time
	untidy bool // the files have more than what is in cas

	mu  sync.Mutex // guards cas, and the files
	cas []*ca      // the current one, and the former one if there is one; the slice is replaced, not changed
}

// ca is a key with its certificate.
type ca struct {
	key  crypto.Signer
	cert *x509.Certificate
	end  time.Time // until which it is accepted; zero: it is the current one
}

// accepted returns the CAs that are accepted now, the current one first.
func (a *Authority) accepted() []*ca {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.cas) > 1 && !a.now().Before(a.cas[1].end) {
		return a.cas[:1]
	}
	return a.cas
}

// Fingerprint returns the fingerprint of the CA, as in join lines.
func (a *Authority) Fingerprint() identity.Fingerprint {
	return identity.FingerprintOf(a.accepted()[0].cert)
}

// Created returns when the CA was made, in whole seconds. Join lines from before do not name it.
func (a *Authority) Created() time.Time { return a.accepted()[0].cert.NotBefore.Add(backdating) }

// Former returns the fingerprint of the CA from before the latest change, and until when it is accepted, in whole
// seconds; the zero time if there is none any more.
func (a *Authority) Former() (f identity.Fingerprint, end time.Time) {
	if all := a.accepted(); len(all) > 1 {
		return identity.FingerprintOf(all[1].cert), all[1].end
	}
	return f, end
}

// CertificatePEM returns the certificates of the CAs that are accepted in PEM, for clients that verify names.
func (a *Authority) CertificatePEM() (all []byte) {
	for _, ca := range a.accepted() {
		all = append(all, encodeCertificate(ca.cert.Raw)...)
	}
	return all
}

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
