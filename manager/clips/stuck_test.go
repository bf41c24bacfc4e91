package clips

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
)

func TestAnUnconditionalVisitReadsAFeedWhoseValidatorIsStuck(t *testing.T) {
	t.Parallel()
	items := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/feed":
			w.WriteHeader(http.StatusNotFound)
		case r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != "":
			w.WriteHeader(http.StatusNotModified) // whatever has changed
		default:
			w.Header().Set("ETag", `"stuck"`)
			fmt.Fprintf(w, `<rss version="2.0"><channel><title>t</title>%s</channel></rss>`, items)
		}
	}))
	t.Cleanup(server.Close)
	add := func(name string) {
		items += fmt.Sprintf(`<item><guid>%[1]s</guid><title>%[1]s</title><enclosure url="%[2]s/%[1]s.mp3" type="audio/mpeg"/></item>`, name, server.URL)
	}
	add("one")
	o := originAt(models.Feed, server.URL+"/feed")
	f := newFlow(t, o)
	v := models.Visit{Origin: o}
	visit := func() models.Outcome {
		outcome, err := f.Visit(t.Context(), v)
		require.NoError(t, err)
		outcome.Origin, outcome.At = o.ID, time.Now()
		require.NoError(t, f.Catalog.RecordOutcome(t.Context(), outcome))
		v.Known = models.Known{Digest: outcome.Digest, ETag: outcome.ETag, Modified: outcome.Modified}
		return outcome
	}
	first := visit()
	require.Equal(t, 1, first.Window)
	require.Equal(t, 1, *first.New)
	require.False(t, first.Unmodified)
	add("two")
	blind := visit()
	require.True(t, blind.Unmodified)
	require.Equal(t, models.Uneventful, blind.Status)
	require.Nil(t, blind.New)
	v.Unconditional = true
	seen := visit()
	require.Equal(t, models.Eventful, seen.Status)
	require.False(t, seen.Unmodified)
	require.Equal(t, 1, *seen.New)
	require.Equal(t, 2, seen.Window)
	require.Equal(t, 1, seen.Changes, "without dates, new items are counted")
}
