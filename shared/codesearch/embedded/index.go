package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"leasehold/shared/codesearch"
	"leasehold/shared/codesearch/segment"
	"leasehold/shared/fault"
)

// Options are how an index is kept.
type Options struct {
	Compress bool // new segments with S2; see segment.Options
	ReadOnly bool // the folder is not changed, and every method that would fails

	// Keep is how long a blob stays that no generation names; 0: a day.
	Keep time.Duration
	// MaxSegmentText is the most text that merging puts into one segment; 0: 256 MiB.
	MaxSegmentText int64
}

// An Index is a codesearch.Searcher. Run merges its segments.
type Index struct {
	options     Options
	segments    string // folders
	repos       string
	mergeFolder string             // merged segments are written here, and moved to segments
	merge       chan struct{}      // has an element if there may be something to merge
	reached     func(string) error // tests stop at the points that it is called with
	now         func() time.Time
	searches    sync.Pool  // *searchMemory
	merging     sync.Mutex // held by the one merge that runs
	writing     sync.Mutex // held by one writer while it makes and installs a view
	mu          sync.Mutex // guards current, and the users and views of its files
	current     *view      // nil: closed
}

// Open opens the index in the folder dir, or makes one. If a file is damaged or not of an
// index, the error is fault.ErrCorrupt, and names it and the remedy.
func Open(dir string, o Options) (*Index, error) {
	o.Keep, o.MaxSegmentText = cmp.Or(o.Keep, 24*time.Hour), cmp.Or(o.MaxSegmentText, 256<<20)
	x := &Index{options: o, segments: filepath.Join(dir, "segments"), repos: filepath.Join(dir, "repositories"), mergeFolder: filepath.Join(dir, "merging"),
		merge: make(chan struct{}, 1), reached: func(string) error { return nil }, now: time.Now}
	for _, folder := range []string{x.segments, x.repos, x.mergeFolder} {
		if err := x.prepare(folder); err != nil {
			return nil, fmt.Errorf("code index %s: %w", dir, err)
		}
	}
	segments, err := x.openSegments()
	generations, err2 := x.openGenerations()
	v := newView(segments, generations)
	if err := errors.Join(err, err2); err != nil {
		v.mappings(func(m *mapping) { _ = m.close() })
		return nil, fmt.Errorf("code index %s: %w", dir, err)
	}
	x.install(v)
	return x, nil
}

// prepare makes a folder and removes what a crash left in it.
func (x *Index) prepare(folder string) error {
	if x.options.ReadOnly {
		_, err := os.Stat(folder)
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	pattern := "writing-*"
	if folder == x.mergeFolder {
		pattern = "*" // none of these was installed
	}
	left, err := filepath.Glob(filepath.Join(folder, pattern))
	for _, path := range left {
		err = cmp.Or(err, os.Remove(path))
	}
	return err
}

// openSegments opens all segments that were not merged, ordered by time: a blob that
// several have is that of the first.
func (x *Index) openSegments() ([]*openSegment, error) {
	var failed []error
	damaged := map[string]error{}
	replaced := map[string]bool{}
	var all []*openSegment
	for _, path := range x.list(x.segments, segment.Extension, &failed) {
		s, err := segment.Open(path)
		if err != nil {
			damaged[path] = fmt.Errorf("%w: %s", err, remedy)
			continue
		}
		all = append(all, newOpenSegment(s, path))
		for _, hash := range s.Replaces() {
			replaced[hash] = true
		}
	}
	all = slices.DeleteFunc(all, func(s *openSegment) bool {
		if !replaced[segment.Hash(s.path)] {
			return false
		}
		if err := s.Close(); err != nil {
			failed = append(failed, err)
		}
		failed = append(failed, x.removeReplaced(s.path))
		return true
	})
	for path, err := range damaged {
		if replaced[segment.Hash(path)] {
			err = x.removeReplaced(path) // its texts are in the segment that replaces it
		}
		failed = append(failed, err)
	}
	return all, errors.Join(failed...)
}

// remedy is what to do about a damaged file of an index.
const remedy = "move the file away and start again; visits index what it had again"

// removeReplaced removes a segment that a crash left after it was merged.
func (x *Index) removeReplaced(path string) error {
	if x.options.ReadOnly {
		return nil
	}
	return os.Remove(path)
}

func (x *Index) openGenerations() ([]*generation, error) {
	var failed []error
	var all []*generation
	for _, path := range x.list(x.repos, generationExtension, &failed) {
		g, err := openGeneration(path)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		all = append(all, g)
	}
	return all, errors.Join(failed...)
}

// list returns the paths of files, ordered by time of change and name.
func (x *Index) list(folder, extension string, failed *[]error) []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		*failed = append(*failed, err)
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), extension) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			*failed = append(*failed, err)
			continue
		}
		files = append(files, info)
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	var paths []string
	for _, f := range files {
		paths = append(paths, filepath.Join(folder, f.Name()))
	}
	return paths
}

// Close unmaps all files once the searches that run have ended. Later calls return
// fault.ErrClosed.
func (x *Index) Close() error {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.install(nil)
	return nil
}

// install makes v the view of later searches.
func (x *Index) install(v *view) {
	x.mu.Lock()
	defer x.mu.Unlock()
	old := x.current
	if v != nil {
		v.users = 1
		v.mappings(func(m *mapping) { m.views++ })
	}
	x.current = v
	if old != nil {
		x.dismiss(old)
	}
}

// acquire returns the current view; release ends its use.
func (x *Index) acquire() (*view, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.current == nil {
		return nil, fmt.Errorf("code index: %w", fault.ErrClosed)
	}
	x.current.users++
	return x.current, nil
}

func (x *Index) release(v *view) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.dismiss(v)
}

// dismiss ends one use of v; its caller holds mu.
func (x *Index) dismiss(v *view) {
	if v.users--; v.users > 0 {
		return
	}
	v.mappings(func(m *mapping) {
		if m.views--; m.views == 0 {
			_ = m.close() // munmap of a mapping that exists does not fail
		}
	})
}

// writable returns the current view for a writer, which holds writing.
func (x *Index) writable() (*view, error) {
	if x.options.ReadOnly {
		return nil, fmt.Errorf("code index: opened for reading only: %w", fault.ErrForbidden)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.current == nil {
		return nil, fmt.Errorf("code index: %w", fault.ErrClosed)
	}
	return x.current, nil
}

// Missing returns those of ids that no segment has.
func (x *Index) Missing(_ context.Context, ids []codesearch.OID) ([]codesearch.OID, error) {
	v, err := x.acquire()
	if err != nil {
		return nil, err
	}
	defer x.release(v)
	var missing []codesearch.OID
	asked := make(map[codesearch.OID]bool, len(ids))
	for _, id := range ids {
		if err := id.Check(); err != nil {
			return nil, err
		}
		if asked[id] {
			continue
		}
		asked[id] = true
		if _, _, ok := v.find(id); !ok {
			missing = append(missing, id)
		}
	}
	return missing, nil
}
