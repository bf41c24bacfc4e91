package page

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"leasehold/coordinator/api"
	"leasehold/shared/access"
)

const (
	// maxVisitors is the maximum number of concurrent event streams.
	maxVisitors = 200
	// pause is the time between two events, and maxAge how old a rendered view may be, so that each event has a newer one.
	pause  = time.Second
	maxAge = 9 * pause / 10
	// maxKept bounds the views that are kept; above it, each request renders its own.
	maxKept = 500
	// renderTimeout bounds the time in which a view is read and rendered.
	renderTimeout = 10 * time.Second
)

// rendered is a view that was rendered.
type rendered struct {
	live      bool // the stream of events has it
	gone      bool // what the page shows does not exist any more
	at        time.Time
	title     string
	html      string
	status    int // of the answer
	attention int // items that stop or degrade work
}

// cache keeps each view for maxAge, so that many visitors cost as much as one. Visitors with other roles see other
// views.
type cache struct {
	mu   sync.Mutex // guards kept
	kept map[string]*keptView
}

// keptView is a view in the cache. Its lock is held while it is rendered, so that others wait for it.
type keptView struct {
	mu    sync.Mutex // guards what follows
	shown rendered
	err   error
	began time.Time // of the rendering; zero: not rendered yet
}

// viewOf returns the place of a view, and removes those that are old.
func (c *cache) viewOf(key string) *keptView {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.kept[key]; k != nil {
		return k
	}
	if len(c.kept) >= maxKept {
		c.kept = map[string]*keptView{} // those that are rendered now end by themselves
	}
	k := &keptView{}
	c.kept[key] = k
	return k
}

// forget empties the cache, because an action changed something.
func (c *cache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = map[string]*keptView{}
}

// cached returns a view that is at most maxAge old.
func (p *Page) cached(w view, r *http.Request) (rendered, error) {
	who := access.Of(r.Context())
	query := r.URL.Query()
	query.Del("did")
	k := p.cache.viewOf(fmt.Sprintf("%d %q %s?%s", who.Roles, who.Spaces, r.URL.Path, query.Encode()))
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.began.IsZero() && time.Since(k.began) < maxAge && k.err == nil {
		return k.shown, nil
	}
	// Without cancellation, because other visitors wait for the view too.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), renderTimeout)
	defer cancel()
	k.began = time.Now()
	k.shown, k.err = p.render(w, r.WithContext(ctx))
	return k.shown, k.err
}

// fragmentKey is the key of the *rendered that a view fills instead of writing a page.
type fragmentKey struct{}

// fragment returns the view of an address for a visitor. It has no html if it cannot be read.
func (p *Page) fragment(r *http.Request, address *url.URL) rendered {
	var shown rendered
	inner := r.Clone(context.WithValue(r.Context(), fragmentKey{}, &shown))
	inner.URL, inner.RequestURI = address, address.RequestURI()
	var ignored recorder
	p.mux.ServeHTTP(&ignored, inner)
	return shown
}

// times matches the text of a time, which changes although nothing happened.
var times = regexp.MustCompile(`(<time [^>]*>)[^<]*</time>`)

// events streams the view that the parameter "page" names: an event "main" when it changes, otherwise an event "at" each
// second, and "gone" at the end if what it shows does not exist any more. The id of each event is the time of its state, by the
// coordinator's clock. The stream ends when the visitor disconnects or does not read, when the view cannot be read or is
// not live, and when the server stops.
func (p *Page) events(w http.ResponseWriter, r *http.Request) {
	address, err := url.Parse(r.URL.Query().Get("page"))
	if err != nil || !strings.HasPrefix(address.Path, "/") || address.Host != "" || address.Path == "/events" {
		http.Error(w, "The parameter page must be the path of a page, such as /tasks.", http.StatusBadRequest)
		return
	}
	if p.visitors.Add(1) > maxVisitors {
		p.visitors.Add(-1)
		w.Header().Set("Retry-After", "60")
		http.Error(w, "Too many visitors follow this page. Reload it to see changes.", http.StatusServiceUnavailable)
		return
	}
	defer p.visitors.Add(-1)
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Time{}) // the visitor sends nothing more
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for seen := ""; ; {
		shown := p.fragment(r, address)
		if !shown.live && !shown.gone {
			return
		}
		if err := c.SetWriteDeadline(time.Now().Add(p.WriteTimeout)); err != nil {
			return
		}
		if _, err := w.Write(eventOf(shown, &seen)); err != nil || c.Flush() != nil || shown.gone {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-api.Draining(r.Context()):
			return
		case <-tick.C:
		}
	}
}

// eventOf returns the event for a view, and updates what was seen of it.
func eventOf(shown rendered, seen *string) []byte {
	if shown.gone {
		return []byte("event: gone\ndata: gone\n\n")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "id: %s\n", shown.at.UTC().Format("2006-01-02T15:04:05.000Z"))
	now := strconv.Itoa(shown.attention) + times.ReplaceAllString(shown.html, "$1")
	if now == *seen {
		b.WriteString("event: at\ndata: at\n\n")
		return b.Bytes()
	}
	*seen = now
	b.WriteString("event: main\n")
	for line := range strings.SplitSeq(strings.ReplaceAll(shown.html, "\r", ""), "\n") {
		fmt.Fprintf(&b, "data: %s\n", line)
	}
	b.WriteByte('\n')
	return b.Bytes()
}
