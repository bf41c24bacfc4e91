package fetch

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheCrawlDelayOfRobotsTxt(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]time.Duration{
		"":                                 0,
		"User-agent: *\nCrawl-delay: 10\n": 10 * time.Second,
		"\ufeffUSER-AGENT : * # all\r\ncrawl-DELAY :  0.25 # s\r\n":                                250 * time.Millisecond,
		"User-agent: other\nCrawl-delay: 9\n":                                                      0,
		"User-agent: *\nCrawl-delay: 9\nUser-agent: Leasehold/1.0\nDisallow:\n":                    0,
		"User-agent: leasehold\nCrawl-delay: 3\n\nUser-agent: *\nCrawl-delay: 9":                   3 * time.Second,
		"User-agent: other\nUser-agent: *\nDisallow: /\nCrawl-delay: 4":                            4 * time.Second,
		"User-agent: leaseholder\nCrawl-delay: 4":                                                  0,
		"User-agent: *\nCrawl-delay: 2\nUser-agent: x\nDisallow: /\nUser-agent: *\nCrawl-delay: 5": 5 * time.Second,
		"User-agent: leasehold\ndisallow\nUser-agent: *\nCrawl-delay: 3":                           3 * time.Second, // a line without a colon begins no rules
		"Crawl-delay: 7\n":                                        0,
		"User-agent: *\nCrawl-delay: -1\n":                        0,
		"User-agent: *\nCrawl-delay: NaN\n":                       0,
		"User-agent: *\nCrawl-delay: soon\n":                      0,
		"User-agent: *\nCrawl-delay: 1e300\n":                     24 * time.Hour,
		"User-agent: *\nCrawl-delay: +Inf\n":                      24 * time.Hour,
		"<html><title>User-agent: *</title>Crawl-delay: 9</html>": 0,
	} {
		require.Equal(t, want, crawlDelay(content), content)
	}
}

func FuzzCrawlDelay(f *testing.F) {
	f.Add("User-agent: *\nCrawl-delay: 10\n")
	f.Fuzz(func(t *testing.T, content string) {
		delay := crawlDelay(content)
		require.True(t, delay >= 0 && delay <= longestDelay)
	})
}

func TestRobotsTxtIsReadOnceADayAndAFailureHarmsNothing(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		require.Equal(t, "/robots.txt", r.URL.Path)
		require.Empty(t, r.Header.Get("Authorization"), "it is public")
		fmt.Fprint(w, "User-agent: *\nCrawl-delay: 2.5\n", strings.Repeat("# more\n", robotsBytes/7+1))
	})
	f := open(t, Config{})
	for range 3 {
		delay, known := f.CrawlDelay(t.Context(), strings.Replace(s.URL, "http://", "http://user:secret@", 1)+"/feed.xml?x=1")
		require.True(t, known)
		require.Equal(t, 2500*time.Millisecond, delay)
	}
	require.EqualValues(t, 1, asked.Load())

	for name, bad := range map[string]struct {
		answer http.HandlerFunc
		known  bool
	}{
		"none":      {http.NotFound, true},
		"forbidden": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, true},
		"broken":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, false},
		"busy":      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }, false},
		"endless":   {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, false},
		"a page":    {respond("<html>not here</html>"), true},
		"binary":    {respond("\x00\xff\xfe:\x80"), true},
	} {
		asked.Store(0)
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			bad.answer(w, r)
		})
		for range 2 {
			delay, known := f.CrawlDelay(t.Context(), s.URL)
			require.Equal(t, bad.known, known, name)
			require.Zero(t, delay, name)
		}
		if name != "endless" {
			require.EqualValues(t, 1, asked.Load(), name)
		}
	}
	_, known := f.CrawlDelay(t.Context(), "file:///etc/passwd")
	require.False(t, known)
	_, known = open(t, Config{AllowPrivate: []string{"10.0.0.1"}}).CrawlDelay(t.Context(), s.URL)
	require.False(t, known, "a private address that is not allowed")
}

func TestTheHostsOfRobotsTxtAreBounded(t *testing.T) {
	t.Parallel()
	var r robots
	now := time.Now()
	for i := range 2 * robotsHosts {
		r.keep(fmt.Sprint(i), robotsEntry{until: now.Add(time.Hour)}, now)
	}
	require.LessOrEqual(t, len(r.hosts), robotsHosts)
	for i := 0; len(r.hosts) < robotsHosts; i++ {
		r.keep(fmt.Sprint("more", i), robotsEntry{until: now.Add(time.Hour)}, now)
	}
	r.keep("new", robotsEntry{until: now.Add(3 * time.Hour)}, now.Add(2*time.Hour))
	require.Len(t, r.hosts, 1, "those that are over go first")
}
