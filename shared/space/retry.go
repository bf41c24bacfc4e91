package space

import (
	"context"

	"leasehold/shared/process/retry"
)

// Retrying returns a repository that repeats each call of r as l does (retry.Loop), so that a loop over it does not
// end on an error that can pass. A call that failed with fault.ErrUnavailable is repeated too, although it may have
// happened; its caller must tolerate that, or be a connection that numbers its operations (package remote). A
// repository that neither Over nor an engine made is returned as it is.
func Retrying(r Repository, l *retry.Loop) Repository {
	if inner, ok := r.(repository); ok {
		return repository{retryingConn{inner.conn, l}}
	}
	return r
}

// Once returns r without what Retrying added to it, for calls whose caller has something
// better to do than to wait until they succeed.
func Once(r Repository) Repository {
	if inner, ok := r.(repository); ok {
		if c, ok := inner.conn.(retryingConn); ok {
			return repository{c.Conn}
		}
	}
	return r
}

type retryingConn struct {
	Conn
	loop *retry.Loop
}

// Do sends r until it succeeds or the loop gives up, and returns the last reply and error.
func (c retryingConn) Do(ctx context.Context, r Request) (reply Reply, err error) {
	err = c.loop.Do(ctx, func() error {
		reply, err = c.Conn.Do(ctx, r)
		return err
	})
	return reply, err
}
