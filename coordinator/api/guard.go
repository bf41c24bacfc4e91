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

// guard is what every request passes: what panics is caught, and what a browser
// was led here to do is refused.
func (s *server) guard(next http.Handler) http.Handler {
	var sameOrigin http.CrossOriginProtection
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.survive(w, r)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if !s.allows(r.Host) && r.URL.Path != "/healthz" && r.URL.Path != "/readyz" {
			s.fail(w, r, fmt.Errorf("host %.100q: %w: this name is not among the coordinator's; allow it in its settings", r.Host, fault.ErrForbidden))
			return
		}
		if err := sameOrigin.Check(r); err != nil {
			s.fail(w, r, fmt.Errorf("%w: %w", fault.ErrForbidden, err))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// survive makes an error of a panic. http.ErrAbortHandler is how a handler that
// has begun to answer says that it cannot go on.
func (s *server) survive(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	s.metrics.panics.Add(1)
	s.Log.Error("api: a request panicked", "method", r.Method, "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
	writeProblem(w, fault.Of(nil), "see the coordinator's log")
}

// allows reports whether a request may come under this name. One that comes
// through DNS rebinding has a name of the attacker's, in a domain of his: an
// address, localhost, or a name without a dot, none of them can be.
func (s *server) allows(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	if name == "" || !strings.Contains(name, ".") || strings.HasSuffix(name, ".localhost") {
		return name != ""
	}
	return slices.ContainsFunc(s.Hosts, func(h string) bool { return h == "*" || strings.EqualFold(h, name) })
}
