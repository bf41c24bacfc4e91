package fetch

import (
	"regexp"
)

// hashPrefix is the prefix of every hash.
const hashPrefix = "sha256:"

var wellFormedHash = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// File is a fetched file. It keeps its path until it is closed, and must not be changed.
// Path has no extension if the file is in the cache.
type File struct {
	Path  string
	Hash  string // "sha256:" and 64 hex digits
	Bytes int64

	release func() // nil for local files
}

// Close allows the cache to evict the file. It may be called repeatedly, also on copies. The
// error is always nil; File is an io.Closer.
func (f File) Close() error {
	if f.release != nil {
		f.release()
	}
	return nil
}
