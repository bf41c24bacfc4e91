package native

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"leasehold/shared/fault"
)

// A client that repeats a large request as soon as it was refused could keep a processor
// busy with requests that are only read. So a connection is not read for a while after a
// request of largeRequest bytes or more was refused because of overload: such requests are read
// at refusedRate bytes a second on average, and a pause is at most longestPause, because
// heartbeats of the client wait too. Connections of managers and workers do not pause, because
// their sessions would be lost, with the tasks that they hold, if heartbeats wait behind several
// refused requests.
const (
	largeRequest = 64 << 10
	refusedRate  = 4 << 20
	longestPause = time.Second
)

// refusals counts the bytes of a connection's large requests that were refused since its last
// pause. It may be used concurrently.
type refusals struct{ bytes atomic.Int64 }

// note counts the size of a request that ended with err, if it was large and refused because of
// overload.
func (r *refusals) note(size int, err error) {
	if size >= largeRequest && errors.Is(err, fault.ErrOverloaded) {
		r.bytes.Add(int64(size))
	}
}

// any reports whether the connection has to pause.
func (r *refusals) any() bool { return r.bytes.Load() > 0 }

// pause waits as long as the refused requests demand, or until ctx ends, but at most ping,
// because the client closes the connection after twice that time of silence.
func (r *refusals) pause(ctx context.Context, ping time.Duration) {
	bytes := r.bytes.Swap(0)
	select {
	case <-time.After(min(time.Duration(bytes)*time.Second/refusedRate, longestPause, ping)):
	case <-ctx.Done():
	}
}
