package api

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"

	"leasehold/shared/fault"
)

// guard recovers panics, and refuses requests that a browser was tricked into sending. Health
// checks may have any Host, because they come from machines that know only an address, and change
// nothing.
func (s *server) guard(next http.Handler) http.Handler {
	var sameOrigin http.CrossOriginProtection
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.recoverPanic(w, r)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if !AllowsHost(r.Host, s.Hosts) && r.URL.Path != "/healthz" && r.URL.Path != "/readyz" {
			s.fail(w, r, fmt.Errorf("host %.100q: %w: want an address, localhost, a name without a dot, or one that the coordinator's setting http-names has", r.Host, fault.ErrForbidden))
			return
		}
		if err := sameOrigin.Check(r); err != nil {
			s.fail(w, r, fmt.Errorf("%w: %w", fault.ErrForbidden, err))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// recoverPanic converts a panic into an error response. It passes on
// http.ErrAbortHandler, because a handler panics with it when it has to abort a response
// that it has begun.
func (s *server) recoverPanic(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	s.metrics.panics.Inc()
	s.Log.Error("api: a request panicked", "method", r.Method, "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
	writeProblem(w, fault.Of(nil), "see the coordinator's log")
}

// AllowsHost reports whether a request may have this Host, if a server has further names. After DNS rebinding it is a name
// in the attacker's domain, so it cannot be an address, localhost or a name without a dot.
func AllowsHost(host string, names []string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	if name == "" {
		return false
	}
	if !strings.Contains(name, ".") || strings.HasSuffix(name, ".localhost") {
		return true
	}
	return slices.ContainsFunc(names, func(h string) bool { return h == "*" || strings.EqualFold(h, name) })
}
