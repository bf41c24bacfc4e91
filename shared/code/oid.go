package code

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"

	"leasehold/shared/fault"
)

// OID is the hash of a blob as git computes it: 40 lower-case hexadecimal digits in a
// SHA-1 repository, 64 in a SHA-256 repository.
type OID string

// OIDOf returns the SHA-1 object id that git gives to a blob with this content.
func OIDOf(content []byte) OID { return hashOf(sha1.New(), content) }

// OIDLike returns the object id of a blob with this content, by the hash that o was made
// with: SHA-256 if o has 64 digits, otherwise SHA-1.
func OIDLike(o OID, content []byte) OID {
	if len(o) == 2*sha256.Size {
		return hashOf(sha256.New(), content)
	}
	return OIDOf(content)
}

// hashOf returns the id that git gives a blob with this content, by the hash function h.
func hashOf(h hash.Hash, content []byte) OID {
	h.Write([]byte("blob " + strconv.Itoa(len(content)) + "\x00"))
	h.Write(content)
	return OID(hex.EncodeToString(h.Sum(nil)))
}

// Check returns fault.ErrInvalid if o is not an object id: 40 (SHA-1) or 64 (SHA-256) hexadecimal
// digits in lower case. So it is safe as a part of a file name.
func (o OID) Check() error {
	if len(o) == 2*sha1.Size || len(o) == 2*sha256.Size {
		valid := true
		for i := range len(o) {
			valid = valid && (o[i] >= '0' && o[i] <= '9' || o[i] >= 'a' && o[i] <= 'f')
		}
		if valid {
			return nil
		}
	}
	return fmt.Errorf("object id %.80q: want 40 or 64 lower-case hexadecimal digits: %w", string(o), fault.ErrInvalid)
}
