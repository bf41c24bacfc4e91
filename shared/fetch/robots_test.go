package fetch

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheCrawlDelayOfRobotsTxt(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]time.Duration{
		"":                                 0,
		"User-agent: *\nCrawl-delay: 10\n": 10 * time.Second,
		"\ufeffUSER-AGENT : * # all\r\ncrawl-DELAY :  0.25 # s\r\n":                                                                                250 * time.Millisecond,
		"User-agent: other\nCrawl-delay: 9\n":                                                                                                      0,
		"User-agent: *\nCrawl-delay: 9\nUser-agent: Leasehold/1.0\nDisallow:\n":                                                                    0,
		"User-agent: leasehold\nCrawl-delay: 3\n\nUser-agent: *\nCrawl-delay: 9":                                                                   3 * time.Second,
		"User-agent: other\nUser-agent: *\nDisallow: /\nCrawl-delay: 4":                                                                            4 * time.Second,
		"User-agent: leaseholder\nCrawl-delay: 4":                                                                                                  0,
		"User-agent: leaseholdz\nUser-agent: leaseholdZ\nUser-agent: leaseholdA\nUser-agent: leasehold-x\nUser-agent: leasehold_x\nCrawl-delay: 4": 0,
		"User-agent: *\nAllow: /\nUser-agent: x\nCrawl-delay: 4":                                                                                   0,
		"User-agent: *\nCrawl-delay: 2\nUser-agent: x\nDisallow: /\nUser-agent: *\nCrawl-delay: 5":                                                 5 * time.Second,
		"User-agent: leasehold\ndisallow\nUser-agent: *\nCrawl-delay: 3":                                                                           3 * time.Second, // a line without a colon begins no rules
		"Crawl-delay: 7\n":                                        0,
		"User-agent: *\nCrawl-delay: -1\n":                        0,
		"User-agent: *\nCrawl-delay: NaN\n":                       0,
		"User-agent: *\nCrawl-delay: soon\n":                      0,
		"User-agent: *\nCrawl-delay: 1e300\n":                     24 * time.Hour,
		"User-agent: *\nCrawl-delay: 1e999\n":                     0,
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
		"gone away": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(499) }, true},
		"broken":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, false},
		"busy":      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }, false},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "User-agent: *\nCrawl-delay: 2\n")
		}, false},
		"endless": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, false},
		"a page":  {respond("<html>not here</html>"), true},
		"binary":  {respond("\x00\xff\xfe:\x80"), true},
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
	delay, known := f.CrawlDelay(t.Context(), "file:///etc/passwd")
	require.False(t, known)
	require.Zero(t, delay)
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
	r.keep("one more", robotsEntry{until: now.Add(time.Hour)}, now)
	require.Len(t, r.hosts, robotsHosts*9/10, "a tenth is free again")
	for i := 0; len(r.hosts) < robotsHosts; i++ {
		r.keep(fmt.Sprint("more", i), robotsEntry{until: now.Add(time.Hour)}, now)
	}
	r.keep("new", robotsEntry{until: now.Add(3 * time.Hour)}, now.Add(2*time.Hour))
	require.Len(t, r.hosts, 1, "those that are over go first")
}

func TestRobotsTxtIsWaitedForFiveSecondsAndItsLastDelayCountsUntilItIsReadAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f, err := New(Config{Dir: dir, AllowPrivate: []string{"127.0.0.1"}})
		require.NoError(t, err)
		delay := func() (time.Duration, bool) { return f.CrawlDelay(t.Context(), "http://127.0.0.1/a") }
		for range 2 { // a server that does not answer; then nobody asks it for an hour
			script(t.Context(), f, time.Hour, "")
			began := time.Now()
			got, known := delay()
			require.False(t, known)
			require.Zero(t, got)
			require.Equal(t, 5*time.Second, time.Since(began))
			got, known = delay()
			require.False(t, known)
			require.Zero(t, got)
			require.Equal(t, 5*time.Second, time.Since(began))
			time.Sleep(time.Hour)
		}
		const answer = "User-agent: *\nCrawl-delay: 7\n"
		script(t.Context(), f, 0, fmt.Sprintf("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer))
		for range 2 {
			got, known := delay()
			require.True(t, known)
			require.Equal(t, 7*time.Second, got)
			script(t.Context(), f, time.Hour, "")
			time.Sleep(24*time.Hour - time.Minute)
		}
		time.Sleep(time.Minute)
		began := time.Now()
		got, known := delay()
		require.True(t, known)
		require.Equal(t, 7*time.Second, got, "that of the day before")
		require.Equal(t, 5*time.Second, time.Since(began))
		require.NoError(t, f.Close())
	})
}
