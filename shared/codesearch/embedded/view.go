package embedded

import (
	"cmp"
	"maps"
	"slices"

	"leasehold/shared/codesearch"
	"leasehold/shared/codesearch/segment"
)

// A mapping is a file that views use; the last one closes it.
type mapping struct {
	views int // guarded by Index.mu
	close func() error
}

// openSegment is a segment that views use.
type openSegment struct {
	mapping
	*segment.Segment
	path    string
	skipped []uint32 // blobs that are not indexed
}

func newOpenSegment(s *segment.Segment, path string) *openSegment {
	o := &openSegment{mapping: mapping{close: s.Close}, Segment: s, path: path}
	for i := range s.Blobs() {
		if s.Skipped(i) != "" {
			o.skipped = append(o.skipped, uint32(i))
		}
	}
	return o
}

// A place is one file of one generation.
type place struct{ repo, file uint32 }

// A part is one segment in a view, with the places of each blob.
type part struct {
	*openSegment
	starts []uint32 // of the blobs in places, and the end
	places []place
}

// of returns the places of blob i.
func (p *part) of(i int) []place { return p.places[p.starts[i]:p.starts[i+1]] }

// A view is what a search sees. It does not change.
type view struct {
	users int // searches, and the index itself; guarded by Index.mu
	parts []*part
	repos []*generation     // by slot; nil if it is free
	slots map[string]uint32 // by repository id
	lost  map[string]int    // files whose blobs no segment has, by repository id
}

func emptyView() *view { return &view{slots: map[string]uint32{}, lost: map[string]int{}} }

// mappings calls visit for each file that v uses.
func (v *view) mappings(visit func(*mapping)) {
	for _, p := range v.parts {
		visit(&p.mapping)
	}
	for _, g := range v.repos {
		if g != nil {
			visit(&g.mapping)
		}
	}
}

// find returns where a blob is.
func (v *view) find(id codesearch.OID) (part, blob int, ok bool) {
	for n, p := range v.parts {
		if i, ok := p.Find(id); ok {
			return n, i, true
		}
	}
	return 0, 0, false
}

// clone returns a copy whose slices and maps may be changed; parts are shared.
func (v *view) clone() *view {
	return &view{parts: slices.Clone(v.parts), repos: slices.Clone(v.repos), slots: maps.Clone(v.slots), lost: maps.Clone(v.lost)}
}

// withSegment returns v with one more segment. Files whose blobs were lost may be in it.
func (v *view) withSegment(s *openSegment) *view {
	w := v.clone()
	w.parts = append(w.parts, &part{openSegment: s, starts: make([]uint32, s.Blobs()+1)})
	for id := range v.lost {
		slot := w.slots[id]
		w.place(slot, w.repos[slot])
	}
	return w
}

// withGeneration returns v with g in place of the generation of its repository.
func (v *view) withGeneration(g *generation) *view {
	w := v.clone()
	slot, ok := w.slots[g.repoID]
	if !ok {
		free := slices.Index(w.repos, nil)
		if free < 0 {
			free, w.repos = len(w.repos), append(w.repos, nil)
		}
		slot = uint32(free)
		w.slots[g.repoID] = slot
	}
	w.repos[slot] = g
	w.place(slot, g)
	return w
}

// without returns v without a repository, and its generation or nil.
func (v *view) without(repoID string) (*view, *generation) {
	slot, ok := v.slots[repoID]
	if !ok {
		return v, nil
	}
	w := v.clone()
	delete(w.slots, repoID)
	delete(w.lost, repoID)
	w.repos[slot] = nil
	w.place(slot, nil)
	return w, v.repos[slot]
}

// at is a place and the blob that is there.
type at struct {
	blob uint32
	place
}

// place replaces the places of the repository in slot by those of g, which may be nil.
func (v *view) place(slot uint32, g *generation) {
	added := make([][]at, len(v.parts))
	if g != nil {
		delete(v.lost, g.repoID)
		for i := range g.files() {
			n, blob, ok := v.find(g.oid(i))
			if !ok {
				v.lost[g.repoID]++
				continue
			}
			added[n] = append(added[n], at{uint32(blob), place{slot, uint32(i)}})
		}
	}
	for n, p := range v.parts {
		if len(added[n]) > 0 || slices.ContainsFunc(p.places, func(x place) bool { return x.repo == slot }) {
			v.parts[n] = p.replaced(slot, added[n])
		}
	}
}

// replaced returns p with other places for the repository in slot.
func (p *part) replaced(slot uint32, added []at) *part {
	slices.SortFunc(added, func(a, b at) int { return cmp.Or(cmp.Compare(a.blob, b.blob), cmp.Compare(a.file, b.file)) })
	w := &part{openSegment: p.openSegment, starts: make([]uint32, 1, len(p.starts)), places: make([]place, 0, len(p.places)+len(added))}
	for blob := range p.Blobs() {
		for _, x := range p.of(blob) {
			if x.repo != slot {
				w.places = append(w.places, x)
			}
		}
		for ; len(added) > 0 && added[0].blob == uint32(blob); added = added[1:] {
			w.places = append(w.places, added[0].place)
		}
		w.starts = append(w.starts, uint32(len(w.places)))
	}
	return w
}

// newView returns the view of segments and generations. It is withGeneration for all at
// once, because a folder may have many.
func newView(segments []*openSegment, generations []*generation) *view {
	v := emptyView()
	for _, s := range segments {
		v.parts = append(v.parts, &part{openSegment: s})
	}
	added := make([][]at, len(v.parts))
	for slot, g := range generations {
		v.repos, v.slots[g.repoID] = append(v.repos, g), uint32(slot)
		for i := range g.files() {
			if n, blob, ok := v.find(g.oid(i)); ok {
				added[n] = append(added[n], at{uint32(blob), place{uint32(slot), uint32(i)}})
			} else {
				v.lost[g.repoID]++
			}
		}
	}
	for n, p := range v.parts {
		p.starts = make([]uint32, p.Blobs()+1)
		v.parts[n] = p.replaced(noSlot, added[n])
	}
	return v
}

// noSlot is a slot that no repository has.
const noSlot = ^uint32(0)
