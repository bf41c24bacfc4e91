package fetch

import (
	"regexp"
)

// HashPrefix begins every hash.
const HashPrefix = "sha256:"

var wellFormedHash = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// File is a fetched file. It stays where it is until it is closed; its reader
// must not change it. Path has no extension to go by when it lies in the cache.
type File struct {
	Path  string
	Hash  string // "sha256:" and 64 hex digits
	Bytes int64

	release func() // nil for local files
}

// Close lets the cache evict the file. It may be called more than once, on
// copies too, and never fails; the error is there for io.Closer.
func (f File) Close() error {
	if f.release != nil {
		f.release()
	}
	return nil
}
