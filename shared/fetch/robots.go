package fetch

import (
	"context"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// robotsFor is how long the robots.txt of a host counts.
	robotsFor = 24 * time.Hour
	// robotsAgain is the wait after a robots.txt that could not be read.
	robotsAgain = time.Hour
	// robotsWithin is how long reading it may take, because a slot waits for it.
	robotsWithin = 5 * time.Second
	// robotsBytes of it are read; RFC 9309 wants at least 500 KiB.
	robotsBytes = 512 << 10
	// robotsHosts is how many hosts are remembered.
	robotsHosts = 50_000
)

// robots remembers the Crawl-delay of hosts, so that robots.txt is requested at most once a
// day from each.
type robots struct {
	mu    sync.Mutex
	hosts map[string]robotsEntry // by scheme and host
}

type robotsEntry struct {
	delay time.Duration
	known bool      // robots.txt was read, or the host has none
	until time.Time // then it is read again
}

// CrawlDelay returns the time that the robots.txt of a URL's host asks crawlers to wait between two requests, 0
// if it does not ask. known is false if robots.txt could not be read now or is being read for another call; the
// delay is then the previous one, if any. The Disallow lines have no effect, because each fetched URL was added
// or listed as one to fetch.
func (f *Fetcher) CrawlDelay(ctx context.Context, uri string) (delay time.Duration, known bool) {
	u, err := f.parse(uri)
	if err != nil || u.Scheme == "file" {
		return 0, false
	}
	site := siteOf(u)
	now := time.Now()
	f.robots.mu.Lock()
	e, asked := f.robots.hosts[site]
	if asked && now.Before(e.until) {
		f.robots.mu.Unlock()
		return e.delay, e.known
	}
	// Kept before the request, so that no other call reads it too, and none for robotsAgain if it fails.
	f.robots.keep(site, robotsEntry{e.delay, e.known, now.Add(robotsAgain)}, now)
	f.robots.mu.Unlock()

	content, err := f.readRobots(ctx, site)
	if err != nil {
		return e.delay, e.known
	}
	e = robotsEntry{crawlDelay(content), true, now.Add(robotsFor)}
	f.robots.mu.Lock()
	f.robots.keep(site, e, now)
	f.robots.mu.Unlock()
	return e.delay, true
}

// siteOf returns the URL of the robots.txt for a URL, without a user.
func siteOf(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host), Path: "/robots.txt"}).String()
}

// keep stores an entry; mu must be held. If there are too many, those that have expired (until)
// are removed, and then any others until a tenth of robotsHosts is free.
func (r *robots) keep(site string, e robotsEntry, now time.Time) {
	if r.hosts == nil {
		r.hosts = map[string]robotsEntry{}
	}
	if len(r.hosts) >= robotsHosts {
		maps.DeleteFunc(r.hosts, func(_ string, x robotsEntry) bool { return !now.Before(x.until) })
		for other := range r.hosts {
			if len(r.hosts) < robotsHosts*9/10 {
				break
			}
			delete(r.hosts, other)
		}
	}
	r.hosts[site] = e
}

// readRobots returns the beginning of a robots.txt; it is empty if the host has none. An error, of
// send or of body.Read, means that it could not be read now.
func (f *Fetcher) readRobots(ctx context.Context, site string) (string, error) {
	ctx, cancel := WithoutWaits(ctx, robotsWithin, longestWaits)
	defer cancel()
	ctx = politely(ctx)
	hopsOf(ctx).robots = true
	t, err := f.send(ctx, http.MethodGet, site, http.Header{"Accept-Encoding": {"gzip"}}, nil, math.MaxInt64)
	if refusedByServer(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer t.close()
	content, err := io.ReadAll(io.LimitReader(t.body, robotsBytes))
	return string(content), err
}
