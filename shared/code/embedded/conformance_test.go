package embedded_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/code"
	"leasehold/shared/code/codetest"
	"leasehold/shared/code/embedded"
)

// open returns an empty index closed with the test.
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
			codetest.Exercise(t, func(t *testing.T) code.Searcher { return open(t, o) })
		})
	}
}

func TestFilesAreListed(t *testing.T) {
	t.Parallel()
	codetest.ExerciseLister(t, open(t, embedded.Options{}))
}

func TestSearchesSeeOneGenerationWhileItIsReplacedAndMerged(t *testing.T) {
	t.Parallel()
	x := open(t, embedded.Options{})
	codetest.ReplaceBesideSearches(t, x, func() error {
		_, err := x.Merge(context.Background())
		return err
	})
}

func TestTheEmbeddedIndexFindsWhatTheNaiveOneFinds(t *testing.T) {
	t.Parallel()
	codetest.Compare(t, func(t *testing.T) code.Searcher {
		return open(t, embedded.Options{})
	}, func(r *rapid.T, s code.Searcher) {
		x := s.(*embedded.Index)
		if rapid.Bool().Draw(r, "merge") {
			_, err := x.MergeAll(context.Background())
			require.NoError(r, err)
		}
	})
}
