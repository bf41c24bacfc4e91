package fetch

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"

	"leasehold/shared/fault"
)

// Stream requests a URL whose content may never end, such as a live broadcast, and returns it as it comes.
// Nothing is cached, and the length is not limited. The host of the URL may be private, because it must be one
// that the user named; a host that it redirects to may not. Reading fails if ctx ends, or if nothing comes for 10
// minutes. The caller closes the content. Stream fails with fault.ErrInvalid for a URL that is not accepted.
func Stream(ctx context.Context, uri string) (io.ReadCloser, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s: want an http or https URL: %w", shorten(uri), fault.ErrInvalid)
	}
	f := &Fetcher{config: Config{Stall: defaultStall, MaxRedirects: defaultMaxRedirects}}
	if err := f.guard.allowURL(u); err != nil {
		return nil, err
	}
	if err := f.check(u); err != nil {
		return nil, err
	}
	f.client = f.newClient()
	t, err := f.send(ctx, http.MethodGet, uri, http.Header{"Accept-Encoding": {"identity"}}, nil, math.MaxInt64)
	if err != nil {
		f.client.CloseIdleConnections()
		return nil, err
	}
	return &stream{t, f.client}, nil
}

// stream is the content of a transfer that has a client of its own.
type stream struct {
	transfer *transfer
	client   *http.Client
}

func (s *stream) Read(p []byte) (int, error) { return s.transfer.body.Read(p) }

// Close ends the transfer and closes its connections. It always returns nil.
func (s *stream) Close() error {
	s.transfer.close()
	s.client.CloseIdleConnections()
	return nil
}
