package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"leasehold/shared/access"
	"leasehold/shared/fault"
)

// maxForm bounds the body of the form that signs a browser in, in bytes.
const maxForm = 4 << 10

// signedIn returns the page for browsers whose token is of a reader. Others get the page that asks for a token, which
// the page serves itself for requests of an identity without that role.
func (s *server) signedIn(page http.Handler) http.Handler {
	guarded := s.needing("usePage", access.Reader, page)
	if s.SignIn == nil {
		return guarded
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isPage := r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
		if i, err := s.Identify(r); isPage && (err != nil || !i.Roles.Meet(access.Reader)) {
			s.SignIn(w, http.StatusUnauthorized, "")
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// signIn signs a browser in with the token of the form, and shows the page.
func (s *server) signIn(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	err := s.Auth.SignIn(w, r, strings.TrimSpace(r.PostFormValue("token")))
	switch {
	case errors.Is(err, fault.ErrUnauthenticated) && s.SignIn != nil:
		status := http.StatusUnauthorized
		if isGuessing(w, err) {
			status = http.StatusTooManyRequests
		}
		s.SignIn(w, status, fault.Reason(err))
	case err != nil:
		s.fail(w, r, err)
	default:
		http.Redirect(w, r, s.Prefix+"/", http.StatusSeeOther)
	}
}

func (s *server) signOut(w http.ResponseWriter, r *http.Request) {
	s.Auth.SignOut(w, r)
	http.Redirect(w, r, s.Prefix+"/", http.StatusSeeOther)
}

// endIdentity ends what an identity has that was revoked: its requests and its sessions. What those hold returns.
func (s *server) endIdentity(id string) {
	s.inUse.end(id)
	sessions := s.workers.of(id)
	if s.SessionsOf != nil {
		sessions = append(sessions, s.SessionsOf(id)...)
	}
	for _, session := range sessions {
		s.endSessionOf(context.Background(), session, id)
	}
}

// endSessionOf ends a session of an identity that was revoked.
func (s *server) endSessionOf(ctx context.Context, session, id string) {
	if err := s.Engine.EndSession(ctx, session); err != nil && !errors.Is(err, fault.ErrNotFound) {
		s.Log.Error("api: a session of a revoked token goes on", "session", session, "identity", id, "error", err)
	}
}
