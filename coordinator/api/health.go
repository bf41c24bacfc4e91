package api

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"leasehold/shared/fault"
)

// healthTimeout bounds how long a look at oneself may take.
const healthTimeout = 5 * time.Second

// healthz says that the process answers, and nothing else: what restarts it would
// not help if its stores do not.
func (s *server) healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n")
}

// readyz says whether the spaces and the catalog answer, the disk has room, and
// the server is not about to end; if not, why.
func (s *server) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), healthTimeout)
	defer cancel()
	if err := s.ready(ctx); err != nil {
		s.Log.Warn("api: not ready", "error", err)
		reason := "see the coordinator's log"
		if errors.Is(err, fault.ErrOverloaded) { // says nothing that a stranger must not know
			reason = err.Error()
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintf(w, "not ready: %s\n", reason)
		return
	}
	s.healthz(w, r)
}

func (s *server) ready(ctx context.Context) error {
	select {
	case <-Draining(ctx):
		return context.Canceled
	default:
	}
	if s.Engine != nil {
		if err := s.Engine.Health(); err != nil {
			return err
		}
	}
	if _, err := s.repo.List(ctx); err != nil {
		return err
	}
	_, err := s.Catalog.Origins(ctx)
	return err
}

//go:embed openapi.yaml
var openAPI []byte

func (s *server) openAPI(_ context.Context, r *http.Request) (any, error) {
	if q := ask(r); q.err != nil {
		return nil, q.err
	}
	return reply{media: "application/yaml", raw: openAPI}, nil
}
