package embedded_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/codesearch"
	"leasehold/shared/codesearch/codesearchtest"
	"leasehold/shared/codesearch/embedded"
)

// open returns an empty index that is closed with the test.
func open(t testing.TB, o embedded.Options) *embedded.Index {
	x, err := embedded.Open(t.TempDir(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	return x
}

func TestTheEmbeddedIndexPassesTheSuite(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]embedded.Options{"raw": {}, "compressed": {Compress: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			codesearchtest.Exercise(t, func(t *testing.T) codesearch.Searcher { return open(t, o) })
		})
	}
}

func TestFilesAreListed(t *testing.T) {
	t.Parallel()
	codesearchtest.ExerciseLister(t, open(t, embedded.Options{}))
}

func TestSearchesSeeOneGenerationWhileItIsReplacedAndMerged(t *testing.T) {
	t.Parallel()
	x := open(t, embedded.Options{})
	codesearchtest.ReplaceBesideSearches(t, x, func() error {
		_, err := x.Merge(context.Background())
		return err
	})
}

func TestTheEmbeddedIndexFindsWhatTheNaiveOneFinds(t *testing.T) {
	t.Parallel()
	codesearchtest.Compare(t, func(t *testing.T) codesearch.Searcher {
		return open(t, embedded.Options{})
	}, func(r *rapid.T, s codesearch.Searcher) {
		x := s.(*embedded.Index)
		if rapid.Bool().Draw(r, "merge") {
			_, err := x.MergeAll(context.Background())
			require.NoError(r, err)
		}
	})
}
