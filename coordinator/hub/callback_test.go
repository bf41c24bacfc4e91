package hub

import (
	"crypto/hmac"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// signature returns the header of a body that a hub signed.
func signature(method, secret, body string) string {
	mac := hmac.New(methods[method], []byte(secret))
	_, _ = io.WriteString(mac, body)
	return method + "=" + hex.EncodeToString(mac.Sum(nil))
}

func TestOnlyASignedReportCounts(t *testing.T) {
	t.Parallel()
	m := newStore()
	s := &Subscriber{Store: m, Log: slog.New(slog.DiscardHandler)}
	send := func(header, body string) int {
		r := httptest.NewRequest("POST", Path+callback, strings.NewReader(body))
		r.Header.Set("X-Hub-Signature", header)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code
	}
	good := signature("sha256", "s3cret", "news")
	for _, bad := range []string{"", "sha256", "sha256=", "md5=" + good[7:], good[7:], good[:len(good)-2], good + "00", "SHA256=" + good[7:], "sha1=" + good[7:],
		signature("sha256", "other", "news"), signature("sha256", "", "news"), signature("sha256", "s3cret", "old")} {
		require.Equal(t, 403, send(bad, "news"), bad)
	}
	require.Empty(t, m.told)
	for method := range methods {
		require.Equal(t, 204, send(signature(method, "s3cret", "news"), "news"), method)
	}
	require.Len(t, m.told, 4)
	full := strings.Repeat("x", maxBody)
	require.Equal(t, 204, send(signature("sha512", "s3cret", full), full))
	require.Equal(t, 413, send(signature("sha512", "s3cret", full+"x"), full+"x"))
	require.Equal(t, []string{"feed-1", "feed-1", "feed-1", "feed-1", "feed-1"}, m.told)

	x := m.all[callback]
	x.Leaving = true
	m.all[callback] = x
	require.Equal(t, 404, send(good, "news"), "it is being left")
	delete(m.all, callback)
	require.Equal(t, 404, send(good, "news"), "unknown")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("PUT", Path+callback, nil))
	require.Equal(t, 404, w.Code)
}

// FuzzCallback sends any query and any signature: only a pending request is confirmed, and only the right signature
// reports a change.
func FuzzCallback(f *testing.F) {
	f.Add("hub.mode=subscribe&hub.topic=https://a.example/feed&hub.challenge=c&hub.lease_seconds=60", "sha256=00", "news")
	f.Add("hub.mode=denied&hub.topic=https://a.example/feed&hub.reason=%ff", signature("sha1", "s3cret", "news"), "news")
	f.Add("hub.mode=unsubscribe&%zz", "sha512=", "")
	f.Fuzz(func(t *testing.T, query, header, body string) {
		m := newStore()
		x := m.all[callback]
		x.Asked = 1
		m.all[callback] = x
		s := &Subscriber{Store: m, Log: slog.New(slog.DiscardHandler)}
		r := httptest.NewRequest("GET", Path+callback, nil)
		r.URL.RawQuery = query
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if m.all[callback].Until > 0 {
			q, _ := url.ParseQuery(query)
			require.Equal(t, []string{"subscribe", "https://a.example/feed", w.Body.String()}, []string{q.Get("hub.mode"), q.Get("hub.topic"), q.Get("hub.challenge")})
		}
		require.LessOrEqual(t, len([]rune(m.all[callback].Error)), maxReason)

		r = httptest.NewRequest("POST", Path+callback, strings.NewReader(body))
		r.Header.Set("X-Hub-Signature", header)
		w = httptest.NewRecorder()
		s.ServeHTTP(w, r)
		right := false
		for method := range methods {
			right = right || strings.EqualFold(header, signature(method, "s3cret", body)) && strings.HasPrefix(header, method+"=")
		}
		require.Equal(t, right && len(body) <= maxBody, len(m.told) == 1)
	})
}
