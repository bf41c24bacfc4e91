package fingerprint

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// kept is one file of the Store.
type kept struct {
	path  string
	bytes int64
	used  int64 // nanoseconds
}

// evict removes sounds, then landmarks, then segments, the least recently used first, until the
// rest is within the limit. Segments are last, because they alone suffice for a search. It spares
// the files whose path begins with but, which were just put. The caller holds mu. Files that are
// being written count neither as kept nor as total.
func (s *Store) evict(but string) error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	var all []kept
	total := int64(0)
	for _, entry := range entries {
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && strings.HasPrefix(entry.Name(), partPrefix) {
			continue // evicted meanwhile, or a file that another goroutine is writing
		}
		if err != nil {
			return err
		}
		total += info.Size()
		all = append(all, kept{filepath.Join(s.dir, entry.Name()), info.Size(), info.ModTime().UnixNano()})
	}
	slices.SortFunc(all, func(a, b kept) int {
		return cmp.Or(cmp.Compare(rank(a.path), rank(b.path)), cmp.Compare(a.used, b.used), cmp.Compare(a.path, b.path))
	})
	for _, k := range all {
		if total <= s.max {
			return nil
		}
		if strings.HasPrefix(k.path, but) {
			continue
		}
		if err := os.Remove(k.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		total -= k.bytes
	}
	return nil
}

// rank returns the place of a file in the order of eviction, by its ending: the lowest is removed
// first.
func rank(path string) int {
	return slices.Index([]string{soundSuffix, marksSuffix, segmentSuffix}, filepath.Ext(path))
}
