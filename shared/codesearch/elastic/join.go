package elastic

import (
	"slices"

	"leasehold/shared/codesearch"
)

// candidate is a blob that may match, with the files that have it and may match.
type candidate struct {
	OID    codesearch.OID
	Size   int64
	places []*file
}

// join finds candidates: pages of one side, by object id, and what the other side has of them.
type join struct {
	files, blobs any // queries; blobs is nil if every blob may match
	byFiles      bool
	pages        selection
}

// newJoin returns the join of the candidates of a query. It begins with the side that has
// fewer.
func (s *search) newJoin() (*join, error) {
	j := &join{files: allOf(s.inShown(), s.fileQuery()), blobs: s.blobQuery()}
	if j.byFiles = j.blobs == nil; !j.byFiles {
		nBlobs, err := s.index.count(s.ctx, blobs, j.blobs)
		if err != nil {
			return nil, err
		}
		nFiles, err := s.index.count(s.ctx, files, j.files)
		if err != nil {
			return nil, err
		}
		j.byFiles = nFiles < nBlobs
	}
	if j.byFiles {
		j.pages = selection{alias: files, query: j.files, fields: fileFields, order: []string{"oid", "key"}}
	} else {
		j.pages = blobPages(j.blobs)
	}
	return j, nil
}

// blobPages selects blobs by their object ids.
func blobPages(query any) selection {
	return selection{alias: blobs, query: query, fields: []string{"oid", "size"}, order: []string{"oid"}}
}

// next returns the next candidates, by object id; nil after the last ones.
func (j *join) next(s *search) ([]*candidate, error) {
	for !j.byFiles {
		page, err := next[*blob](s.ctx, s.index, &j.pages)
		if err != nil || len(page) == 0 {
			return nil, err
		}
		if found, err := j.placesOf(s, page); err != nil || len(found) > 0 {
			return found, err
		}
	}
	for {
		page, err := next[*file](s.ctx, s.index, &j.pages)
		if err != nil || len(page) == 0 {
			return nil, err
		}
		if found, err := j.blobsOf(s, page); err != nil || len(found) > 0 {
			return found, err
		}
	}
}

// placesOf returns those of a page of blobs that files have which may match.
func (j *join) placesOf(s *search, page []*blob) ([]*candidate, error) {
	ids := make([]codesearch.OID, len(page))
	size := make(map[codesearch.OID]int64, len(page))
	for i, b := range page {
		ids[i], size[b.OID] = b.OID, b.Size
	}
	var all []*candidate
	places := selection{alias: files, query: allOf(j.files, object{"terms": object{"oid": ids}}), fields: fileFields, order: []string{"oid", "key"}}
	for {
		page, err := next[*file](s.ctx, s.index, &places)
		if err != nil || len(page) == 0 {
			return all, err
		}
		for _, f := range page {
			all = s.addPlace(all, f)
		}
		for _, c := range all {
			c.Size = size[c.OID]
		}
	}
}

// addPlace adds a file to the last candidate or, if it has another blob, to a new one. Files
// are added by object id.
func (s *search) addPlace(all []*candidate, f *file) []*candidate {
	if !s.may(f) {
		return all
	}
	if n := len(all); n > 0 && all[n-1].OID == f.OID {
		all[n-1].places = append(all[n-1].places, f)
		return all
	}
	return append(all, &candidate{OID: f.OID, Size: f.Place.Info.Size, places: []*file{f}})
}

// blobsOf returns the blobs of a page of files that may match.
func (j *join) blobsOf(s *search, page []*file) ([]*candidate, error) {
	var all []*candidate
	for _, f := range page {
		all = s.addPlace(all, f)
	}
	if j.blobs == nil || len(all) == 0 {
		return all, nil
	}
	ids := make([]codesearch.OID, len(all))
	for i, c := range all {
		ids[i] = c.OID
	}
	matching := blobPages(allOf(j.blobs, object{"terms": object{"oid": ids}}))
	found, err := next[*blob](s.ctx, s.index, &matching)
	return slices.DeleteFunc(all, func(c *candidate) bool {
		return !slices.ContainsFunc(found, func(b *blob) bool { return b.OID == c.OID })
	}), err
}

// maxDefinitions is how many blobs are searched before the others because of the names of
// their symbols.
const maxDefinitions = 256

// definitions searches the blobs that define a symbol with the name of a word, and returns
// them.
func (s *search) definitions(j *join) (done map[codesearch.OID]bool, err error) {
	done = map[codesearch.OID]bool{}
	if len(s.defined) == 0 {
		return done, nil
	}
	pages := blobPages(allOf(j.blobs, object{"terms": object{"defines": s.defined}}))
	page, err := next[*blob](s.ctx, s.index, &pages)
	if err != nil || len(page) == 0 {
		return done, err
	}
	group, err := j.placesOf(s, page[:min(len(page), maxDefinitions)])
	if err != nil {
		return done, err
	}
	for _, c := range group {
		done[c.OID] = true
	}
	return done, s.verify(group)
}
