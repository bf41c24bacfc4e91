package elastic_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code/elastic"
	"leasehold/shared/code/elastic/opensearchtest"
	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
)

// TestIndicesThatAreDeletedOnARealServer also removes their aliases, while repositories are published and searched.
func TestIndicesThatAreDeletedOnARealServer(t *testing.T) {
	t.Parallel()
	url := opensearchtest.URL(t, "indices that are deleted")
	if url == "" {
		return
	}
	prefix := newPrefix()
	t.Cleanup(func() { opensearchtest.RemoveIndices(t, url, prefix) })
	l := startLoad(t, elastic.Config{URL: url, Prefix: prefix, RetryFor: 2 * time.Second})
	l.goesOn("at first")
	for _, name := range []string{"blobs", "files", "generations", "published"} {
		index := prefix + "leasehold-" + name
		send(t, http.MethodDelete, url+"/"+index+"-1", "")
		if name != "generations" { // which only has notes for the removal of old documents
			l.isTold(name + " deleted")
		}
		l.visits.Store(true)
		l.goesOn(name + " deleted and visited")

		if name == "files" || name == "published" {
			send(t, http.MethodPost, url+"/_aliases", `{"actions":[{"remove":{"index":"`+index+`-1","alias":"`+index+`"}}]}`)
			l.goesOn(name + " without its alias")
		}
	}
	l.end()
}

// TestAnIndexOfAnotherProgramUnderOurNameOnARealServer has another program make an index in place of each of ours,
// while this process uses it.
func TestAnIndexOfAnotherProgramUnderOurNameOnARealServer(t *testing.T) {
	t.Parallel()
	url := opensearchtest.URL(t, "an index of another program")
	if url == "" {
		return
	}
	prefix := newPrefix()
	x := openReal(t, url, elastic.Config{Prefix: prefix})
	for _, name := range []string{"blobs", "files", "generations", "published"} {
		require.NoError(t, put(x, "a", "needle"))
		require.Equal(t, []string{"a:needle"}, found(t, x))
		index := prefix + "leasehold-" + name
		aliases := []string{`"` + index + `":{}`}
		if name == "files" {
			aliases = append(aliases, "") // the driver adds it
		}
		for _, alias := range aliases {
			send(t, http.MethodDelete, url+"/"+index+"-1", "")
			send(t, http.MethodPut, url+"/"+index+"-1", `{"aliases":{`+alias+`},"mappings":{"dynamic":true,"properties":{"oid":{"type":"text"}}}}`)
			for range 2 {
				err := put(x, "b", "needle 2")
				for retry.CanPass(err) { // the first request finds that the index is gone
					err = put(x, "b", "needle 2")
				}
				require.ErrorIs(t, err, fault.ErrCorrupt, name)
				require.ErrorContains(t, err, index+"-1: ", name)
				require.ErrorContains(t, err, "delete the index, or set search-prefix", name)
			}
		}
		send(t, http.MethodDelete, url+"/"+index+"-1", "")
		require.NoError(t, put(x, "a", "needle"), name)
	}
}
