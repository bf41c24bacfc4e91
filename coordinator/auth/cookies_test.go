package auth_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/admission"
	"leasehold/shared/access"
	"leasehold/shared/fault"
)

// signIn signs a browser in, and returns its cookie.
func (h *fixture) signIn(r *http.Request, token string) *http.Cookie {
	h.Helper()
	w := httptest.NewRecorder()
	require.NoError(h, h.SignIn(w, r, token))
	cookies := w.Result().Cookies()
	require.Len(h, cookies, 1)
	return cookies[0]
}

// with returns a request with a cookie.
func with(r *http.Request, c *http.Cookie) *http.Request {
	r = r.Clone(r.Context())
	r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
	return r
}

// requireSignedIn fails unless a request with a cookie has the identity with an id; empty: none.
func (h *fixture) requireSignedIn(r *http.Request, id string) {
	h.Helper()
	i, err := h.OfRequest(r)
	require.NoError(h, err, "a cookie that is not known is as none")
	require.Equal(h, id, i.ID)
}

func TestABrowserIsSignedInForTwelveHours(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	made, secret := h.token(admission.Token{Name: "ann", Roles: access.Reader})
	r := h.request(nil, "/")
	cookie := h.signIn(r, secret)
	require.Len(t, cookie.Value, 64, "256 bits")
	require.Equal(t, int((12 * time.Hour).Seconds()), cookie.MaxAge)
	require.NotContains(t, cookie.String(), secret)
	h.requireSignedIn(with(r, cookie), made.ID)
	require.NotEqual(t, cookie.Value, h.signIn(r, secret).Value)
	h.clock = h.clock.Add(12*time.Hour - time.Second)
	h.requireSignedIn(with(r, cookie), made.ID)
	h.clock = h.clock.Add(time.Second)
	h.requireSignedIn(with(r, cookie), "")
}

func TestOnlyAGoodTokenSignsIn(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, ended := h.token(admission.Token{Name: "ended", Roles: access.Reader, Expires: h.clock.Add(time.Minute)})
	h.clock = h.clock.Add(time.Minute)
	for _, token := range []string{"", "lht-wrong", ended} {
		w := httptest.NewRecorder()
		require.ErrorIs(t, h.SignIn(w, h.request(nil, "/sign-in"), token), fault.ErrUnauthenticated)
		require.Empty(t, w.Result().Cookies())
	}
}

func TestASignedOutBrowserIsUnknown(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, secret := h.token(admission.Token{Name: "ann", Roles: access.Reader})
	r := h.request(nil, "/")
	cookie := h.signIn(r, secret)
	other := h.signIn(r, secret)
	w := httptest.NewRecorder()
	h.SignOut(w, with(r, cookie))
	removed := w.Result().Cookies()[0]
	require.Equal(t, cookie.Name, removed.Name)
	require.Empty(t, removed.Value)
	require.Equal(t, -1, removed.MaxAge)
	h.requireSignedIn(with(r, cookie), "")
	i, err := h.OfRequest(with(r, other))
	require.NoError(t, err)
	require.Equal(t, "ann", i.Name, "another browser stays")
	h.SignOut(httptest.NewRecorder(), r) // without a cookie
}

func TestTheBrowserOfARevokedTokenIsSignedOut(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, secret := h.token(admission.Token{Name: "ann", Roles: access.Reader})
	r := h.request(nil, "/")
	cookie := h.signIn(r, secret)
	_, err := h.RevokeToken(t.Context(), "ann")
	require.NoError(t, err)
	h.requireSignedIn(with(r, cookie), "")
}

func TestCookiesAreForThisPageOnly(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	made, secret := h.token(admission.Token{Name: "ann", Roles: access.Reader})
	secured, plain := h.request(h.connect(nil), "/"), h.request(nil, "/")
	for _, x := range []struct {
		name    string
		request *http.Request
		secure  bool
	}{{"__Host-lh", secured, true}, {"lh", plain, false}} {
		cookie := h.signIn(x.request, secret)
		require.Equal(t, x.name, cookie.Name)
		require.Equal(t, x.secure, cookie.Secure)
		require.True(t, cookie.HttpOnly)
		require.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
		require.Equal(t, "/", cookie.Path)
		require.Empty(t, cookie.Domain)
		h.requireSignedIn(with(x.request, cookie), made.ID)
	}
	// A cookie that a page without TLS could have set is not taken over TLS.
	h.requireSignedIn(with(secured, h.signIn(plain, secret)), "")
}

func TestARandomCookieIsUnknown(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.requireSignedIn(with(h.request(nil, "/"), &http.Cookie{Name: "lh", Value: "0123"}), "")
}
