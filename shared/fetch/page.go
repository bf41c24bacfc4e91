package fetch

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
)

// A Page is the answer of an API to the request for one page of a list.
type Page struct {
	Poll
	Next  string        // the URL of the next page (Link: rel="next"), as the server wrote it; empty: none
	Pause time.Duration // the server's rate limit is used up for as long
}

// Page is Poll of a page of an API, with a token as Authorization: Bearer unless it is empty. A redirect to
// another host does not get the token. It fails with fault.ErrInvalid for the URI of a file.
func (f *Fetcher) Page(ctx context.Context, uri string, known models.Known, token string, maxBytes int64) (Page, error) {
	u, err := f.parse(uri)
	if err != nil {
		return Page{}, err
	}
	if u.Scheme == "file" {
		return Page{}, fmt.Errorf("fetch %s: want an http(s) URL: %w", u.Redacted(), fault.ErrInvalid)
	}
	header := http.Header{"Accept": {"application/json"}}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	poll, answer, err := f.poll(ctx, uri, header, known, maxBytes)
	if err != nil {
		return Page{}, fmt.Errorf("fetch %s: %w", u.Redacted(), err)
	}
	return Page{Poll: poll, Next: nextLink(answer), Pause: limitedFor(answer)}, nil
}

// nextLink returns the URL with the relation next of the Link headers (RFC 8288); empty if there
// is none or a header is malformed before it.
func nextLink(h http.Header) string {
	rest := strings.Join(h.Values("Link"), ",")
	for {
		_, link, _ := strings.Cut(rest, "<")
		target, after, closed := strings.Cut(link, ">")
		if !closed {
			return ""
		}
		parameters, _, _ := strings.Cut(after, "<") // of this link, and a comma
		for _, p := range strings.FieldsFunc(parameters, func(r rune) bool { return r == ';' || r == ',' }) {
			name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
			if strings.EqualFold(name, "rel") && strings.EqualFold(strings.Trim(value, `"`), "next") {
				return target
			}
		}
		rest = after
	}
}

// epoch is the smallest value of a reset header with a date; smaller ones are seconds.
const epoch = 1_000_000_000

// limitedFor returns for how long a rate limit is used up (X-RateLimit-Remaining and
// X-RateLimit-Reset of GitHub and Gitea, and the same without X- of GitLab), at least a
// minute and at most a week; 0: it is not. A reset from epoch on is a time of the server's own
// clock, a smaller one a number of seconds; busyFor counts if it is neither.
func limitedFor(h http.Header) time.Duration {
	for _, prefix := range []string{"X-RateLimit-", "RateLimit-"} {
		if strings.TrimSpace(h.Get(prefix+"Remaining")) != "0" {
			continue
		}
		reset, err := strconv.ParseInt(strings.TrimSpace(h.Get(prefix+"Reset")), 10, 64)
		if err != nil {
			return busyFor
		}
		if reset >= epoch {
			reset -= serverTime(h).Unix()
		}
		return time.Duration(min(max(reset, 60), 7*24*3600)) * time.Second
	}
	return 0
}

// Busy returns an error with the wait that a server asked for, as RetryAfter returns it.
func Busy(err error, wait time.Duration) error { return &retryError{err, wait, wait} }

// sameServer reports whether two URLs are of one server, which may get the same token.
func sameServer(a, b *url.URL) bool { return a.Scheme == b.Scheme && hostPort(a) == hostPort(b) }
