package fetch

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"leasehold/models"
)

// Requests of visits take turns at hosts: those of Poll, Page, Head and robots.txt, each redirected one at the host
// that it leads to. Downloads and Post take none, because they would keep visits waiting for as long as they last.

// SetPace sets how many requests of visits each host gets at once, and the longest Crawl-delay that is obeyed between
// two of them. Before the first call requests wait for nothing. The pause of a host is known after its
// robots.txt was read, at the latest before its second request.
func (f *Fetcher) SetPace(slots int, longestGap time.Duration) {
	f.turns.SetSlots(slots)
	f.longestGap.Store(int64(longestGap))
	f.paced.Store(true)
}

type hopsKey struct{}

// hops are the requests that one request became by redirects. Only one goroutine uses them.
type hops struct {
	stall     *stallTimer
	robots    bool     // for robots.txt, so no robots.txt is read before
	last      *url.URL // requested
	moved     *url.URL // where the redirects lead that are permanent, up to the first other one; nil: none is
	temporary bool     // a redirect was not permanent
}

// politely returns a context whose requests take turns.
func politely(ctx context.Context) context.Context {
	return context.WithValue(ctx, hopsKey{}, &hops{})
}

func hopsOf(ctx context.Context) *hops {
	h, _ := ctx.Value(hopsKey{}).(*hops)
	return h
}

// noteRedirect notes where a redirect with a status leads.
func (h *hops) noteRedirect(status int, to *url.URL) {
	if permanent := status == http.StatusMovedPermanently || status == http.StatusPermanentRedirect; !permanent {
		h.temporary = true
	}
	if !h.temporary {
		h.moved = to
	}
}

// movedTo returns the URL at which a document is from now on, if all servers on the way there call it permanent; else
// it is empty.
func (h *hops) movedTo() string {
	if h.moved == nil {
		return ""
	}
	return h.moved.String()
}

// polite is a transport whose requests take turns, if their context asks for it.
type polite struct {
	*http.Transport
	fetcher *Fetcher
}

// RoundTrip implements http.RoundTripper. A turn ends with the body of the answer.
func (p polite) RoundTrip(r *http.Request) (*http.Response, error) {
	h := hopsOf(r.Context())
	if h == nil {
		return p.Transport.RoundTrip(r)
	}
	h.last = r.URL
	end := func() {}
	if p.fetcher.paced.Load() {
		h.stall.timer.Stop() // a wait for a turn does not count as a stall
		var err error
		end, err = p.fetcher.takeTurn(r.Context(), r.URL, h.robots)
		h.stall.timer.Reset(h.stall.after)
		if err != nil {
			return nil, err
		}
	}
	resp, err := p.Transport.RoundTrip(r)
	if err != nil {
		end()
		return nil, err
	}
	resp.Body = turnBody{resp.Body, end}
	return resp, nil
}

// turnBody is a body that ends a turn when it is closed.
type turnBody struct {
	io.ReadCloser
	end func()
}

func (b turnBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

// takeTurn waits for a turn at the host of a URL; end ends it. The wait does not count for Within and WithoutWaits.
func (f *Fetcher) takeTurn(ctx context.Context, u *url.URL, robots bool) (end func(), err error) {
	gap := min(f.pauseOf(ctx, u, robots), time.Duration(f.longestGap.Load()))
	ctx, ready := waiting(ctx)
	defer ready()
	return f.turns.Take(ctx, models.HostOf(u.String()), gap)
}

// pauseOf returns the Crawl-delay of a URL's host. Before the second request of a host it reads robots.txt, if that
// is not known; not before the first, because most visits make only one. known says that only what is known counts.
func (f *Fetcher) pauseOf(ctx context.Context, u *url.URL, known bool) time.Duration {
	site, now := siteOf(u), time.Now()
	f.robots.mu.Lock()
	e, requested := f.robots.hosts[site]
	if !requested {
		f.robots.keep(site, robotsEntry{until: now}, now)
	}
	f.robots.mu.Unlock()
	if known || !requested || now.Before(e.until) {
		return e.delay
	}
	delay, _ := f.CrawlDelay(ctx, u.String())
	return delay
}

type answeredKey struct{}

// Answered is where the first request of a visit ended.
type Answered struct {
	mu sync.Mutex
	at string
}

// WithAnswered returns a context that notes where its first request ends.
func WithAnswered(ctx context.Context) (context.Context, *Answered) {
	a := &Answered{}
	return context.WithValue(ctx, answeredKey{}, a), a
}

// URL returns the scheme and host of the server that was asked last; empty if no request was made.
func (a *Answered) URL() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.at
}

// noteAnswered notes where a request ended, if it was the first of the visit and not for robots.txt.
func noteAnswered(ctx context.Context, h *hops) {
	a, _ := ctx.Value(answeredKey{}).(*Answered)
	if a == nil || h == nil || h.robots || h.last == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at == "" {
		a.at = (&url.URL{Scheme: h.last.Scheme, Host: h.last.Host}).String()
	}
}
