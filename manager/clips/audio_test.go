package clips

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/store"
	"leasehold/shared/fault"
)

// podcast is a server of a feed and of its audio, which needs a password.
type podcast struct {
	*httptest.Server
	catalog catalog.Catalog
	flow    *Flow
	origin  models.Origin
	known   models.Known // from the last visit

	mu      sync.Mutex // guards the fields below
	feed    string
	version map[string]string // of the audio, by path; "" counts requests
	refused int               // status of all audio, 0: served
	asked   []string
}

// newPodcast is a server whose feed has n episodes, and a manager's flow that visits it.
func newPodcast(t *testing.T, n int) *podcast {
	t.Helper()
	p := &podcast{version: map[string]string{}}
	for i := range n {
		p.feed += enclosing(fmt.Sprint("g", i), fmt.Sprintf("%d.mp3", i))
	}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	p.origin = models.Origin{ID: "o", Kind: models.Feed, URI: "http://bob:s3cret@" + p.Listener.Addr().String() + "/feed.xml", AddedAt: time.Now()}
	store, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	_, err = store.AddOrigin(t.Context(), p.origin)
	require.NoError(t, err)
	_, err = store.AddOrigin(t.Context(), models.Origin{ID: "clips", Kind: models.Clips, URI: "/clips"})
	require.NoError(t, err)
	_, err = store.Curate(t.Context(), "clips", time.Now(), catalog.Listing{Clips: []models.Clip{{Recording: models.Recording{Name: "c", Media: models.MediaRef{URI: "file:///c"}}}}})
	require.NoError(t, err)
	p.catalog, p.flow = store, NewFlow(Flow{Catalog: store, Lister: lister(t, p.origin)})
	return p
}

func (p *podcast) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if user, password, _ := r.BasicAuth(); user != "bob" || password != "s3cret" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if r.URL.Path == "/feed.xml" {
		http.ServeContent(w, r, "", time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC), strings.NewReader(rss(p.feed)))
		return
	}
	p.asked = append(p.asked, r.Method+" "+r.URL.Path)
	version, ok := p.version[r.URL.Path]
	if version == "" && ok {
		version = fmt.Sprint(len(p.asked))
	}
	w.Header().Set("ETag", `"`+version+`"`)
	if p.refused != 0 {
		w.WriteHeader(p.refused)
	}
}

// set changes the server.
func (p *podcast) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// visit visits the feed, as the coordinator lets a manager do it.
func (p *podcast) visit(t *testing.T) models.Outcome {
	t.Helper()
	outcome, err := p.flow.Visit(t.Context(), models.Visit{ID: "v", Origin: models.Origin{ID: "o", Kind: models.Feed}, Known: p.known})
	require.NoError(t, err)
	p.known = models.Known{Digest: outcome.Digest, ETag: outcome.ETag, Modified: outcome.Modified}
	outcome.Origin, outcome.At = "o", time.Now()
	require.NoError(t, p.catalog.RecordOutcome(t.Context(), outcome))
	return outcome
}

// research has the selected episodes researched, and returns their URIs.
func (p *podcast) research(t *testing.T) (uris []string) {
	t.Helper()
	for {
		r, _, err := p.catalog.Select(t.Context(), nil, catalog.Limits{Clips: 1})
		if err != nil {
			return uris
		}
		uris = append(uris, r.Episode.Media.URI)
		require.Equal(t, "o", r.Episode.Media.Origin)
		require.NotContains(t, r.Episode.Media.URI, "@")
		require.NoError(t, p.catalog.Ingest(t.Context(), models.Researched{Episode: r.Episode.ID, EpisodeMedia: r.Episode.Media,
			Clips: []string{r.Clips[0].ID}, ClipMedia: map[string]models.MediaRef{r.Clips[0].ID: r.Clips[0].Media}}, time.Now()))
	}
}

func TestAudioThatIsReplacedAtTheSameURLIsResearchedAgain(t *testing.T) {
	t.Parallel()
	p := newPodcast(t, 2)
	require.Equal(t, models.Eventful, p.visit(t).Status)
	require.Len(t, p.research(t), 2)
	require.Equal(t, models.Uneventful, p.visit(t).Status)
	require.Empty(t, p.research(t))
	p.set(func() { p.version["/1.mp3"] = "new" })
	require.Equal(t, models.Eventful, p.visit(t).Status, "though the feed is the same")
	require.Equal(t, []string{p.URL + "/1.mp3"}, p.research(t))
	require.Equal(t, models.Uneventful, p.visit(t).Status)
	require.Empty(t, p.research(t))
	for _, a := range p.asked {
		require.Contains(t, a, "HEAD ")
	}
}

