package codetest

import (
	"testing"

	"leasehold/shared/code"
)

// Exercise runs the suite; open returns an empty index that ends with the test. The parts run in
// parallel, each on an index of its own.
func Exercise(t *testing.T, open func(t *testing.T) code.Searcher) {
	for _, b := range []struct {
		name string
		run  func(fixture)
	}{
		{"the query language", queries},
		{"lines are found as grep finds them", lines},
		{"a blob is indexed once and found at each of its places", sharedBlobs},
		{"each ref is searched, and the filter branch: selects", refs},
		{"a batch may be put again", putAgain},
		{"a generation is replaced as a whole", generations},
		{"a generation with missing blobs is refused and the old one stays", incomplete},
		{"a repository is dropped by its id only", dropRepo},
		{"an empty file has the language of its name", emptyFiles},
		{"what is not indexed has a reason", skipped},
		{"the best matches come first", ranking},
		{"the best of all matches come first, as a full ranking orders them", ranked},
		{"a search that cannot rank all matches tells", rankedInPart},
		{"a match has its text, ranges, context and symbol", matchFields},
		{"a search stops at its limit, and when its visitor or its context ends", stops},
		{"invalid input is refused and changes nothing", invalid},
	} {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			b.run(fixture{t, open(t)})
		})
	}
}
