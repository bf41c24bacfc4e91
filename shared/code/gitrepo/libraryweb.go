package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"leasehold/shared/fault"
)

// webServer is a repository behind http(s). Redirects are not followed, and no proxy is
// used, so that the checked address is the one that gets the credentials.
type webServer struct {
	store  *Store
	src    source
	client *http.Client
}

const maxToken = 4 << 10 // bytes of a file with a token

// newWebServer returns the server of src. Each connection goes to the address that Config.Resolve
// checks and returns for it, so that a name cannot lead to another address after the check.
// Redirects are not followed, because they could lead elsewhere.
func newWebServer(s *Store, src source) *webServer {
	dialer := net.Dialer{Timeout: 30 * time.Second}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		if s.Resolve == nil {
			return dialer.DialContext(ctx, network, address)
		}
		checked, err := s.Resolve(ctx, src.uri)
		if err != nil {
			return nil, err
		}
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		return dialer.DialContext(ctx, network, net.JoinHostPort(checked.String(), port))
	}
	return &webServer{s, src, &http.Client{
		Transport:     &http.Transport{DialContext: dial, TLSHandshakeTimeout: 30 * time.Second, ResponseHeaderTimeout: 2 * time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (w *webServer) close() { w.client.CloseIdleConnections() }

// advertise requests the list of refs. Users and fragments are not part of the requested address.
// The caller closes the body.
func (w *webServer) advertise(ctx context.Context) (io.ReadCloser, error) {
	u := *w.src.url
	u.User, u.Fragment = nil, ""
	at := u.JoinPath("info/refs")
	at.RawQuery = "service=git-upload-pack"
	return w.call(ctx, http.MethodGet, at, nil, "application/x-git-upload-pack-advertisement")
}

// upload sends a request for commits, and returns the answer with the pack.
func (w *webServer) upload(ctx context.Context, request []byte) (io.ReadCloser, error) {
	u := *w.src.url
	u.User, u.Fragment, u.RawQuery = nil, "", ""
	return w.call(ctx, http.MethodPost, u.JoinPath("git-upload-pack"), request, "application/x-git-upload-pack-result")
}

// call sends a request, and returns the body of its answer, which the caller closes. want is the
// content type of the answer. User-Agent begins with git/, because some servers answer only to git.
func (w *webServer) call(ctx context.Context, method string, u *url.URL, body []byte, want string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	}
	r.Header.Set("User-Agent", "git/1.0 (leasehold)")
	if body != nil {
		r.Header.Set("Content-Type", "application/x-git-upload-pack-request")
	}
	if err := w.authorise(r); err != nil {
		return nil, err
	}
	answer, err := w.client.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("%s: %w: %w", w.src.uri, fault.ErrUnavailable, err)
	}
	if err := checkStatus(answer, want); err != nil {
		answer.Body.Close()
		return nil, fmt.Errorf("%s: %w", w.src.uri, err)
	}
	return answer.Body, nil
}

// checkStatus returns an error if an answer is not 200 with the wanted content type, of the kind that
// its status says: fault.ErrForbidden, fault.ErrNotFound, fault.ErrInvalid for a redirect,
// fault.ErrUnavailable for all others.
func checkStatus(answer *http.Response, want string) error {
	switch code := answer.StatusCode; {
	case code == http.StatusOK && answer.Header.Get("Content-Type") == want:
		return nil
	case code == http.StatusOK:
		return fmt.Errorf("%w: the server does not answer as a git server", fault.ErrNotFound)
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return fmt.Errorf("%w: %s", fault.ErrForbidden, answer.Status)
	case code == http.StatusNotFound || code == http.StatusGone:
		return fmt.Errorf("%w: %s", fault.ErrNotFound, answer.Status)
	case code/100 == 3:
		return fmt.Errorf("%w: it redirects, which is not followed: name the address to which it leads", fault.ErrInvalid)
	}
	return fmt.Errorf("%w: %s", fault.ErrUnavailable, answer.Status)
}

// authorise adds the user and the password of the URL, or the token of its host, to a request.
// Without either it adds nothing. The user name for a token is the one that GitHub documents;
// other hosts ignore it. fault.ErrForbidden: the file of the token cannot be read.
func (w *webServer) authorise(r *http.Request) error {
	if user := w.src.user; user != nil {
		r.SetBasicAuth(user.Username(), password(w.src.url))
		return nil
	}
	file := w.store.Tokens[strings.ToLower(w.src.url.Hostname())]
	if file == "" {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("token of %s: %w: %w", w.src.url.Hostname(), fault.ErrForbidden, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxToken))
	if err != nil {
		return fmt.Errorf("token of %s: %w: %w", w.src.url.Hostname(), fault.ErrForbidden, err)
	}
	token, _, _ := strings.Cut(string(text), "\n")
	r.SetBasicAuth("x-access-token", token)
	return nil
}
