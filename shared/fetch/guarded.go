package fetch

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"leasehold/shared/fault"
)

// NewGuardedClient returns a client for requests to a URL with the scheme http or https. It connects only to
// public addresses and to those in allow (Config.AllowPrivate), whatever a name resolves to, uses no proxy, and
// follows no redirect: its answer is the redirect. timeout bounds a request with its answer. NewGuardedClient
// fails with fault.ErrInvalid if the URL could never be requested.
func NewGuardedClient(target string, allow []string, timeout time.Duration) (*http.Client, error) {
	g := &guard{}
	for _, entry := range allow {
		if err := g.allow(entry); err != nil {
			return nil, err
		}
	}
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%w: want a URL that begins with https:// or http://", fault.ErrInvalid) // without the URL, which may have a secret
	}
	if err := g.checkURL(u); err != nil {
		return nil, err
	}
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			DialContext: g.dial, TLSHandshakeTimeout: dialTimeout, MaxResponseHeaderBytes: maxHeaderBytes,
			MaxIdleConnsPerHost: 1, IdleConnTimeout: dialTimeout, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}
