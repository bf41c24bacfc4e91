package api

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/idempotency"
	"leasehold/shared/space"
)

// keyHeader is the header with the idempotency key of a request.
const keyHeader = "Idempotency-Key"

var keyDoc = fmt.Sprintf("1 to %d characters, such as a UUID. If a request is repeated with its key within %v, it has no second effect, and the answer is the first one; another request with that key is refused (key_reused). At most %d keys are kept",
	idempotency.MaxKey, idempotency.TTL, idempotency.MaxKeys)

// idempotent returns repo, or if the request has an idempotency key, a view of it whose calls
// happen once. A handler calls it at most once, because the calls of a request are numbered.
func (q *request) idempotent(repo space.Repository) space.Repository {
	if q.key == "" {
		return repo
	}
	q.keyed = &idempotency.Keyed{Repository: repo, Key: q.key, Fingerprint: q.fingerprint}
	return q.keyed
}

// readKey reads the idempotency key of a request, and computes the fingerprint of the request from its method,
// its address and its body, which must be in memory; a route without a body has an empty one. Both stay empty
// without a key.
func (q *request) readKey(r *http.Request) error {
	if len(r.Header.Values(keyHeader)) == 0 {
		return nil
	}
	key := r.Header.Get(keyHeader)
	if isHidden := func(c rune) bool { return c <= ' ' || c > '~' }; key == "" || len(key) > idempotency.MaxKey || strings.ContainsFunc(key, isHidden) {
		return fmt.Errorf("%s %.64q: %w: want 1 to %d visible characters of ASCII", keyHeader, key, fault.ErrInvalid, idempotency.MaxKey)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %s\n", r.Method, r.URL.RequestURI())
	if body, ok := r.Body.(*bodyInMemory); ok {
		_, _ = h.Write(body.data) // a hash never fails
	}
	q.key, q.fingerprint = key, hex.EncodeToString(h.Sum(nil))
	return nil
}

// bodyInMemory is a body that was read.
type bodyInMemory struct {
	io.Reader
	data []byte
}

// Close does nothing.
func (*bodyInMemory) Close() error { return nil }
