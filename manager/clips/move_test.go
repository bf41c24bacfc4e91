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

func movedPage(to string) string {
	return `<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><itunes:new-feed-url>` + to + `</itunes:new-feed-url>` + enclosing("a", "https://example.org/a.mp3") + `</channel></rss>`
}

func TestAFeedMovesToItsNewAddressAndKeepsItsEpisodes(t *testing.T) {
	t.Parallel()
	docs := map[string]string{}
	server, asked := paged(t, docs)
	docs["/old"] = movedPage(server + "/new")
	o := originAt(models.Feed, server+"/old")
	f := newFlow(t, o)
	visit := func(at time.Time) models.Outcome {
		outcome, err := f.Visit(t.Context(), models.Visit{Origin: o})
		require.NoError(t, err)
		outcome.Origin, outcome.At = o.ID, at
		require.NoError(t, f.Catalog.RecordOutcome(t.Context(), outcome))
		return outcome
	}
	now := time.Now()
	require.Equal(t, &models.Move{To: server + "/new"}, visit(now.Add(-25*time.Hour)).Move)
	require.Equal(t, []string{"/old"}, *asked, "nothing is asked at the new address on the first day")
	episodes, err := f.Catalog.Episodes(t.Context())
	require.NoError(t, err)

	require.Equal(t, &models.Move{To: server + "/new"}, visit(now.Add(-time.Minute)).Move, "no feed answers")
	problems, err := f.Catalog.Problems(t.Context())
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.Contains(t, problems[0].Reason, "the feed gives a new address, "+server+"/new, which cannot be used: fetch")

	docs["/new"] = rss(enclosing("a", "https://example.org/a.mp3"), enclosing("b", "https://example.org/b.mp3"))
	require.Equal(t, &models.Move{To: server + "/new", Answers: true}, visit(now).Move)
	moved, err := f.Catalog.Origin(t.Context(), o.ID)
	require.NoError(t, err)
	require.Equal(t, server+"/new", moved.URI)
	require.Equal(t, server+"/old", moved.MovedFrom)
	require.False(t, moved.Listed, "the operator named this host")

	require.Nil(t, visit(now.Add(time.Minute)).Move)
	after, err := f.Catalog.Episodes(t.Context())
	require.NoError(t, err)
	require.Len(t, after, 2)
	require.Contains(t, []string{after[0].ID, after[1].ID}, episodes[0].ID)
}

func TestAMoveIsRememberedIfTheFeedHasNotChanged(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, movedPage("https://example.org/new"))
	}))
	t.Cleanup(s.Close)
	o := originAt(models.Feed, s.URL)
	l := lister(t, o)
	first, err := l.readFeed(t.Context(), o, models.Known{})
	require.NoError(t, err)
	o.MovesTo, o.MovesSince = first.move.To, time.Now()
	again, err := l.readFeed(t.Context(), o, models.Known{Digest: first.digest, ETag: first.etag})
	require.NoError(t, err)
	require.True(t, again.same)
	require.Equal(t, first.move, again.move)
}

func TestAnAddressThatCannotBeUsedIsAProblemAndNoMove(t *testing.T) {
	t.Parallel()
	for to, reason := range map[string]string{
		"http://192.168.0.1/feed.xml": "not a public address",
		"file:///etc/passwd":          "want an address that begins with http:// or https://",
		"feed.xml":                    "want an address that begins with",
		"https://%zz":                 "not a URL",
	} {
		server, _ := paged(t, map[string]string{"/f": movedPage(to)})
		o := originAt(models.Feed, server+"/f")
		seen, err := lister(t, o).readFeed(t.Context(), o, models.Known{})
		require.NoError(t, err)
		require.Nil(t, seen.move)
		require.Len(t, seen.Problems, 1)
		require.Contains(t, seen.Problems[0].Reason, reason)
	}
	l, _ := listFeedFile(t, movedPage("https://example.org/new"), nil)
	require.Empty(t, l.Problems, "a file stays where it is")
}

