package lister

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
	"leasehold/shared/protocol/status"
)

const (
	pageBytes     = 16 << 20  // of one page of a forge
	maxPages      = 5_000     // of one list
	idlePages     = 3         // pages in a row without a new repository that end a list with an error
	listingFor    = time.Hour // for which the pages of a listing count
	rememberedAll = 500_000   // repositories in remembered pages, of all lists
	tokenBytes    = 4 << 10
)

// forges remembers the pages that lists of forges had, so that an unchanged page is not
// sent again (ETag), and a listing goes on where a rate limit stopped it.
type forges struct {
	mu    sync.Mutex
	lists map[string]*forgeList // by the URL of the origin
}

// forgeList remembers one list.
type forgeList struct {
	mu       sync.Mutex           // held while the list is read
	pages    map[string]forgePage // by URL
	began    time.Time            // when the listing began that reads them
	complete bool                 // that listing has read all pages

	used  time.Time // guarded by forges.mu, as is count
	count int       // repositories in pages
}

type forgePage struct {
	known models.Known
	list  []models.ListedOrigin
	next  string
	read  time.Time
	sent  time.Time // when the server last sent it, and not only that it was unmodified
}

// remembered returns the list of an origin, empty if it is new, and forgets those used longest ago
// while all together have more than rememberedAll repositories.
func (f *forges) remembered(uri string) *forgeList {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lists == nil {
		f.lists = map[string]*forgeList{}
	}
	for {
		total, oldest := 0, ""
		for other, l := range f.lists {
			total += l.count
			if other != uri && (oldest == "" || l.used.Before(f.lists[oldest].used)) {
				oldest = other
			}
		}
		if total <= rememberedAll || oldest == "" {
			break
		}
		delete(f.lists, oldest)
	}
	l := f.lists[uri]
	if l == nil {
		l = &forgeList{pages: map[string]forgePage{}}
		f.lists[uri] = l
	}
	l.used = time.Now()
	return l
}

// listForge lists the repositories that the API of a forge names, page by page. A visit that goes on with a list,
// or follows one that failed on the way, uses the pages that the one before it has read, for at most listingFor;
// all others are requested on the condition that they have changed, unless the visit is unconditional or the server
// has not sent them for sentAgain. idlePages pages in a row without a new name,
// or maxPages, are fault.ErrInvalid, because some servers answer each page with the first one.
func (f *Flow) listForge(ctx context.Context, o models.Origin, goesOn, unconditional bool) ([]models.ListedOrigin, error) {
	r, err := f.forgeReader(o.URI)
	if err != nil {
		return nil, err
	}
	r.unconditional = unconditional
	l := f.forges.remembered(o.URI)
	l.mu.Lock()
	defer l.mu.Unlock()
	defer f.forges.setCount(l)                                     // also after an error, because the pages are kept
	if l.complete && !goesOn || time.Since(l.began) > listingFor { // a new listing: no page counts as read
		l.began, l.complete = time.Now(), false
	}
	var named names
	uri, idle := r.first, 0
	for n := 1; uri != ""; n++ {
		page, err := r.pageOf(ctx, l, uri)
		if err != nil {
			return nil, fmt.Errorf("page %d: %w", n, err)
		}
		before := len(named.list)
		for _, listed := range page.list {
			named.add(listed)
		}
		if idle++; len(named.list) > before {
			idle = 0
		}
		uri = page.next
		if len(named.list) > maxNames {
			break
		}
		if uri != "" && (idle >= idlePages || n >= maxPages) {
			return nil, fmt.Errorf("page %d: %d pages in a row name nothing new, and there are more: %w", n, idle, fault.ErrInvalid)
		}
	}
	l.complete = true
	maps.DeleteFunc(l.pages, func(_ string, p forgePage) bool { return p.read.Before(l.began) })
	if r.skipped > 0 {
		status.Tell(f.Log, slog.LevelWarn, "", "list %s: %d elements are not repositories and were skipped", models.Redact(o.URI), r.skipped)
	}
	return named.list, nil
}

// pageOf returns a page of l. It is the remembered one if it was read since the listing began; otherwise the page
// is requested and remembered. The caller holds l.mu.
func (r *forgeReader) pageOf(ctx context.Context, l *forgeList, uri string) (forgePage, error) {
	page := l.pages[uri]
	if !page.read.Before(l.began) {
		return page, nil
	}
	page, err := r.read(ctx, uri, page)
	if err == nil {
		l.pages[uri] = page
	}
	return page, err
}

