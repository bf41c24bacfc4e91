package fingerprint

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"leasehold/shared/clips/inverted"
	"leasehold/shared/clips/landmark"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

const (
	segmentSuffix = ".segment"
	// segmentBytes is the size of the entries that make a segment: 32 hours. A larger segment has
	// longer lists and so fewer pages to read for a clip; the entries that are in none yet take 10 ms
	// an hour in each search.
	segmentBytes = 64 << 20
)

// Known is an episode whose landmarks the Store has.
type Known struct {
	Samples int
	Broken  bool // the recording breaks off or is damaged
	// Landmarks yields those with a hash of the set that Search was called with, in the order of
	// time. Its argument must be that set. It ends after an error.
	Landmarks func(landmark.Hashes) iter.Seq2[landmark.Landmark, error]
}

// archive is the segments of a Store: an inverted index over the landmarks of its episodes.
type archive struct {
	mu    sync.Mutex // guards the fields below, and is held while a segment is built
	open  map[string]*inverted.Segment
	fresh int64 // bytes of entries that were put since a segment was built
	limit int64 // bytes of entries that make a segment
}

// Search calls use with each of the episodes that the Store knows, by its number in keys, and
// returns the numbers of the others, ascending; use is called in any order. It reads the segments'
// lists of the hashes in some, or the entry of an episode in no segment or in one that has too many
// of these hashes (inverted.Segment.Broad). A Known is valid until use returns. A damaged segment
// is removed, and damaged is called with its error; the next Search builds it again. An error of
// use ends the search. Memory is bounded by package inverted, for one segment at a time.
func (s *Store) Search(keys []string, some landmark.Hashes, damaged func(error), use func(i int, e Known) error) (unknown []int, err error) {
	wanted := map[[inverted.NameBytes]byte][]int{}
	for i, key := range keys {
		wanted[nameOf(key)] = append(wanted[nameOf(key)], i)
	}
	segments, err := s.segments(damaged)
	if err != nil {
		return nil, fmt.Errorf("fingerprint.Search: %w", err)
	}
	q := inverted.NewQuery(some)
	for _, x := range segments {
		if err := searchSegment(x, q, wanted, use); err != nil {
			return nil, err
		}
	}
	for i, key := range keys {
		if len(wanted[nameOf(key)]) == 0 {
			continue
		}
		e, err := s.Get(key)
		switch {
		case err != nil:
			return nil, err
		case e == nil:
			unknown = append(unknown, i)
			continue
		}
		err = use(i, Known{e.Samples, e.Broken != "", e.Of})
		if err = errors.Join(err, e.Close()); err != nil {
			return nil, err
		}
	}
	return unknown, nil
}

// searchSegment calls use with the wanted episodes of a segment, also those without a landmark of
// the query, and takes them out of wanted. If the query is too broad for the segment, it does
// nothing, so that Search reads their entries.
func searchSegment(x *inverted.Segment, q inverted.Query, wanted map[[inverted.NameBytes]byte][]int, use func(int, Known) error) error {
	here := make([]bool, len(x.Episodes))
	any := false
	for n, e := range x.Episodes {
		here[n] = len(wanted[e.Name]) > 0
		any = any || here[n]
	}
	if !any || x.Broad(q) {
		return nil
	}
	return x.Landmarks(q, here, func(n int, l []landmark.Landmark) error {
		e := x.Episodes[n]
		for _, i := range wanted[e.Name] {
			if err := use(i, Known{e.Samples, e.Broken, each(l)}); err != nil {
				return err
			}
		}
		delete(wanted, e.Name)
		return nil
	})
}

// each returns an iterator over landmarks that have been selected by their hash already, so it
// ignores the set.
func each(all []landmark.Landmark) func(landmark.Hashes) iter.Seq2[landmark.Landmark, error] {
	return func(landmark.Hashes) iter.Seq2[landmark.Landmark, error] {
		return func(yield func(landmark.Landmark, error) bool) {
			for _, l := range all {
				if !yield(l, nil) {
					return
				}
			}
		}
	}
}

// segments returns all segments, marked as used now. It builds one first, if the entries for it are
// there. damaged gets the error of each damaged segment, which is removed.
func (s *Store) segments(damaged func(error)) ([]*inverted.Segment, error) {
	a := &s.archive
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := s.openSegments(damaged); err != nil {
		return nil, err
	}
	if err := s.build(); err != nil {
		return nil, err
	}
	var all []*inverted.Segment
	now := time.Now()
	for name, x := range a.open {
		_ = os.Chtimes(filepath.Join(s.dir, name), now, now) // it may have been evicted
		all = append(all, x)
	}
	return all, nil
}