func TestAFeedDoesNotMoveToTheAddressOfAnotherOrigin(t *testing.T) {
	t.Parallel()
	docs := map[string]string{}
	server, _ := paged(t, docs)
	docs["/old"] = movedPage(server + "/new")
	o, other := originAt(models.Feed, server+"/old"), originAt(models.Feed, server+"/new")
	o.ID, other.ID = models.NewID("feed", o.URI), models.NewID("feed", other.URI)
	f := newFlow(t, o, other)
	outcome, err := f.Visit(t.Context(), models.Visit{Origin: o})
	require.NoError(t, err)
	outcome.Origin, outcome.At = o.ID, time.Now()
	require.NoError(t, f.Catalog.RecordOutcome(t.Context(), outcome))
	problems, err := f.Catalog.Problems(t.Context())
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.Contains(t, problems[0].Reason, "is another origin, "+other.ID)
	found, err := f.Catalog.Origin(t.Context(), o.ID)
	require.NoError(t, err)
	require.Empty(t, found.MovesTo)
}

// redirecting serves a feed at every path but those of the map, which redirect with a status.
func redirecting(t *testing.T, to map[string]string, status int) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if next, ok := to[r.URL.Path]; ok {
			http.Redirect(w, r, next, status)
			return
		}
		fmt.Fprint(w, rss(enclosing("a", "https://example.org/a.mp3")))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestAFeedMovesWhereItsServerRedirectsPermanentlyForADay(t *testing.T) {
	t.Parallel()
	for status, moves := range map[int]bool{301: true, 308: true, 302: false, 303: false, 307: false} {
		to := map[string]string{"/old": "/new"}
		server := redirecting(t, to, status)
		o := originAt(models.Feed, server+"/old")
		f := newFlow(t, o)
		visit := func(at time.Time) models.Origin {
			outcome, err := f.Visit(t.Context(), models.Visit{Origin: o})
			require.NoError(t, err)
			outcome.Origin, outcome.At = o.ID, at
			require.NoError(t, f.Catalog.RecordOutcome(t.Context(), outcome))
			found, err := f.Catalog.Origin(t.Context(), o.ID)
			require.NoError(t, err)
			return found
		}
		now := time.Now()
		first := visit(now.Add(-25 * time.Hour))
		require.Equal(t, server+"/old", first.URI)
		second := visit(now)
		if !moves {
			require.Empty(t, first.MovesTo, status)
			require.Equal(t, server+"/old", second.URI, status)
			continue
		}
		require.Equal(t, server+"/new", first.MovesTo, status)
		require.Equal(t, []string{o.ID, server + "/new", server + "/old"}, []string{second.ID, second.URI, second.MovedFrom}, status)

		// Now the new address redirects back: it stays, with a problem.
		delete(to, "/old")
		to["/new"] = "/old"
		require.Empty(t, visit(now.Add(time.Minute)).MovesTo)
		problems, err := f.Catalog.Problems(t.Context())
		require.NoError(t, err)
		require.Len(t, problems, 1)
		require.Contains(t, problems[0].Reason, "redirects permanently to "+server+"/old, which cannot be used: the origin moved from there")
	}
}

func TestAFeedWhoseRedirectsAlternateStays(t *testing.T) {
	t.Parallel()
	to := map[string]string{}
	server := redirecting(t, to, http.StatusMovedPermanently)
	o := originAt(models.Feed, server+"/old")
	f := newFlow(t, o)
	now := time.Now()
	for n := range 10 {
		to["/old"] = fmt.Sprintf("/%d", n%2)
		outcome, err := f.Visit(t.Context(), models.Visit{Origin: o})
		require.NoError(t, err)
		outcome.Origin, outcome.At = o.ID, now.Add(time.Duration(n-10)*26*time.Hour)
		require.NoError(t, f.Catalog.RecordOutcome(t.Context(), outcome))
		found, err := f.Catalog.Origin(t.Context(), o.ID)
		require.NoError(t, err)
		require.Equal(t, server+"/old", found.URI)
	}
}
