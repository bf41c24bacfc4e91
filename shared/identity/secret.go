package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"io"
	"log/slog"
)

// size is the length of secrets and fingerprints in bytes: 160 bits, which are 32 characters in base32 without padding.
const size = 20

// textLength is the length of a secret or a fingerprint as text, in characters.
const textLength = size * 8 / 5

// redacted is printed in place of a secret.
const redacted = "(secret)"

var encoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Secret is the secret of an invite, of 160 bits. Package fmt and loggers print "(secret)" for it; only Reveal returns it.
type Secret struct {
	// A pointer, because fmt cannot call Format for values in unexported fields of other structs. It prints the address then.
	bytes *[size]byte
}

// NewSecret returns a random secret.
func NewSecret() Secret {
	var b [size]byte
	_, _ = rand.Read(b[:]) // it never fails
	return Secret{&b}
}

// ParseSecret reads what Reveal returns. It fails with fault.ErrInvalid.
func ParseSecret(text string) (Secret, error) {
	b, err := parse160("secret", text)
	if err != nil {
		return Secret{}, err
	}
	return Secret{&b}, nil
}

// Reveal returns the secret as 32 characters of lower-case base32; none for the zero Secret.
func (s Secret) Reveal() string {
	if s.bytes == nil {
		return ""
	}
	return encoding.EncodeToString(s.bytes[:])
}

// Sum returns the SHA-256 of the secret, which a coordinator stores in place of the secret.
func (s Secret) Sum() [sha256.Size]byte {
	if s.bytes == nil {
		return sha256.Sum256(nil)
	}
	return sha256.Sum256(s.bytes[:])
}

// Format prints "(secret)", for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue returns "(secret)".
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
