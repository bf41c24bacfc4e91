package embedded

import (
	"cmp"
	"maps"
	"slices"

	"leasehold/shared/code"
	"leasehold/shared/code/segment"
)

// A mapping is a mapped file that views use.
type mapping struct {
	views int          // that use it; guarded by Index.mu
	close func() error // called when the last view ends
}

// openSegment is a segment that views use.
type openSegment struct {
	mapping
	*segment.Segment
	path    string
	skipped []uint32 // blobs that are not indexed
}

// newOpenSegment returns s, which is at path, for use by views, with the list of its skipped
// blobs.
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
	starts []uint32 // blob i has places[starts[i]:starts[i+1]]
	places []place
}

// placesOf returns the places of blob i; none if no generation has it here.
func (p *part) placesOf(i int) []place { return p.places[p.starts[i]:p.starts[i+1]] }

// isEmpty reports whether blob i is indexed and has no text.
func (p *part) isEmpty(i int) bool { return p.TextBytes(i) == 0 && p.Skipped(i) == "" }

// langOf returns the language of blob i in a file of this name.
func (p *part) langOf(i int, name []byte) string {
	if p.isEmpty(i) {
		return code.FileLang(string(name), code.BlobInfo{})
	}
	return p.Lang(i)
}

// A view is what a search sees. It does not change.
type view struct {
	users int // searches, and the index itself; guarded by Index.mu
	parts []*part
	repos []*generation     // by slot; nil if it is free
	slots map[string]uint32 // by repository id
	lost  map[string]int    // files whose blobs no segment has, by repository id

	missingSegments []string          // names of files that the inventory has; empty if no blob is lost
	missingRepos    map[string]string // names of repositories whose generations the inventory has, by id
}

func emptyView() *view {
	return &view{slots: map[string]uint32{}, lost: map[string]int{}, missingRepos: map[string]string{}}
}

// eachMapping calls visit for each file that v uses.
func (v *view) eachMapping(visit func(*mapping)) {
	for _, p := range v.parts {
		visit(&p.mapping)
	}
	for _, g := range v.repos {
		if g != nil {
			visit(&g.mapping)
		}
	}
}

// findBlob returns the index in v.parts of the first segment that has a blob, and the
// blob's number in it. ok is false if no segment has it.
func (v *view) findBlob(id code.OID) (part, blob int, ok bool) {
	for n, p := range v.parts {
		if i, ok := p.Find(id); ok {
			return n, i, true
		}
	}
	return 0, 0, false
}

// clone returns a copy whose slices and maps may be changed; parts are shared.
func (v *view) clone() *view {
	return &view{parts: slices.Clone(v.parts), repos: slices.Clone(v.repos), slots: maps.Clone(v.slots), lost: maps.Clone(v.lost),
		missingSegments: v.missingSegments, missingRepos: maps.Clone(v.missingRepos)}
}

// withSegment returns v with one more segment. Repositories that have lost blobs get their
// places again, because s may have these blobs. Others keep theirs: their blobs are in earlier
// segments.
func (v *view) withSegment(s *openSegment) *view {
	w := v.clone()
	w.parts = append(w.parts, &part{openSegment: s, starts: make([]uint32, s.Blobs()+1)})
	for id := range v.lost {
		slot := w.slots[id]
		w.setPlaces(slot, w.repos[slot])
	}
	w.forgetFound()
	return w
}

// withGeneration returns v with g in place of the generation of its repository. A new repository
// gets the slot of a dropped one, if there is one. v does not change, because searches use it.
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
	w.setPlaces(slot, g)
	delete(w.missingRepos, g.repoID)
	w.forgetFound()
	return w
}

// withoutRepo returns v without a repository, and the repository's generation, which is nil if it
// is missing. If v does not know the repository, it returns v itself and nil.
func (v *view) withoutRepo(repoID string) (*view, *generation) {
	slot, ok := v.slots[repoID]
	if !ok {
		if _, missing := v.missingRepos[repoID]; !missing {
			return v, nil
		}
		w := v.clone()
		delete(w.missingRepos, repoID)
		return w, nil
	}
	w := v.clone()
	delete(w.slots, repoID)
	delete(w.lost, repoID)
	w.repos[slot] = nil
	w.setPlaces(slot, nil)
	w.forgetFound()
	return w, v.repos[slot]
}

// blobPlace is a place and its blob.
type blobPlace struct {
	blob uint32
	place
}

// setPlaces replaces the places of the repository in slot by those of g, or removes them if g is
// nil. Files whose blobs no segment has count in v.lost. Callers pass a view not installed yet, so
// no search sees the change. It makes new parts, because views share them.
func (v *view) setPlaces(slot uint32, g *generation) {
	added := make([][]blobPlace, len(v.parts)) // by part
	if g != nil {
		delete(v.lost, g.repoID)
		for i := range g.files() {
			n, blob, ok := v.findBlob(g.oid(i))
			if !ok {
				v.lost[g.repoID]++
				continue
			}
			added[n] = append(added[n], blobPlace{uint32(blob), place{slot, uint32(i)}})
		}
	}
	for n, p := range v.parts {
		if len(added[n]) > 0 || slices.ContainsFunc(p.places, func(x place) bool { return x.repo == slot }) {
			v.parts[n] = p.withPlaces(slot, added[n])
		}
	}
}

// withPlaces returns a part of the same segment, with added in place of the places of the
// repository in slot. It sorts added. The result has the places of each blob in order, and starts
// marks where those of a blob begin.
func (p *part) withPlaces(slot uint32, added []blobPlace) *part {
	slices.SortFunc(added, func(a, b blobPlace) int { return cmp.Or(cmp.Compare(a.blob, b.blob), cmp.Compare(a.file, b.file)) })
	w := &part{openSegment: p.openSegment, starts: make([]uint32, 1, len(p.starts)), places: make([]place, 0, len(p.places)+len(added))}
	for blob := range p.Blobs() {
		for _, x := range p.placesOf(blob) {
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

// newView returns the view of segments and generations. The result is the same as after withSegment
// and withGeneration for each, but it builds each part once, because a folder may have many.
func newView(segments []*openSegment, generations []*generation) *view {
	v := emptyView()
	for _, s := range segments {
		v.parts = append(v.parts, &part{openSegment: s})
	}
	added := make([][]blobPlace, len(v.parts))
	for slot, g := range generations {
		v.repos, v.slots[g.repoID] = append(v.repos, g), uint32(slot)
		for i := range g.files() {
			if n, blob, ok := v.findBlob(g.oid(i)); ok {
				added[n] = append(added[n], blobPlace{uint32(blob), place{uint32(slot), uint32(i)}})
			} else {
				v.lost[g.repoID]++
			}
		}
	}
	for n, p := range v.parts {
		p.starts = make([]uint32, p.Blobs()+1)
		v.parts[n] = p.withPlaces(noSlot, added[n])
	}
	return v
}

// noSlot is a slot that no repository has; withPlaces removes nothing for it.
const noSlot = ^uint32(0)
