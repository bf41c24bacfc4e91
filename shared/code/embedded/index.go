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

	"leasehold/shared/code"
	"leasehold/shared/code/segment"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

// Options are how an index is kept.
type Options struct {
	Compress bool // new segments with S2; see segment.Options
	ReadOnly bool // the folder is not changed, and every method that would fails

	// Keep is how long a blob stays that no generation names; 0: a day.
	Keep time.Duration
	// Depot keeps copies of the files; nil: the folder has them alone. A change that it does not keep fails.
	Depot Depot
	// MaxSegmentText is the most text that merging puts into one segment; 0: 256 MiB.
	MaxSegmentText int64
}

// An Index is a code.Searcher. Run merges its segments.
type Index struct {
	options     Options
	segments    string // folders
	repos       string
	mergeFolder string             // merged segments are written here, and moved to segments
	merge       chan struct{}      // wakes Run; has an element if there may be something to merge
	reached     func(string) error // returns nil; tests replace it to fail at the named step
	now         func() time.Time
	searches    sync.Pool  // *searchMemory
	inventory   *inventory // nil if the index is read-only; guarded by writing
	merging     sync.Mutex // held by the one merge that runs
	writing     sync.Mutex // held by one writer while it makes and installs a view
	mu          sync.Mutex // guards current, and the users and views of its files
	current     *view      // nil if the index is closed
}

// Open opens the index in the folder dir, or makes one. If a file is damaged or does not belong to
// an index, it fails with fault.ErrCorrupt, and names the file and the remedy. After an error no
// file stays mapped. ReadOnly neither makes the folder nor removes leftovers.
func Open(dir string, o Options) (*Index, error) {
	o.Keep, o.MaxSegmentText = cmp.Or(o.Keep, 24*time.Hour), cmp.Or(o.MaxSegmentText, 256<<20)
	x := &Index{options: o, segments: filepath.Join(dir, "segments"), repos: filepath.Join(dir, "repositories"), mergeFolder: filepath.Join(dir, "merging"),
		merge: make(chan struct{}, 1), reached: func(string) error { return nil }, now: time.Now}
	for _, folder := range []string{x.segments, x.repos, x.mergeFolder} {
		if err := x.prepareFolder(folder); err != nil {
			return nil, fmt.Errorf("code index %s: %w", dir, err)
		}
	}
	segments, err := x.openSegments()
	generations, generationsErr := x.openGenerations()
	v := newView(segments, generations)
	if err = errors.Join(err, generationsErr); err == nil {
		err = x.takeInventory(dir, v)
	}
	if err != nil {
		v.eachMapping(func(m *mapping) { _ = m.close() })
		return nil, fmt.Errorf("code index %s: %w", dir, err)
	}
	x.install(v)
	return x, nil
}

// prepareFolder makes a folder and removes the unfinished files that a crash left in it: those
// being written, and in the folder of merges all, because a finished segment moves out of it. For a
// read-only index it only checks that the folder exists.
func (x *Index) prepareFolder(folder string) error {
	if x.options.ReadOnly {
		_, err := os.Stat(folder)
		return err
	}
	if err := platform.MakeFolder(folder, 0o755); err != nil {
		return err
	}
	pattern := "writing-*"
	if folder == x.mergeFolder {
		pattern = "*"
	}
	leftover, err := platform.Glob(folder, pattern)
	for _, path := range leftover {
		err = cmp.Or(err, os.Remove(path))
	}
	return err
}

// openSegments opens the segments that no other one replaces, ordered by time, because
// findBlob takes a blob that several segments have from the first. If a crash left segments
// that were merged, it removes them. With an error it returns the segments that it opened,
// so that its caller closes them.
func (x *Index) openSegments() ([]*openSegment, error) {
	var failed []error
	damaged := map[string]error{}
	replaced := map[string]bool{}
	var all []*openSegment
	for _, path := range x.listFiles(x.segments, segment.Extension, &failed) {
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
		if replaced[segment.Hash(path)] { // its texts are in the merged segment, so the damage does not matter
			err = x.removeReplaced(path)
		}
		failed = append(failed, err)
	}
	return all, errors.Join(failed...)
}

// remedy is what to do about a damaged file of an index.
const remedy = "move the file away and start again; visits index what it had again"

// removeReplaced removes a segment that a crash left after it was merged. If the index is
// read-only, the file stays; openSegments does not return it in any case.
func (x *Index) removeReplaced(path string) error {
	if x.options.ReadOnly {
		return nil
	}
	return os.Remove(path)
}

// openGenerations opens the generations of all repositories. With an error it returns
// those that it opened, so that its caller closes them.
func (x *Index) openGenerations() ([]*generation, error) {
	var failed []error
	var all []*generation
	for _, path := range x.listFiles(x.repos, generationExtension, &failed) {
		g, err := openGeneration(path)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		all = append(all, g)
	}
	return all, errors.Join(failed...)
}

// listFiles returns the paths of the folder's files with this extension, ordered by time of
// change and name. It appends the errors of unreadable entries to failed, and goes on, so that
// all problems are reported at once.
func (x *Index) listFiles(folder, extension string, failed *[]error) []string {
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

// install makes v the view of later searches, or closes the index if v is nil. The files of
// the old view are closed when its last search ends.
func (x *Index) install(v *view) {
	x.mu.Lock()
	defer x.mu.Unlock()
	old := x.current
	if v != nil {
		v.users = 1 // the index itself
		v.eachMapping(func(m *mapping) { m.views++ })
	}
	x.current = v
	if old != nil {
		x.endUse(old)
	}
}

// acquire returns the current view, whose files stay mapped until release is called with it.
func (x *Index) acquire() (*view, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.current == nil {
		return nil, fmt.Errorf("code index: %w", fault.ErrClosed)
	}
	x.current.users++
	return x.current, nil
}

// release ends a use of a view that acquire returned; the last use of a replaced view closes its
// segments.
func (x *Index) release(v *view) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.endUse(v)
}

// endUse ends one use of v. After the last one it closes the files that no other view uses.
// Its caller holds mu.
func (x *Index) endUse(v *view) {
	if v.users--; v.users > 0 {
		return
	}
	v.eachMapping(func(m *mapping) {
		if m.views--; m.views == 0 {
			_ = m.close() // munmap of a mapping that exists does not fail
		}
	})
}

// viewToWrite returns the current view for a writer. The writer holds writing, so no other one
// replaces the view, and it stays open without acquire.
func (x *Index) viewToWrite() (*view, error) {
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

// Missing returns those of ids that no segment has, each once. A skipped blob is in a segment
// too, with its reason, so it is not missing. fault.ErrInvalid: one is not an object id;
// fault.ErrClosed: the index is closed.
func (x *Index) Missing(_ context.Context, ids []code.OID) ([]code.OID, error) {
	v, err := x.acquire()
	if err != nil {
		return nil, err
	}
	defer x.release(v)
	var missing []code.OID
	asked := make(map[code.OID]bool, len(ids))
	for _, id := range ids {
		if err := id.Check(); err != nil {
			return nil, err
		}
		if asked[id] {
			continue
		}
		asked[id] = true
		if _, _, ok := v.findBlob(id); !ok {
			missing = append(missing, id)
		}
	}
	return missing, nil
}
