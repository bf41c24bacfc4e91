package hub

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"leasehold/coordinator/visits"
	"leasehold/shared/fault"
)

const (
	maxBody      = 64 << 10 // bytes of a report
	maxChallenge = 4 << 10
	idLength     = 32 // hex digits of a callback
)

// ServeHTTP answers a request of a hub at Path. GET: the hub verifies a request, or denies it. POST: the hub reports
// a change; the body is only needed for its signature.
func (s *Subscriber) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	callback := strings.TrimPrefix(r.URL.Path, Path)
	if !isCallback(callback) {
		http.NotFound(w, r)
		return
	}
	x, err := s.Store.Subscription(r.Context(), callback)
	if err == nil {
		switch r.Method {
		case http.MethodGet:
			err = s.verify(r.Context(), w, x, r.URL.Query())
		case http.MethodPost:
			err = s.receive(w, r, x)
		default:
			w.Header().Set("Allow", "GET, POST")
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	}
	switch {
	case err == nil:
	case errors.Is(err, fault.ErrNotFound):
		http.NotFound(w, r)
	default:
		s.Log.Error("coordinator: the request of a hub failed", "origin", x.Origin, "error", err)
		http.Error(w, "try again later", http.StatusServiceUnavailable)
	}
}

func isCallback(id string) bool {
	bytes, err := hex.DecodeString(id)
	return err == nil && len(bytes) == idLength/2
}

// verify answers the verification of a request: the challenge, if this request of this topic is pending, else
// fault.ErrNotFound.
func (s *Subscriber) verify(ctx context.Context, w http.ResponseWriter, x visits.Subscription, q url.Values) error {
	v, ok := parseVerification(q)
	if !ok || v.topic != x.Topic {
		return fault.ErrNotFound
	}
	if v.mode == "denied" && !x.Leaving {
		return s.deny(ctx, x.Callback, v.reason)
	}
	if v.mode != mode(x) || x.Asked == 0 {
		return fault.ErrNotFound
	}
	if err := s.confirm(ctx, x.Callback, v.lease); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, v.challenge) // the hub tries again if the connection breaks
	return nil
}

// A verification is the query of a hub's GET.
type verification struct {
	mode, topic, challenge, reason string
	lease                          int64 // seconds
}

// parseVerification reads a query. A subscription needs a lease of a second or more, and each mode but denied a
// challenge.
func parseVerification(q url.Values) (v verification, ok bool) {
	v = verification{mode: q.Get("hub.mode"), topic: q.Get("hub.topic"), challenge: q.Get("hub.challenge"), reason: q.Get("hub.reason")}
	var err error
	switch v.mode {
	case "denied":
		return v, true
	case "subscribe":
		v.lease, err = strconv.ParseInt(q.Get("hub.lease_seconds"), 10, 64)
		ok = err == nil && v.lease > 0
	case "unsubscribe":
		ok = true
	}
	return v, ok && v.challenge != "" && len(v.challenge) <= maxChallenge
}

// receive checks the signature of a report, and passes it on. It answers 413 for a longer body and 403 for another
// signature.
func (s *Subscriber) receive(w http.ResponseWriter, r *http.Request, x visits.Subscription) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return nil
	case err != nil:
		return nil // the hub has ended the request
	case x.Leaving:
		return fault.ErrNotFound
	case !signed(r.Header.Get("X-Hub-Signature"), x.Secret, body):
		w.WriteHeader(http.StatusForbidden)
		return nil
	}
	if err := s.Store.Tell(r.Context(), time.Now(), x.Origin); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// methods are the hashes that the W3C Recommendation allows in a signature.
var methods = map[string]func() hash.Hash{"sha1": sha1.New, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New}

// signed reports whether a header such as sha256=HEX is the signature of a body with a secret.
func signed(header, secret string, body []byte) bool {
	method, text, _ := strings.Cut(header, "=")
	newHash := methods[method]
	given, err := hex.DecodeString(text)
	if newHash == nil || err != nil || secret == "" {
		return false
	}
	mac := hmac.New(newHash, []byte(secret))
	mac.Write(body)
	return hmac.Equal(given, mac.Sum(nil))
}

// cut limits the length of a reason that is kept.
func cut(text string) string {
	runes := []rune(strings.ToValidUTF8(text, "�"))
	return string(runes[:min(len(runes), maxReason)])
}

// ignoreNotFound returns nil if the subscription was removed meanwhile.
func ignoreNotFound(err error) error {
	if errors.Is(err, fault.ErrNotFound) {
		return nil
	}
	return err
}
