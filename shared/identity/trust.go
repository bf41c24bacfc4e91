package identity

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"slices"
	"strings"
	"time"
)

// CAs are the fingerprints of the CAs that a client trusts, any one of them: one, or two while its coordinator changes
// its CA.
type CAs []Fingerprint

// Has reports whether a CA is one of them.
func (c CAs) Has(f Fingerprint) bool { return slices.ContainsFunc(c, f.equal) }

// Meet reports whether one CA is in both.
func (c CAs) Meet(other CAs) bool { return slices.ContainsFunc(c, other.Has) }

// String returns the fingerprints, separated by commas, as ParseCA reads them.
func (c CAs) String() string {
	texts := make([]string, len(c))
	for i, f := range c {
		texts[i] = f.String()
	}
	return strings.Join(texts, ",")
}

// maxChain bounds the certificates of a chain that are looked at: of two CAs, and one that each has certified, and some
// that others have added.
const maxChain = 8

// IssuersOf returns the CAs in the chain of a process's certificate that the process may trust. While a coordinator
// changes its CA, the chain has a certificate of each CA for the same key, the one of the new CA first. The former CA
// counts until its certificate ends, which is not after the end of that CA.
func IssuersOf(c *tls.Certificate, now time.Time) (cas CAs) {
	if c == nil {
		return nil
	}
	var leaf *x509.Certificate
	for _, der := range c.Certificate[:min(len(c.Certificate), maxChain)] {
		cert, err := x509.ParseCertificate(der)
		switch {
		case err != nil:
			return cas
		case !cert.IsCA:
			leaf = cert
		case len(cas) == 0 || leaf != nil && now.Before(leaf.NotAfter):
			cas = append(cas, FingerprintOf(cert))
		}
	}
	return cas
}

// certified returns the certificates in a chain that a CA has signed for the key of the first one, and so for the other
// side of the connection.
func certified(chain []*x509.Certificate, ca *x509.Certificate) (leaves []*x509.Certificate) {
	for _, c := range chain {
		if bytes.Equal(c.RawSubjectPublicKeyInfo, chain[0].RawSubjectPublicKeyInfo) && c.CheckSignatureFrom(ca) == nil {
			leaves = append(leaves, c)
		}
	}
	return leaves
}