// openSegments opens the segments that are not open, and forgets those that were evicted. It
// removes a damaged one and calls damaged with its error. The caller holds the archive's mu.
func (s *Store) openSegments(damaged func(error)) error {
	found, err := platform.Glob(s.dir, "*"+segmentSuffix)
	if err != nil {
		return err
	}
	open := map[string]*inverted.Segment{}
	for _, path := range found {
		name := filepath.Base(path)
		x := s.archive.open[name]
		if x == nil {
			x, err = inverted.Open(path)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // evicted meanwhile
		case errors.Is(err, fault.ErrCorrupt):
			damaged(fmt.Errorf("%w; it is removed, and built again from the entries of its episodes", err))
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		case err != nil:
			return err
		default:
			open[name] = x
		}
		err = nil
	}
	s.archive.open = open
	return nil
}

// grow counts an entry that was put, and builds a segment if there may be enough for one. A damaged
// segment is not reported here, because the next Search reports it. After an error the entry stays.
func (s *Store) grow(bytes int64) error {
	a := &s.archive
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fresh += bytes
	if a.fresh < a.limit {
		return nil
	}
	if err := s.openSegments(func(error) {}); err != nil {
		return err
	}
	return s.build()
}

// build builds a segment of entries that are in none, if there are enough. A damaged entry is left
// out, because the next Get removes it. The caller holds the archive's mu, and has opened all
// segments.
func (s *Store) build() error {
	s.archive.fresh = 0
	paths, err := s.unindexed()
	if err != nil || len(paths) == 0 {
		return err
	}
	var episodes []inverted.Episode
	var sources []inverted.Source
	for _, path := range paths {
		var x inverted.Episode
		_, err := hex.Decode(x.Name[:], []byte(strings.TrimSuffix(filepath.Base(path), marksSuffix)))
		if err == nil {
			err = readEntry(path, func(l Landmarks) { x.Samples, x.Broken = l.Samples, l.Broken != "" })
		}
		if err != nil {
			continue // not an entry, or one that the next Get removes
		}
		episodes, sources = append(episodes, x), append(sources, sourceOf(path))
	}
	if len(episodes) == 0 {
		return nil
	}
	return s.write(episodes, sources)
}

// unindexed returns the paths of entries that are in no segment, as many as make one together
// (archive.limit); none if they are too few. The caller holds the archive's mu.
func (s *Store) unindexed() (paths []string, err error) {
	indexed := map[string]bool{}
	for _, x := range s.archive.open {
		for _, e := range x.Episodes {
			indexed[hex.EncodeToString(e.Name[:])+marksSuffix] = true
		}
	}
	found, err := platform.Glob(s.dir, "*"+marksSuffix)
	if err != nil {
		return nil, err
	}
	total := int64(0)
	for _, path := range found {
		info, err := os.Stat(path)
		if indexed[filepath.Base(path)] || err != nil {
			continue
		}
		paths = append(paths, path)
		total += info.Size()
		if total >= s.archive.limit {
			return paths, nil
		}
	}
	return nil, nil
}

// readEntry calls use with the landmarks of an entry, whose check sum is right; they are valid
// until use returns.
func readEntry(path string, use func(Landmarks)) error {
	f, err := platform.OpenShared(path)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		var l Landmarks
		if l, err = Decode(f, info.Size()); err == nil {
			use(l)
		}
	}
	return errors.Join(err, f.Close())
}

// sourceOf returns the landmarks of an entry as a source. It opens the entry for each iteration,
// because a segment may have thousands of episodes. An error is its last element.
func sourceOf(path string) inverted.Source {
	return func(of landmark.Hashes) iter.Seq2[landmark.Landmark, error] {
		return func(yield func(landmark.Landmark, error) bool) {
			stopped := false
			err := readEntry(path, func(l Landmarks) {
				l.Of(of)(func(x landmark.Landmark, err error) bool {
					stopped = !yield(x, err)
					return !stopped
				})
			})
			if err != nil && !stopped {
				yield(landmark.Landmark{}, err)
			}
		}
	}
}

// write builds a segment under a temporary name, renames it and opens it. It is named after its
// first episode, which is in no other segment. The caller holds the archive's mu.
func (s *Store) write(episodes []inverted.Episode, sources []inverted.Source) error {
	f, err := platform.CreateShared(s.dir, partPrefix+"*")
	if err != nil {
		return err
	}
	name := hex.EncodeToString(episodes[0].Name[:]) + segmentSuffix
	if err := inverted.Build(f, episodes, sources); err != nil {
		return errors.Join(err, discard(f))
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := s.rename(f.Name(), filepath.Join(s.dir, name)); err != nil {
		return err
	}
	x, err := inverted.Open(filepath.Join(s.dir, name))
	if err == nil {
		s.archive.open[name] = x
	}
	return err
}
