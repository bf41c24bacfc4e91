package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"time"

	"leasehold/shared/code/segment"
	"leasehold/shared/process/platform"
)

// Segments of about the same size are merged once there are this many, so that each text
// is copied a few times only. A segment is merged alone when half of it was dropped.
const (
	mergeAtLeast = 4
	mergeAtMost  = 16
	smallest     = 1 << 20 // bytes of text; smaller segments count as equal in size
)

// mergeInterval is how often Run checks the segments without a write, because blobs that no
// generation names become old enough to drop.
const mergeInterval = time.Hour

// requestMerge asks Run to check whether there is something to merge. If Run was asked already,
// it does nothing.
func (x *Index) requestMerge() {
	select {
	case x.merge <- struct{}{}:
	default:
	}
}

// Run merges segments until ctx ends: at once, after each write, and each hour. A merge that
// fails is logged and tried again at the next of these. It returns nil.
func (x *Index) Run(ctx context.Context) error {
	tick := time.NewTicker(mergeInterval)
	defer tick.Stop()
	for {
		for merged := true; merged && ctx.Err() == nil; {
			var err error
			if merged, err = x.Merge(ctx); err != nil && ctx.Err() == nil {
				slog.ErrorContext(ctx, "code index: a merge of segments failed; it will be tried again", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-x.merge:
		case <-tick.C:
		}
	}
}

// Merge merges one group of segments, and reports whether it did. It returns false if no segments
// need merging, if another call is merging, or if the index is read-only.
func (x *Index) Merge(ctx context.Context) (merged bool, err error) {
	if !x.merging.TryLock() {
		return false, nil
	}
	defer x.merging.Unlock()
	v, err := x.acquire()
	if err != nil || x.options.ReadOnly {
		return false, err
	}
	defer x.release(v)
	group := x.chooseGroup(v)
	if len(group) == 0 {
		return false, nil
	}
	return x.mergeGroup(ctx, group)
}

// mergeGroup merges a group of parts into one segment, or into none if no blob is kept. See
// installMerged for mergeAgain. After an error of writing, searches use the group as before.
func (x *Index) mergeGroup(ctx context.Context, group []mergedPart) (mergeAgain bool, err error) {
	path, err := x.writeMerged(ctx, group)
	if err != nil {
		return false, fmt.Errorf("merge of %d segments: %w", len(group), err)
	}
	if path != "" {
		if err := x.keep(ctx, segmentEntry(path), path); err != nil {
			return false, errors.Join(fmt.Errorf("merge of %d segments: %w", len(group), err), os.Remove(path))
		}
	}
	return x.installMerged(ctx, group, path)
}

// A mergedPart is a part that merging may replace.
type mergedPart struct {
	*part
	kept []bool // by blob: the merged segment has it
	text int64  // bytes of the kept blobs
}

// chooseKept returns p with the blobs to keep: all if the segment is younger than Options.Keep or
// its age is not known, otherwise those that a generation names.
func (x *Index) chooseKept(p *part) mergedPart {
	m := mergedPart{part: p, kept: make([]bool, p.Blobs())}
	info, err := os.Stat(p.path)
	recent := err != nil || x.now().Sub(info.ModTime()) < x.options.Keep
	for i := range m.kept {
		m.kept[i] = recent || len(p.placesOf(i)) > 0
		if m.kept[i] {
			m.text += int64(p.TextBytes(i))
		}
	}
	return m
}

// chooseGroup returns the parts to merge next, or nil. A part that would lose half of its text
// or all of its blobs is merged alone. Otherwise it groups parts by size, in steps of four
// times, and returns the first mergeAtLeast to mergeAtMost parts of the smallest size with enough of
// them; all are compressed or none is.
func (x *Index) chooseGroup(v *view) []mergedPart {
	bySize := map[int][]mergedPart{}
	for _, p := range v.parts {
		m := x.chooseKept(p)
		total := int64(0)
		for i := range m.kept {
			total += int64(p.TextBytes(i))
		}
		losesHalf, losesAll := m.text < total/2, total == 0 && !slices.Contains(m.kept, true)
		if losesHalf || losesAll {
			return []mergedPart{m}
		}
		size := bits.Len64(uint64(m.text/smallest)) / 2 // two bits are four times
		bySize[size] = append(bySize[size], m)
	}
	for size := range 64 { // more than there are sizes
		var group []mergedPart
		text := int64(0)
		for _, m := range bySize[size] {
			if text+m.text <= x.options.MaxSegmentText && len(group) < mergeAtMost && (len(group) == 0 || m.Compressed() == group[0].Compressed()) {
				group, text = append(group, m), text+m.text
			}
		}
		if len(group) >= mergeAtLeast {
			return group
		}
	}
	return nil
}

// writeMerged writes the merged segment of group into mergeFolder, and returns its path, or "" if
// no blob is kept. Of a blob that several parts have, it keeps the first copy and sets kept of the
// others to false. The file gets the time of the newest part, because the age of blobs that no
// generation names counts from when they were put.
func (x *Index) writeMerged(ctx context.Context, group []mergedPart) (string, error) {
	var all []*segment.Segment
	var replaces []string
	var newest time.Time
	kept := map[string]bool{}
	for _, m := range group {
		all = append(all, m.Segment)
		replaces = append(replaces, segment.Hash(m.path))
		if info, err := os.Stat(m.path); err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
		for i := range m.kept {
			if id := string(m.OID(i)); m.kept[i] && kept[id] {
				m.kept[i] = false // a copy in an earlier segment
			} else if m.kept[i] {
				kept[id] = true
			}
		}
	}
	if len(kept) == 0 {
		return "", nil
	}
	path, err := segment.WriteFile(x.mergeFolder, func(w io.Writer) error {
		return segment.Merge(w, all, func(n, i int) bool { return group[n].kept[i] }, replaces, func() error { return context.Cause(ctx) })
	})
	if err != nil {
		return "", err
	}
	return path, cmp.Or(os.Chtimes(path, newest, newest), x.reached("merged segment written"))
}

// installMerged installs the segment at path in place of group, and removes the files of group;
// an empty path means that no blob was kept. If a generation names a blob by now that was not
// kept, it removes the merged segment instead. mergeAgain is true in both cases, so that Run calls
// Merge at once: for the next group, or for this one with that blob. The file moves into the folder
// of segments before the others are removed: after a crash in between, Open uses it and ignores
// those that it replaces. An error with mergeAgain means only that old files remain.
func (x *Index) installMerged(ctx context.Context, group []mergedPart, path string) (mergeAgain bool, err error) {
	x.writing.Lock()
	defer x.writing.Unlock()
	v, err := x.viewToWrite()
	if err != nil {
		return false, err
	}
	var s *openSegment
	if path != "" {
		opened, err := segment.Open(path)
		if err != nil {
			return false, err
		}
		s = newOpenSegment(opened, filepath.Join(x.segments, filepath.Base(path)))
	}
	if inUse(v, group, s) {
		if s != nil {
			err = errors.Join(s.Close(), x.drop(ctx, filepath.Base(path)), os.Remove(path))
		}
		return err == nil, err
	}
	if s != nil {
		// Only now may Open after a crash use it in place of group.
		if err := cmp.Or(os.Rename(path, s.path), platform.SyncDir(x.segments), x.reached("merged segment renamed")); err != nil {
			return false, errors.Join(err, s.Close())
		}
		err = x.inventory.add(segmentEntry(s.path))
	}
	x.install(v.withMerged(group, s))
	for _, m := range group {
		name := filepath.Base(m.path)
		err = cmp.Or(err, x.drop(ctx, name), x.inventory.remove(name))
	}
	if err != nil {
		return true, err
	}
	for _, m := range group {
		err = cmp.Or(err, x.reached("merged segments installed"), os.Remove(m.path))
	}
	return true, cmp.Or(err, platform.SyncDir(x.segments))
}

// inUse reports whether v has a place for a blob of group that s does not have; s is nil if
// nothing was kept.
func inUse(v *view, group []mergedPart, s *openSegment) bool {
	for _, m := range group {
		p := v.partOf(m.openSegment)
		for i := range p.Blobs() {
			if len(p.placesOf(i)) == 0 {
				continue
			}
			if s == nil {
				return true
			}
			if _, ok := s.Find(p.OID(i)); !ok {
				return true
			}
		}
	}
	return false
}

// partOf returns the part of v with segment s. The view has it, because only merging removes
// segments, and one merge runs at a time.
func (v *view) partOf(s *openSegment) *part {
	return v.parts[slices.IndexFunc(v.parts, func(p *part) bool { return p.openSegment == s })]
}

// withMerged returns v with s in place of group, or without group if s is nil. s takes the place
// of the first part of group, so that earlier segments stay before later ones. It relies on
// inUse: s has each blob that has a place.
func (v *view) withMerged(group []mergedPart, s *openSegment) *view {
	w := v.clone()
	var places []blobPlace
	first := len(w.parts)
	for _, m := range group {
		p := v.partOf(m.openSegment)
		for i := range p.Blobs() {
			for _, x := range p.placesOf(i) {
				blob, _ := s.Find(p.OID(i)) // it is there
				places = append(places, blobPlace{uint32(blob), x})
			}
		}
		first = min(first, slices.Index(v.parts, p))
	}
	if s != nil {
		p := &part{openSegment: s, starts: make([]uint32, s.Blobs()+1)}
		w.parts[first] = p.withPlaces(noSlot, places)
	}
	w.parts = slices.DeleteFunc(w.parts, func(p *part) bool {
		return slices.ContainsFunc(group, func(m mergedPart) bool { return m.openSegment == p.openSegment })
	})
	return w
}

// Size returns the bytes of all segments, and how many of them are symbols and reports. Of a
// closed index both are 0.
func (x *Index) Size() (bytes, symbols int64) {
	v, err := x.acquire()
	if err != nil {
		return 0, 0
	}
	defer x.release(v)
	for _, p := range v.parts {
		all, of := p.Segment.Size()
		bytes, symbols = bytes+int64(all), symbols+int64(of)
	}
	return bytes, symbols
}