func TestAudioThatDiffersInEachAnswerIsNotResearchedAgain(t *testing.T) {
	t.Parallel()
	p := newPodcast(t, 1)
	p.set(func() { p.version["/0.mp3"] = "" })
	p.visit(t)
	require.Len(t, p.research(t), 1)
	for range 3 {
		require.Equal(t, models.Uneventful, p.visit(t).Status)
		require.Empty(t, p.research(t))
	}
}

func TestAVisitAsksForFewHeadsAndAServerThatRefusesOnce(t *testing.T) {
	t.Parallel()
	p := newPodcast(t, audioChecks+3)
	p.visit(t)
	require.Len(t, p.asked, 5)
	p.visit(t)
	require.Len(t, p.asked, 2*audioChecks)
	all := map[string]bool{}
	for _, a := range p.asked {
		all[a] = true
	}
	require.Len(t, all, audioChecks+3, "each visit goes on behind the one before")
	for status, requests := range map[int]int{http.StatusTooManyRequests: 1, http.StatusServiceUnavailable: 1, http.StatusMethodNotAllowed: audioChecks, http.StatusNotFound: audioChecks} {
		p.set(func() { p.asked, p.refused = nil, status })
		require.Equal(t, models.Uneventful, p.visit(t).Status, "the visit succeeds")
		require.Len(t, p.asked, requests, "status %d", status)
	}
	p.set(func() { p.asked, p.refused = nil, 0 })
	require.Equal(t, models.Uneventful, p.visit(t).Status, "what was known before the failures is kept")
}

func TestWhichReportsAreOfOtherAudio(t *testing.T) {
	t.Parallel()
	report := func(etag, modified string, bytes int64) models.Audio {
		return models.Audio{ETag: etag, Modified: modified, Bytes: bytes}
	}
	for name, c := range map[string]struct {
		before, now models.Audio
		want        bool
	}{
		"nothing known before":              {report("", "", 0), report("a", "d", 1), false},
		"nothing reported":                  {report("a", "d", 1), report("", "", 0), false},
		"the same":                          {report("a", "d", 1), report("a", "d", 1), false},
		"another length":                    {report("a", "d", 1), report("a", "d", 2), true},
		"another length only":               {report("", "", 1), report("", "", 2), true},
		"another ETag and date":             {report("a", "d", 1), report("b", "e", 1), true},
		"another ETag, no date":             {report("a", "", 0), report("b", "", 0), true},
		"another date, no ETag":             {report("", "d", 1), report("", "e", 1), true},
		"another ETag of the same date":     {report("a", "d", 1), report("b", "d", 1), false},
		"another date of the same ETag":     {report("a", "d", 1), report("a", "e", 1), false},
		"a length that is new":              {report("a", "d", 0), report("a", "d", 2), false},
		"an ETag instead of a date":         {report("", "d", 0), report("b", "", 0), false},
		"another date, the ETag is missing": {report("a", "d", 1), report("", "e", 1), true},
	} {
		require.Equal(t, c.want, isOther(c.before, c.now), name)
	}
}

func TestAnEnclosureDoesNotKeepTheUserOfItsFeed(t *testing.T) {
	t.Parallel()
	base, err := url.Parse("https://bob:s3cret@example.org/shows/feed.xml")
	require.NoError(t, err)
	w := web{base, func(string) error { return nil }, base.String()}
	for enclosure, want := range map[string]string{
		"1.mp3":                                "https://example.org/shows/1.mp3",
		"/1.mp3":                               "https://example.org/1.mp3",
		"//example.org/1.mp3":                  "https://example.org/1.mp3",
		"https://bob:s3cret@example.org/1.mp3": "https://example.org/1.mp3",
		"https://ann:own@example.org/1.mp3":    "https://ann:own@example.org/1.mp3",
		"https://bob:s3cret@example.com/1.mp3": "https://bob:s3cret@example.com/1.mp3",
		"https://ann:own@example.com/1.mp3":    "https://ann:own@example.com/1.mp3",
	} {
		uri, _, err := w.resolve(enclosure)
		require.NoError(t, err)
		require.Equal(t, want, uri)
	}
}

func TestAServerThatDoesNotAnswerKeepsNoOtherFromBeingAsked(t *testing.T) {
	t.Parallel()
	p := newPodcast(t, 0)
	var asked []string
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(broken.Close)
	require.NoError(t, p.flow.Lister.Fetch.Trust(models.Origin{Kind: models.Feed, URI: broken.URL}))
	list := []models.Audio{
		{Episode: "malformed", URI: "http://[", ETag: "a"}, {Episode: "1", URI: broken.URL + "/1", ETag: "a"}, {Episode: "2", URI: broken.URL + "/2", ETag: "a"},
		{Episode: "3", URI: p.URL + "/3.mp3"}, {Episode: "4", URI: p.URL + "/4.mp3"},
	}
	want := slices.Clone(list)
	want[3].ETag, want[4].ETag = `""`, `""`
	want[0].Silent, want[1].Silent, want[2].Silent = true, true, true
	require.Equal(t, want, p.flow.askServers(t.Context(), p.origin, list))
	require.Equal(t, []string{"/1"}, asked)
	require.Equal(t, []string{"HEAD /3.mp3", "HEAD /4.mp3"}, p.asked)
}

