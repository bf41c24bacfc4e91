package gitrepo

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// diskUsage returns the bytes of the files below a folder. A file that disappears
// meanwhile does not count.
func diskUsage(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return total
}

// makeSpace removes the mirrors that were not used for the longest time, until all together take
// at most TotalBytes. It keeps those in use, and the one with the id keep, so they may take more.
// Errors are ignored, because the fetch that follows reports a folder that cannot be changed.
func (s *Store) makeSpace(keep string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return
	}
	type mirror struct {
		id    string
		used  time.Time
		bytes int64
	}
	var all []mirror
	var total int64
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), mirrorSuffix)
		info, err := e.Info()
		if !ok || err != nil || !e.IsDir() {
			continue
		}
		m := mirror{id, info.ModTime(), diskUsage(filepath.Join(s.Dir, e.Name()))}
		total += m.bytes
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b mirror) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.id, b.id)) })
	for _, m := range all {
		if total <= s.TotalBytes {
			return
		}
		if m.id == keep || s.inUse[m.id] > 0 {
			continue
		}
		if s.removeLocked(m.id) == nil {
			total -= m.bytes
		}
	}
}
