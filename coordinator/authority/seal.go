package authority

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"

	"leasehold/shared/fault"
)

// SealingKey encrypts the CA's key where others than its coordinators can read it. Package fmt and loggers do not print it.
type SealingKey struct{ bytes [32]byte }

// NewSealingKey returns a random key.
func NewSealingKey() (k SealingKey) {
	_, _ = rand.Read(k.bytes[:]) // it never fails
	return k
}

// ParseSealingKey reads a key of 64 hexadecimal digits, as Reveal returns it. It fails with fault.ErrInvalid; the error
// does not contain the text.
func ParseSealingKey(text string) (k SealingKey, err error) {
	n, err := hex.Decode(k.bytes[:], []byte(text[:min(len(text), 2*len(k.bytes))]))
	if err != nil || n != len(k.bytes) || len(text) != 2*len(k.bytes) {
		return SealingKey{}, fmt.Errorf("an identity key of %d characters, want %d hexadecimal digits, as `leasehold identity key` prints them: %w", len(text), 2*len(k.bytes), fault.ErrInvalid)
	}
	return k, nil
}

// Reveal returns the key as ParseSealingKey reads it.
func (k SealingKey) Reveal() string { return hex.EncodeToString(k.bytes[:]) }

// Format prints a text in place of the key, for every verb.
func (k SealingKey) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "(secret)") }

// LogValue returns a text in place of the key.
func (k SealingKey) LogValue() slog.Value { return slog.StringValue("(secret)") }

// Seal encrypts data by AES-256-GCM. It can be unsealed only with the same key and the same realm.
func (k SealingKey) Seal(realm string, data []byte) ([]byte, error) {
	aead, err := k.aead()
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize())
	_, _ = rand.Read(nonce) // it never fails
	return aead.Seal(nonce, nonce, data, []byte(realm)), nil
}

// Unseal decrypts what Seal has returned. It fails with fault.ErrUnauthenticated for another key, for another realm,
// and for damaged data, because these three look the same.
func (k SealingKey) Unseal(realm string, sealed []byte) ([]byte, error) {
	aead, err := k.aead()
	if err != nil {
		return nil, err
	}
	if len(sealed) < aead.NonceSize() {
		return nil, fmt.Errorf("%w: the encrypted CA key has only %d bytes", fault.ErrCorrupt, len(sealed))
	}
	nonce, data := sealed[:aead.NonceSize()], sealed[aead.NonceSize():]
	plain, err := aead.Open(nil, nonce, data, []byte(realm))
	if err != nil {
		return nil, fmt.Errorf("%w: the CA's key of realm %s was encrypted with another identity key, or is damaged", fault.ErrUnauthenticated, realm)
	}
	return plain, nil
}

func (k SealingKey) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k.bytes[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
