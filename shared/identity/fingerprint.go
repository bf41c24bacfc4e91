package identity

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"fmt"

	"leasehold/shared/fault"
)

// Fingerprint identifies a CA: the SHA-256 of its public key (the SubjectPublicKeyInfo in DER), shortened to 160 bits.
type Fingerprint [size]byte

// FingerprintOf returns the fingerprint of the key that a certificate certifies.
func FingerprintOf(cert *x509.Certificate) Fingerprint {
	sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
	return Fingerprint(sum[:size])
}

// ParseFingerprint reads what String returns. It fails with fault.ErrInvalid.
func ParseFingerprint(text string) (Fingerprint, error) {
	b, err := parse160("fingerprint of the CA", text)
	return b, err
}

// String returns the fingerprint as 32 characters of lower-case base32.
func (f Fingerprint) String() string { return encoding.EncodeToString(f[:]) }

// equal compares in constant time.
func (f Fingerprint) equal(other Fingerprint) bool {
	return subtle.ConstantTimeCompare(f[:], other[:]) == 1
}

// parse160 decodes 32 characters of base32. The error names what is decoded, and does not contain the text, because
// that may be a secret.
func parse160(what, text string) (b [size]byte, err error) {
	if len(text) != textLength {
		return b, fmt.Errorf("the %s has %d characters, want %d: %w", what, len(text), textLength, fault.ErrInvalid)
	}
	if err := checkCharacters(what, text); err != nil {
		return b, err
	}
	_, err = encoding.Decode(b[:], []byte(text))
	return b, err
}

// checkCharacters refuses text with other characters than those of lower-case base32.
func checkCharacters(what, text string) error {
	for i := range len(text) {
		if c := text[i]; !('a' <= c && c <= 'z' || '2' <= c && c <= '7') {
			return fmt.Errorf("character %d of the %s is wrong, want only a to z and 2 to 7: %w", i+1, what, fault.ErrInvalid)
		}
	}
	return nil
}
