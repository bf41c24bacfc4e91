package api

import (
	"context"
	_ "embed"
	"io"
	"net/http"
	"time"
)

// healthTimeout bounds how long a look at oneself may take.
const healthTimeout = 5 * time.Second

// healthz says that the process answers, and nothing else: what restarts it would
// not help if its stores do not.
func (s *server) healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n")
}

// readyz says whether the spaces and the catalog answer, and the server is not
// about to end.
func (s *server) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), healthTimeout)
	defer cancel()
	if err := s.ready(ctx); err != nil {
		s.Log.Warn("api: not ready", "error", err)
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "not ready; see the coordinator's log\n")
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
