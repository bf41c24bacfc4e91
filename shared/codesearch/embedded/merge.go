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

	"leasehold/shared/codesearch/segment"
)

// Segments of about the same size are merged once there are this many, so that each text
// is copied a few times only. A segment is merged alone when half of it was dropped.
const (
	mergeAtLeast = 4
	mergeAtMost  = 16
	smallest     = 1 << 20 // bytes of text; segments below it count as of one size
)

// mergeInterval is how often blobs are looked for that have been without a generation for
// long enough.
const mergeInterval = time.Hour

// mayMerge asks Run to check whether there is something to merge.
func (x *Index) mayMerge() {
	select {
	case x.merge <- struct{}{}:
	default:
	}
}

// Run merges segments until ctx ends. A merge that fails is logged, and tried again later.
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

// Merge merges one group of segments, or returns false if there is none to merge. One call
// at a time does something.
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
	group := x.choose(v)
	if len(group) == 0 {
		return false, nil
	}
	return x.mergeGroup(ctx, group)
}

// mergeGroup merges parts of the current view.
func (x *Index) mergeGroup(ctx context.Context, group []mergedPart) (bool, error) {
	path, err := x.write(ctx, group)
	if err != nil {
		return false, fmt.Errorf("merge of %d segments: %w", len(group), err)
	}
	return x.replace(group, path)
}

// A merged part is one that is merged, and which of its blobs are kept.
type mergedPart struct {
	*part
	kept []bool
	text int64 // bytes of the kept blobs
}

// inspect finds the blobs of p to keep: those with places, and those not old enough.
func (x *Index) inspect(p *part) mergedPart {
	m := mergedPart{part: p, kept: make([]bool, p.Blobs())}
	info, err := os.Stat(p.path)
	recent := err != nil || x.now().Sub(info.ModTime()) < x.options.Keep
	for i := range m.kept {
		if m.kept[i] = recent || len(p.of(i)) > 0; m.kept[i] {
			m.text += int64(p.TextBytes(i))
		}
	}
	return m
}

// choose returns the parts to merge next: those of the smallest size that are enough, or
// one that is half empty.
func (x *Index) choose(v *view) []mergedPart {
	bySize := map[int][]mergedPart{}
	for _, p := range v.parts {
		m := x.inspect(p)
		total := int64(0)
		for i := range m.kept {
			total += int64(p.TextBytes(i))
		}
		if m.text < total/2 || total == 0 && !slices.Contains(m.kept, true) {
			return []mergedPart{m}
		}
		size := bits.Len64(uint64(m.text/smallest)) / 2
		bySize[size] = append(bySize[size], m)
	}
	for size := range 64 {
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

// write writes the merged segment of group, or returns "" if no blob is kept.
func (x *Index) write(ctx context.Context, group []mergedPart) (string, error) {
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
	// The age of blobs that no generation names counts from when they were put.
	return path, cmp.Or(os.Chtimes(path, newest, newest), x.reached("merged segment written"))
}

// replace installs the segment at path in place of group, unless a generation names a blob
// now that was not kept; then the group is merged again later.
func (x *Index) replace(group []mergedPart, path string) (bool, error) {
	x.writing.Lock()
	defer x.writing.Unlock()
	v, err := x.writable()
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
			err = errors.Join(s.Close(), os.Remove(path))
		}
		return err == nil, err
	}
	if s != nil {
		// Only now may Open after a crash use it in place of group.
		if err := cmp.Or(os.Rename(path, s.path), segment.SyncDir(x.segments), x.reached("merged segment renamed")); err != nil {
			return false, errors.Join(err, s.Close())
		}
	}
	x.install(v.merged(group, s))
	for _, m := range group {
		err = cmp.Or(err, x.reached("merged segments installed"), os.Remove(m.path))
	}
	return true, cmp.Or(err, segment.SyncDir(x.segments))
}

// inUse reports whether v has a place for a blob of group that s does not have.
func inUse(v *view, group []mergedPart, s *openSegment) bool {
	for _, m := range group {
		p := v.partOf(m.openSegment)
		for i := range p.Blobs() {
			if len(p.of(i)) == 0 {
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

func (v *view) partOf(s *openSegment) *part {
	return v.parts[slices.IndexFunc(v.parts, func(p *part) bool { return p.openSegment == s })]
}

// merged returns v with s, which may be nil, in place of group.
func (v *view) merged(group []mergedPart, s *openSegment) *view {
	w := v.clone()
	var places []at
	first := len(w.parts)
	for _, m := range group {
		p := v.partOf(m.openSegment)
		for i := range p.Blobs() {
			for _, x := range p.of(i) {
				blob, _ := s.Find(p.OID(i)) // inUse found that it has it
				places = append(places, at{uint32(blob), x})
			}
		}
		first = min(first, slices.Index(v.parts, p))
	}
	if s != nil {
		p := &part{openSegment: s, starts: make([]uint32, s.Blobs()+1)}
		w.parts[first] = p.replaced(noSlot, places)
	}
	w.parts = slices.DeleteFunc(w.parts, func(p *part) bool {
		return slices.ContainsFunc(group, func(m mergedPart) bool { return m.openSegment == p.openSegment })
	})
	return w
}

// Size returns the bytes of all segments, and those of them that are symbols and reports.
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
