package store

import (
	"leasehold/models"
	"leasehold/shared/process/wording"
)

// PostgreSQL refuses texts with NUL or invalid UTF-8, and indexes none of more than 2,700 bytes. Feeds, servers and
// workers may send both, and one recording that cannot be stored would stop all others of its origin. So texts are
// made storable before anything is done with them, and bounded if an index has them.

const (
	// maxTitle is how many bytes of a title are kept, because episodes are listed in its order.
	maxTitle = 1000
	// maxHash is how long a hash may be; "sha256:" and 64 digits are shorter.
	maxHash = 200
)

// storable makes the texts of a listed recording storable.
func storable(r *models.Recording) {
	m := &r.Media
	for _, text := range []*string{&r.Name, &r.Title, &m.URI, &m.Type, &m.Version} {
		*text = wording.Storable(*text)
	}
	if len(r.Title) > maxTitle {
		r.Title = wording.Storable(r.Title[:maxTitle-2]) // half a character at the end becomes one of three bytes
	}
	m.Hash = storableHash(m.Hash)
}

// storableHash returns a hash, or "" for one that cannot be stored.
func storableHash(hash string) string {
	if len(hash) > maxHash || !wording.IsStorable(hash) {
		return ""
	}
	return hash
}

// shown returns a text for people, without the users and passwords of URLs.
func shown(text string) string { return wording.Storable(models.Redact(text)) }
