package models

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
)

// IDPattern is the regular expression of ids.
const IDPattern = `^[A-Za-z0-9._:-]{1,128}$`

var wellFormedID = regexp.MustCompile(IDPattern)

// IDRule is the end of an error about an id: what ValidID accepts. The error wraps fault.ErrInvalid.
const IDRule = "want an id: 1 to 128 of A-Z a-z 0-9 . _ : -"

// NewID derives a stable identifier of 12 lower-case hexadecimal digits from the
// parts that identify a thing, such as an origin and a file's path in it. Equal
// parts give equal ids, so that curating an origin twice changes nothing.
func NewID(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// ValidID reports whether id may name something in a tuple or on a command
// line: 1 to 128 of the characters A-Z a-z 0-9 . _ : -
func ValidID(id string) bool { return wellFormedID.MatchString(id) }
