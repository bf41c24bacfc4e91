package elastic_test

import (
	"cmp"
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/shared/code"
	"leasehold/shared/code/codetest"
	"leasehold/shared/code/elastic"
	"leasehold/shared/code/elastic/opensearchtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(opensearchtest.Main(m)) }

// newPrefix returns a prefix of names that no other test has. both.reduced knows names by their begin.
func newPrefix() string { return "leasehold-test-" + strings.ToLower(rand.Text()[:10]) + "-" }

// openReal returns an empty index on the real server at url, whose indices are removed when the test ends.
func openReal(t testing.TB, url string, c elastic.Config) *elastic.Index {
	c.URL, c.Prefix = url, cmp.Or(c.Prefix, newPrefix())
	c.RetryFor = 10 * time.Minute // the machine may be busy
	x, err := elastic.New(c)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, x.Close())
		opensearchtest.RemoveIndices(t, url, c.Prefix)
		http.DefaultClient.CloseIdleConnections()
	})
	return x
}

// TestARealServerPassesTheSuite also checks that the server in memory, on which the other tests run,
// answers each of the driver's requests like the real one.
func TestARealServerPassesTheSuite(t *testing.T) {
	t.Parallel()
	url := opensearchtest.URL(t, "the suite of the code index")
	if url == "" {
		return
	}
	codetest.Exercise(t, func(t *testing.T) code.Searcher {
		return openReal(t, url, elastic.Config{Views: true, Transport: newBoth(t)})
	})
}

func TestARealServerListsFiles(t *testing.T) {
	t.Parallel()
	if url := opensearchtest.URL(t, "the list of files"); url != "" {
		codetest.ExerciseLister(t, openReal(t, url, elastic.Config{Transport: newBoth(t)}))
	}
}
