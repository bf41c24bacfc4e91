package auth

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"leasehold/shared/access"
	"leasehold/shared/fault"
)

const (
	// cookieLife is how long a browser stays signed in.
	cookieLife = 12 * time.Hour
	maxCookies = 10_000

	secureCookie = "__Host-lh" // browsers accept it over TLS only
	plainCookie  = "lh"
)

// cookies are the browsers that are signed in. They are kept in memory: after a restart people sign in again.
type cookies struct {
	now func() time.Time

	mu   sync.Mutex // guards open
	open map[string]signedIn
}

// signedIn is a browser that is signed in with a token. The token is looked up for each request, so that a revoked one
// ends at once.
type signedIn struct {
	token string
	until time.Time
}

func newCookies(now func() time.Time) cookies { return cookies{now: now, open: map[string]signedIn{}} }

// add signs a browser in, and returns the value of its cookie. It fails with fault.ErrOverloaded for too many browsers.
func (c *cookies) add(token string) (value string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for value, s := range c.open {
		if !c.now().Before(s.until) {
			delete(c.open, value)
		}
	}
	if len(c.open) >= maxCookies {
		return "", fmt.Errorf("%w: %d browsers are signed in, the maximum", fault.ErrOverloaded, len(c.open))
	}
	id := make([]byte, 32)
	_, _ = rand.Read(id) // it never fails
	value = hex.EncodeToString(id)
	c.open[value] = signedIn{token, c.now().Add(cookieLife)}
	return value, nil
}

// remove signs a browser out.
func (c *cookies) remove(value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, value)
}

// identity returns the identity of the token with which the browser of a request signed in; the zero Identity if it is
// not signed in. A cookie that is not known is as none, so that the page asks for a token again.
func (c *cookies) identity(r *http.Request, byToken func(string) (access.Identity, error)) (access.Identity, error) {
	cookie, err := r.Cookie(cookieName(r))
	if err != nil {
		return access.Identity{}, nil
	}
	c.mu.Lock()
	s, known := c.open[cookie.Value]
	c.mu.Unlock()
	if !known || !c.now().Before(s.until) {
		return access.Identity{}, nil
	}
	i, err := byToken(s.token)
	if err != nil {
		return access.Identity{}, nil
	}
	return i, nil
}

// SignIn signs the browser of a request in with a token. A token that is not known is fault.ErrUnauthenticated.
func (a *Auth) SignIn(w http.ResponseWriter, r *http.Request, token string) error {
	if _, err := a.ByToken(r.RemoteAddr, token); err != nil {
		return err
	}
	value, err := a.cookies.add(token)
	if err == nil {
		http.SetCookie(w, newCookie(r, value, int(cookieLife.Seconds())))
	}
	return err
}

// SignOut signs the browser of a request out.
func (a *Auth) SignOut(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(cookieName(r)); err == nil {
		a.cookies.remove(cookie.Value)
	}
	http.SetCookie(w, newCookie(r, "", -1))
}

// newCookie returns a cookie that only this page gets back, and no script. maxAge is in seconds; -1 removes it.
func newCookie(r *http.Request, value string, maxAge int) *http.Cookie {
	return &http.Cookie{Name: cookieName(r), Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: !isPlain(r)}
}

func cookieName(r *http.Request) string {
	if isPlain(r) {
		return plainCookie
	}
	return secureCookie
}

// isPlain reports whether a request came without TLS from this machine. A port with authentication accepts no other
// ones without TLS.
func isPlain(r *http.Request) bool {
	if proof, ok := r.Context().Value(proofKey{}).(proof); ok && proof.secured {
		return false
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
