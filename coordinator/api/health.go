package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"leasehold/shared/fault"
)

// healthTimeout is the timeout of the checks of readyz, and of metrics.
const healthTimeout = 5 * time.Second

// healthz responds ok while the process can respond. It does not check the stores, because
// a restart, which a failed health check causes, would not repair them.
func (s *server) healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n")
}

// readyz responds ok if the spaces and the catalog respond, the disk is not full, the database
// of the catalog can be written, and the server is not draining; otherwise 503 and the reason. A code index that lacks files is a second line.
func (s *server) readyz(w http.ResponseWriter, r *http.Request) {
	err := s.checkReady(r.Context())
	if err != nil {
		s.Log.Warn("api: not ready", "error", err)
		reason := "see the coordinator's log"
		if errors.Is(err, fault.ErrOverloaded) || errors.Is(err, fault.ErrUnavailable) { // its text contains no internals
			reason = err.Error()
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintf(w, "not ready: %s\n", reason) // the client may be gone
		return
	}
	s.healthz(w, r)
	s.writeFilled(w)
	s.writeLack(w)
}

// writeFilled adds a line to a positive answer for each space in which only the fleet's own work still finds
// places. That goes on, and so do claims, so the coordinator is ready.
func (s *server) writeFilled(w io.Writer) {
	if s.Engine == nil {
		return
	}
	for _, f := range s.Engine.Filled() {
		_, _ = fmt.Fprintf(w, "space %s holds %d of %d tuples: only managers' work is accepted\n", f.Name, f.Tuples, f.Capacity)
	}
}

// writeLack adds a line to a positive answer if the code index lacks files. Searches go on without them,
// and all other work too, so the coordinator is ready.
func (s *server) writeLack(w io.Writer) {
	if s.Index == nil {
		return
	}
	if lack, err := s.Index.Lacks(); err == nil && len(lack.Repos) > 0 {
		_, _ = fmt.Fprintf(w, "the code index lacks files of %d repositories, which are visited again\n", len(lack.Repos))
	}
}

// check is a check of readiness. Its error is set when done is closed.
type check struct {
	done chan struct{}
	err  error
}

// checkReady returns the result of ready. Callers that come while a check runs share its result, so that many of
// them cost one. A check goes on if the request that began it is cancelled, because others may wait for it.
func (s *server) checkReady(ctx context.Context) error {
	s.checking.Lock()
	c := s.check
	if c != nil {
		s.checking.Unlock()
		<-c.done // at most healthTimeout
		return c.err
	}
	c = &check{done: make(chan struct{}), err: errors.New("the check panicked")} // unless ready returns
	s.check = c
	s.checking.Unlock()
	defer func() {
		s.checking.Lock()
		defer s.checking.Unlock()
		s.check = nil
		close(c.done)
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healthTimeout)
	defer cancel()
	c.err = s.ready(ctx)
	return c.err
}

// ready returns context.Canceled if the server stops, and the error of the engine or of a store if it
// does not respond. It checks the engine before the stores, because readyz shows the reason of the
// engine's errors, and a full disk may make the stores fail too.
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
	if s.Health != nil {
		if err := s.Health(); err != nil {
			return err
		}
	}
	if _, err := s.repo.List(ctx); err != nil {
		return err
	}
	_, err := s.Catalog.Origins(ctx)
	return err
}
