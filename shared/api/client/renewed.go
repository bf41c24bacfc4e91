package client

import (
	"net/http"
	"net/http/httptrace"
)

// renewed is the transport of a client that proves by the certificates of its connections who it is. A connection shows
// the certificate of the time at which it was opened, and that may have ended since. So a request that is refused over a
// connection that was open before is sent again. The coordinator has not executed it, and closes each such connection.
// So after maxConnections at most the request gets a new one, for which Options.Dial renews the certificate.
type renewed struct{ *http.Transport }

func (t renewed) RoundTrip(r *http.Request) (*http.Response, error) {
	for n := 0; ; n++ {
		wasOpen := false
		trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { wasOpen = c.Reused || c.WasIdle }}
		resp, err := t.Transport.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
		if err != nil || resp.StatusCode != http.StatusUnauthorized || !wasOpen || n == maxConnections {
			return resp, err
		}
		_ = resp.Body.Close() // what it says is about the former certificate
		r = r.Clone(r.Context())
		if r.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
}