// setCount notes how many repositories the pages of a list have, for remembered. The caller holds
// l.mu.
func (f *forges) setCount(l *forgeList) {
	n := 0
	for _, p := range l.pages {
		n += len(p.list)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	l.count = n
}

// forgeReader reads the pages of one list.
type forgeReader struct {
	fetch   *fetch.Fetcher
	first   string // URL
	token   string
	skipped int       // elements that are not repositories
	pause   time.Time // no request before it: the rate limit is used up

	unconditional bool // no page is requested on a condition
}

// sentAgain is the longest time for which a page may stay unchanged before it is requested without a condition,
// because a cache before the server may be stuck.
const sentAgain = 7 * 24 * time.Hour

// forgeReader returns a reader of the API for a list's URI, with the token of its host.
func (f *Flow) forgeReader(uri string) (*forgeReader, error) {
	api, err := apiURL(uri)
	if err != nil {
		return nil, err
	}
	token, err := f.forgeToken(api)
	return &forgeReader{fetch: f.Fetch, first: api.String(), token: token}, err
}

// read requests a page that was known before, or is the zero page. While the server's rate limit is used up it
// requests nothing and returns fault.ErrUnavailable with the time to wait.
func (r *forgeReader) read(ctx context.Context, uri string, was forgePage) (forgePage, error) {
	if wait := time.Until(r.pause); wait > 0 {
		return was, fetch.Busy(fmt.Errorf("the rate limit is used up: %w", fault.ErrUnavailable), wait)
	}
	if r.unconditional || time.Since(was.sent) > sentAgain {
		was.known = models.Known{}
	}
	got, err := r.fetch.Page(ctx, uri, was.known, r.token, pageBytes)
	if err != nil {
		return was, err
	}
	if got.Pause > 0 {
		r.pause = time.Now().Add(got.Pause)
	}
	page := forgePage{known: models.Known{ETag: got.ETag, Modified: got.Modified}, list: was.list, next: was.next, read: time.Now(), sent: was.sent}
	if got.Same {
		return page, nil
	}
	page.sent = page.read
	var skipped int
	page.list, skipped, err = parseRepositories(got.Content)
	r.skipped += skipped
	page.next = nextPage(uri, got.Next)
	return page, err
}

// nextPage returns the URL of the page that a Link header names: the URL of the page before it with the query of
// the link. So a list never leads to another host, path or scheme.
func nextPage(uri, link string) string {
	at, err := url.Parse(uri)
	next, nextErr := url.Parse(link)
	if err != nil || nextErr != nil || link == "" || next.RawQuery == "" {
		return ""
	}
	at.RawQuery = next.RawQuery
	return at.String()
}

// publicForges are the APIs behind the pages of users and groups, by host.
var publicForges = map[string]string{
	"github.com":   "https://api.github.com/users/%s/repos",
	"gitlab.com":   "https://gitlab.com/api/v4/groups/%s/projects?include_subgroups=true",
	"codeberg.org": "https://codeberg.org/api/v1/users/%s/repos",
}

// apiURL returns the URL of the first page of a list: the URL of the API itself, or one made from the page of a
// user or group of a public forge. Pages are as long as the APIs allow, unless the URL states a length: per_page
// is for GitHub and GitLab, limit for Gitea, and each ignores the other.
func apiURL(uri string) (*url.URL, error) {
	u, err := url.Parse(uri)
	if err != nil || !models.IsWebURL(uri) {
		return nil, fmt.Errorf("want the http(s) URL of a forge's API: %w", fault.ErrInvalid)
	}
	name := strings.Trim(u.Path, "/")
	if api := publicForges[strings.ToLower(u.Host)]; api != "" && name != "" && !strings.HasPrefix(name, "api/") {
		if u, err = url.Parse(fmt.Sprintf(api, url.PathEscape(name))); err != nil {
			return nil, fmt.Errorf("%q: %w: %w", name, fault.ErrInvalid, err)
		}
	}
	q := u.Query()
	for name, most := range map[string]string{"per_page": "100", "limit": "50"} {
		if !q.Has(name) {
			q.Set(name, most)
		}
	}
	u.RawQuery, u.Fragment = q.Encode(), ""
	return u, nil
}

// forgeToken reads the token of an API's host; "" if there is none. It is not sent in the clear,
// except to this machine. A URL without https, a file that cannot be read, and one without a token
// give fault.ErrInvalid; no error shows the token.
func (f *Flow) forgeToken(api *url.URL) (string, error) {
	file := f.Tokens[strings.ToLower(api.Hostname())]
	if file == "" {
		return "", nil
	}
	if ip, err := netip.ParseAddr(api.Hostname()); api.Scheme != "https" && (err != nil || !ip.IsLoopback()) {
		return "", fmt.Errorf("forge-token of %s: want an https URL, because others would read the token: %w", api.Hostname(), fault.ErrInvalid)
	}
	in, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("forge-token of %s: %w: %w", api.Hostname(), fault.ErrInvalid, err)
	}
	defer in.Close()
	content, err := io.ReadAll(io.LimitReader(in, tokenBytes))
	if err != nil {
		return "", fmt.Errorf("forge-token of %s: %w: %w", api.Hostname(), fault.ErrInvalid, err)
	}
	token, _, _ := strings.Cut(strings.TrimSpace(string(content)), "\n")
	token = strings.TrimSpace(token)
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("forge-token of %s: file %s: want a line with a token: %w", api.Hostname(), file, fault.ErrInvalid)
	}
	return token, nil
}
