package embedded_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
	"leasehold/shared/code/embedded"
)

// sharing returns repositories that share half of their blobs, made from a seed, and the repository
// with the blobs of both.
func sharing(repos, files int, seed uint64) (all []*corpus, union *corpus) {
	random := rand.New(rand.NewPCG(seed, 0))
	text := func() []byte {
		var t []byte
		for range 20 + random.IntN(60) {
			t = fmt.Appendf(t, "\tif err := do%x(context, %d); err != nil {\n\t\treturn err\n\t}\n", random.Uint32(), random.IntN(100))
		}
		return t
	}
	var shared [][]byte
	for range files / 2 {
		shared = append(shared, text())
	}
	union = newCorpus("union")
	inUnion := map[code.OID]bool{}
	for n := range repos {
		c, seen := newCorpus(fmt.Sprintf("repo%d", n)), map[code.OID]bool{}
		for i := range files {
			content := text()
			if i < len(shared) {
				content = shared[i]
			}
			c.add(fmt.Sprintf("f%d.go", i), content, seen)
			if i >= len(shared) || n == 0 {
				union.add(fmt.Sprintf("r%d/f%d.go", n, i), content, inUnion)
			}
		}
		all = append(all, c)
	}
	return all, union
}

func TestABlobThatManyRepositoriesShareIsStoredOnce(t *testing.T) {
	t.Parallel()
	all, union := sharing(40, 10, 16)
	x := open(t, embedded.Options{})
	puts := 0
	for _, c := range all {
		missing, err := x.Missing(t.Context(), c.manifest.OIDs())
		require.NoError(t, err)
		puts += len(missing)
		c.indexed(t, x)
	}
	require.Equal(t, len(union.blobs), puts)
	y := open(t, embedded.Options{})
	union.indexed(t, y)
	merge(t, x)
	bytes, _ := x.Size()
	alone, _ := y.Size()
	require.InEpsilon(t, alone, bytes, 0.05, "bytes of the index")
}

func merge(t testing.TB, x *embedded.Index) {
	for {
		merged, err := x.Merge(t.Context())
		require.NoError(t, err)
		if !merged {
			return
		}
	}
}

// BenchmarkSharing compares searches of 1,000 repositories that share half of their blobs
// with the same of one repository that is their union: medians of the first 50 results.
func BenchmarkSharing(b *testing.B) {
	all, union := sharing(1000, 20, *corpusSeed)
	x, y := open(b, embedded.Options{}), open(b, embedded.Options{})
	began := time.Now()
	for n, c := range all {
		c.indexed(b, x)
		if n%50 == 0 {
			merge(b, x)
		}
	}
	b.Logf("1,000 repositories put, published and merged in %s", time.Since(began).Round(time.Millisecond))
	union.indexed(b, y)
	merge(b, x)
	merge(b, y)
	for _, query := range []string{"context", "do7f", `/do[0-9a-f]+\(context, 42\)/`, "absentword", "errr or nil", "repo:repo77 return"} {
		b.Run(query, func(b *testing.B) {
			for range b.N {
				manyRepos, one := medianOf(b, x, query), medianOf(b, y, query)
				b.ReportMetric(float64(manyRepos.Microseconds())/1000, "repos-ms")
				b.ReportMetric(float64(one.Microseconds())/1000, "union-ms")
				b.ReportMetric(float64(manyRepos)/float64(one), "ratio")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

func medianOf(b *testing.B, x *embedded.Index, query string) time.Duration {
	var all []time.Duration
	for range 31 {
		all = append(all, first50(b, x, query))
	}
	slices.Sort(all)
	return all[len(all)/2]
}
