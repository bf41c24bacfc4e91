package elastic

import (
	"slices"

	"leasehold/shared/code"
)

// candidate is a blob that may match, with the files that have it and may match.
type candidate struct {
	OID    code.OID
	Size   int64
	places []*file

	bound    code.Match   // no match comes before it
	searched bool         // by ranking, which kept the matches
	matches  []code.Match // all, if searched
}

// join finds candidates: it reads one of the two sides, files and blobs, page by page in the order
// of object ids, and for each page what the other side has of it.
type join struct {
	files, blobs any       // queries; blobs is nil if every blob may match
	byFiles      bool      // pages are of files, else of blobs
	pages        selection // of the side to read first
	last         bool      // no byPath follows
}

// newJoin returns the join of the candidates of a query. It reads the side first that has fewer
// documents that may match; files if every blob may match.
func (s *search) newJoin() (*join, error) {
	j := &join{files: allOf(s.ofFewRepos(), s.fileQuery()), blobs: s.blobQuery()}
	j.byFiles = j.blobs == nil
	none := false // no blob matches
	if !j.byFiles {
		nBlobs, err := s.index.count(s.ctx, blobs, j.blobs)
		if err != nil {
			return nil, err
		}
		nFiles := 0
		if nBlobs > 0 {
			if nFiles, err = s.index.count(s.ctx, files, j.files); err != nil {
				return nil, err
			}
		}
		j.byFiles, none = nFiles < nBlobs, nBlobs == 0
	}
	if j.byFiles {
		j.pages = selection{alias: files, query: j.files, order: []string{"oid", "key"}}
	} else {
		j.pages = blobPages(j.blobs)
		j.pages.ended = none
	}
	return j, nil
}

// byPath returns the join of the candidates that j leaves out: files with a word of the query in
// their path, whose blobs j.blobs excludes. It returns nil if there are none, as after itself.
func (j *join) byPath(s *search) *join {
	if j.blobs == nil || j.last || len(s.plan.paths) == 0 {
		return nil
	}
	withWord := allOf(j.files, s.pathQuery())
	return &join{files: withWord, blobs: object{"bool": object{"must_not": []any{j.blobs}}}, byFiles: true, last: true,
		pages: selection{alias: files, query: withWord, order: []string{"oid", "key"}}}
}

// blobPages selects blobs by their object ids.
func blobPages(query any) selection {
	return selection{alias: blobs, query: query, order: []string{"oid"}}
}

// nextOf returns the next candidates of *j, and of the joins that follow it; nil after the last ones.
func (s *search) nextOf(j **join) ([]*candidate, error) {
	for ; *j != nil; *j = (*j).byPath(s) {
		if group, err := (*j).nextCandidates(s); err != nil || group != nil {
			return group, err
		}
	}
	return nil, nil
}

// nextCandidates returns the next candidates, by object id, and nil after the last ones. It goes on
// to the next page while a page has none.
func (j *join) nextCandidates(s *search) ([]*candidate, error) {
	for !j.byFiles {
		page, err := nextBlobs(s.ctx, s.index, &j.pages)
		if err != nil || len(page) == 0 {
			return nil, err
		}
		if found, err := j.placesOf(s, page); err != nil || len(found) > 0 {
			return found, err
		}
	}
	for {
		page, err := nextPage[*file](s.ctx, s.index, &j.pages)
		if err != nil || len(page) == 0 {
			return nil, err
		}
		if found, err := j.blobsOf(s, page); err != nil || len(found) > 0 {
			return found, err
		}
	}
}

// placesOf returns the candidates among a page of blobs: those that occur in files that may match,
// each with all of these files, in the order of object ids.
func (j *join) placesOf(s *search, page []blobSize) ([]*candidate, error) {
	ids := make([]code.OID, len(page))
	size := make(map[code.OID]int64, len(page))
	for i, b := range page {
		ids[i], size[b.OID] = b.OID, b.Size
	}
	var all []*candidate
	places := selection{alias: files, query: allOf(j.files, object{"terms": object{"oid": ids}}), order: []string{"oid", "key"}}
	for {
		found, err := nextPage[*file](s.ctx, s.index, &places)
		if err != nil || len(found) == 0 {
			return all, err
		}
		for _, f := range found {
			all = s.addPlace(all, f)
		}
		for _, c := range all {
			c.Size = size[c.OID]
		}
	}
}

// addPlace adds a file that may match to the last candidate or, if it has another blob, to a
// new one. Callers add files in the order of object ids, so one candidate has all of a blob in
// a page.
func (s *search) addPlace(all []*candidate, f *file) []*candidate {
	if !s.mayMatch(f) {
		return all
	}
	if n := len(all); n > 0 && all[n-1].OID == f.OID {
		all[n-1].places = append(all[n-1].places, f)
		return all
	}
	return append(all, &candidate{OID: f.OID, Size: f.Place.Info.Size, places: []*file{f}})
}

// blobsOf returns the candidates of a page of files: the blobs of those that may match, without the
// blobs that j.blobs excludes. One page of blobs holds them all, because a page of files names no
// more blobs than it has files.
func (j *join) blobsOf(s *search, page []*file) ([]*candidate, error) {
	var all []*candidate
	for _, f := range page {
		all = s.addPlace(all, f)
	}
	if j.blobs == nil || len(all) == 0 {
		return all, nil
	}
	ids := make([]code.OID, len(all))
	for i, c := range all {
		ids[i] = c.OID
	}
	matching := blobPages(allOf(j.blobs, object{"terms": object{"oid": ids}}))
	found, err := nextBlobs(s.ctx, s.index, &matching)
	return slices.DeleteFunc(all, func(c *candidate) bool {
		return !slices.ContainsFunc(found, func(b blobSize) bool { return b.OID == c.OID })
	}), err
}
