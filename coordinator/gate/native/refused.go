package native

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"leasehold/shared/fault"
)

// A client that repeats a request as soon as it was refused could keep the processors busy with requests that are
// only refused. So a connection is not read for a while after requests were refused because of overload: such
// requests are read at refusedRate bytes a second on average. Each counts at least refusedSize bytes, so that at
// most 4,096 small ones are read in a second. A pause is at least shortestPause, the time for 8 small requests,
// because waking up costs more than a few of them, and at most longestPause, because heartbeats of the client
// wait too. Connections of managers and workers do not pause, because their sessions would be lost, with the
// tasks that they hold, if heartbeats wait behind several refused requests.
const (
	refusedRate   = 4 << 20
	refusedSize   = 1 << 10
	shortestPause = 2 * time.Millisecond
	longestPause  = time.Second
)

// refusals counts the bytes of a connection's requests that were refused since its last pause. It
// may be used concurrently.
type refusals struct{ bytes atomic.Int64 }

// note counts the size of a request that ended with err, if it was refused because of overload.
func (r *refusals) note(size int, err error) {
	if errors.Is(err, fault.ErrOverloaded) {
		r.bytes.Add(int64(max(size, refusedSize)))
	}
}

// pauses reports whether the connection has to pause.
func (r *refusals) pauses() bool { return pauseAfter(r.bytes.Load()) >= shortestPause }

// pauseAfter returns how long refused requests of so many bytes make a connection pause.
func pauseAfter(bytes int64) time.Duration { return time.Duration(bytes) * time.Second / refusedRate }

// pause waits as long as the refused requests demand, or until ctx ends, but at most ping,
// because the client closes the connection after twice that time of silence.
func (r *refusals) pause(ctx context.Context, ping time.Duration) {
	select {
	case <-time.After(min(pauseAfter(r.bytes.Swap(0)), longestPause, ping)):
	case <-ctx.Done():
	}
}
