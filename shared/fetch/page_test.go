package fetch

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
)

func TestTheNextPageOfALink(t *testing.T) {
	t.Parallel()
	for link, want := range map[string]string{
		"": "", "nonsense": "", "<https://a.example/?page=2": "",
		`<https://a.example/?page=2>; rel="next"`:                                           "https://a.example/?page=2",
		`<https://a.example/?page=1>; rel="prev", <https://a.example/?a=1,2&b=;>; Rel=next`: "https://a.example/?a=1,2&b=;",
		`<https://a.example/?page=9>; title="x"; rel="last"`:                                "",
		`<https://a.example/?page=2>; rel="next", <https://a.example/?page=9>; rel="last"`:  "https://a.example/?page=2",
		`<https://a.example/?page=1>; title="next"`:                                         "",
	} {
		require.Equal(t, want, nextLink(http.Header{"Link": {link}}), link)
	}
}

func TestARateLimitThatIsUsedUp(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, x := range []struct {
		remaining, reset, date string
		want                   time.Duration
	}{
		{"5", "9999999999", "", 0},
		{"0", "120", "", 2 * time.Minute},
		{"0", "x", "", busyFor},
		{"0", "1000000000", "", time.Minute}, // a date that has passed
		{"0", "61", "", 61 * time.Second},
		{"0", "0", "", time.Minute},
		{"0", "-5", "", time.Minute},
		{"0", "99999999999999", "", 7 * 24 * time.Hour},
		{"0", fmt.Sprint(now.AddDate(3, 0, 0).Unix() + 600), now.AddDate(3, 0, 0).UTC().Format(http.TimeFormat), 10 * time.Minute}, // a clock that is wrong by years
	} {
		h := http.Header{}
		h.Set("X-RateLimit-Remaining", x.remaining)
		h.Set("X-RateLimit-Reset", x.reset)
		h.Set("Date", x.date)
		require.Equal(t, x.want, limitedFor(h), x)
	}
	h := http.Header{}
	h.Set("RateLimit-Remaining", "0")
	h.Set("RateLimit-Reset", fmt.Sprint(now.Add(time.Hour).Unix()))
	require.InDelta(t, time.Hour, limitedFor(h), float64(2*time.Second))
}

func TestATokenReachesNoOtherServer(t *testing.T) {
	t.Parallel()
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		require.Empty(t, r.Header.Get("Authorization"))
		fmt.Fprint(w, "elsewhere")
	})
	first := serve(t, func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "Bearer secret", r.Header.Get("Authorization"))
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/limited":
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("X-RateLimit-Reset", "90")
			w.WriteHeader(http.StatusForbidden)
		default:
			http.Redirect(w, r, "/limited", http.StatusFound)
		}
	})
	f := open(t, Config{})
	p, err := f.Page(t.Context(), first.URL+"/away", models.Known{}, "secret", 100)
	require.NoError(t, err)
	require.Equal(t, "elsewhere", string(p.Content))
	_, err = f.Page(t.Context(), first.URL+"/here", models.Known{}, "secret", 100)
	require.ErrorContains(t, err, "403")
	require.NotContains(t, err.Error(), "secret")
	require.Equal(t, 90*time.Second, RetryAfter(err))
	_, err = f.Page(t.Context(), "file:///etc/passwd", models.Known{}, "secret", 100)
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestAPageHasTheLinkAndTheRateLimitOfItsAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "application/json", r.Header.Get("Accept"))
		_, authorized := r.Header["Authorization"]
		require.False(t, authorized, "there is no token")
		w.Header().Set("Link", `<https://a.example/?page=2>; rel=next`)
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", "90")
	})
	p, err := open(t, Config{}).Page(t.Context(), s.URL, models.Known{}, "", 100)
	require.NoError(t, err)
	require.Equal(t, "https://a.example/?page=2", p.Next)
	require.Equal(t, 90*time.Second, p.Pause)
}

func TestTheSameServerHasTheSameSchemeHostAndPort(t *testing.T) {
	t.Parallel()
	for other, want := range map[string]bool{
		"https://a.example/x": true, "https://A.example:443/": true, "http://a.example/": false, "http://a.example:443/": false,
		"https://a.example:8443/": false, "https://b.a.example/": false,
	} {
		u, err := url.Parse(other)
		require.NoError(t, err)
		require.Equal(t, want, sameServer(u, &url.URL{Scheme: "https", Host: "a.example"}), other)
	}
}
