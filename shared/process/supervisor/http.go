package supervisor

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// ServeHTTP serves ln, which it closes, until ctx ends. Then requests in progress may finish
// for up to grace, and it returns nil. It returns an error if serving ends before ctx.
func ServeHTTP(ctx context.Context, s *http.Server, ln net.Listener, grace time.Duration) error {
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	ending, stop := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer stop()
	err := s.Shutdown(ending)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.Close()
	}
	<-served
	return err
}