func TestEpisodesThatWereNotAskedForInTimeAreNotChecked(t *testing.T) {
	t.Parallel()
	p := newPodcast(t, 0)
	ctx, cancel := context.WithCancel(t.Context())
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	t.Cleanup(slow.Close)
	require.NoError(t, p.flow.Lister.Fetch.Trust(models.Origin{Kind: models.Feed, URI: slow.URL}))
	list := []models.Audio{{Episode: "1", URI: p.URL + "/1.mp3"}, {Episode: "2", URI: slow.URL + "/2"}, {Episode: "3", URI: p.URL + "/3.mp3"}}
	checked := p.flow.askServers(ctx, p.origin, list)
	require.Equal(t, []models.Audio{{Episode: "1", URI: p.URL + "/1.mp3", ETag: `""`}}, checked)
}

// Some servers report something else each time, so a second report must confirm the first.
func TestAudioCountsAsReplacedIfASecondReportConfirmsIt(t *testing.T) {
	t.Parallel()
	known := models.Audio{Episode: "e", URI: "set below", ETag: `"a"`}
	for name, c := range map[string]struct {
		reports []string // ETags; "" is an error
		want    string   // the ETag
		other   bool
		fails   bool
	}{
		"the same":            {[]string{"a"}, "a", false, false},
		"another, confirmed":  {[]string{"b", "b"}, "b", true, false},
		"another each time":   {[]string{"b", "c"}, "a", false, false},
		"another, then fails": {[]string{"b", ""}, "a", false, true},
	} {
		n := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if n++; c.reports[n-1] == "" {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			w.Header().Set("ETag", `"`+c.reports[n-1]+`"`)
		}))
		o := models.Origin{Kind: models.Feed, URI: s.URL}
		known.URI = s.URL + "/a.mp3"
		got, err := lister(t, o).audio(t.Context(), o, known)
		s.Close()
		require.Equal(t, c.fails, err != nil, name)
		require.Len(t, c.reports, n, name)
		require.Equal(t, models.Audio{Episode: "e", URI: known.URI, ETag: `"` + c.want + `"`, Replaced: c.other}, got, name)
	}
}

// checks is a catalog in which two calls fail or are counted.
type checks struct {
	catalog.Catalog
	list             []models.Audio
	listErr, noteErr error
	noted            int
}

func (c *checks) AudioToCheck(context.Context, string, int) ([]models.Audio, error) {
	return c.list, c.listErr
}

func (c *checks) AudioChecked(_ context.Context, _ time.Time, list []models.Audio) (int, error) {
	c.noted++
	return len(list), c.noteErr
}

func TestAVisitFailsIfItsChecksOfAudioCannotBeReadOrRecorded(t *testing.T) {
	t.Parallel()
	p := newPodcast(t, 1)
	one := []models.Audio{{Episode: "e", URI: p.URL + "/e.mp3"}}
	for name, c := range map[string]struct {
		catalog  checks
		want     error
		replaced int
		noted    int
	}{
		"the origin is removed": {checks{listErr: fault.ErrNotFound}, nil, 0, 0},
		"nothing to check":      {checks{}, nil, 0, 0},
		"the list fails":        {checks{list: one, listErr: fault.ErrCorrupt}, fault.ErrCorrupt, 0, 0},
		"the record fails":      {checks{list: one, noteErr: fault.ErrCorrupt}, fault.ErrCorrupt, 1, 1},
		"one":                   {checks{list: one}, nil, 1, 1},
	} {
		f := NewFlow(Flow{Catalog: &c.catalog, Lister: p.flow.Lister})
		replaced, err := f.checkAudio(t.Context(), p.origin)
		require.ErrorIs(t, err, c.want, name)
		require.Equal(t, c.replaced, replaced, name)
		require.Equal(t, c.noted, c.catalog.noted, name)
		c.catalog.Catalog = p.catalog
		p.known = models.Known{}
		_, err = f.Visit(t.Context(), models.Visit{ID: "v", Origin: models.Origin{ID: "o", Kind: models.Feed}})
		require.Equal(t, c.want == nil, err == nil, name)
	}
}
