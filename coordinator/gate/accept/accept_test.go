package accept_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/accept"
)

// listener returns the results of its accepts one after the other.
type listener struct {
	net.Listener
	results chan result
	once    sync.Once
	closed  chan struct{}
	at      []time.Time // of the accepts
}

type result struct {
	conn net.Conn
	err  error
}

// listen returns a listener whose first accepts have these results; later ones wait until it is
// closed.
func listen(results ...result) *listener {
	l := &listener{results: make(chan result, len(results)), closed: make(chan struct{})}
	for _, r := range results {
		l.results <- r
	}
	return l
}

// Accept records when it was called, because the tests check the pauses.
func (l *listener) Accept() (net.Conn, error) {
	l.at = append(l.at, time.Now())
	select {
	case r := <-l.results:
		return r.conn, r.err
	default:
	}
	<-l.closed
	return nil, net.ErrClosed
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

var errFiles = errors.New("too many open files")

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func TestAcceptsThatFailAreRepeatedWithLongerPausesUntilOneSucceeds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		var results []result
		for range 10 {
			results = append(results, result{nil, errFiles})
		}
		l := listen(append(results, result{near, nil}, result{nil, errFiles})...)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- accept.Serve(ctx, l, accept.Gate{Name: "gate", Log: quiet, Admit: func(c net.Conn) func(context.Context) {
				return func(context.Context) { _ = c.Close() }
			}})
		}()
		_, err := far.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		time.Sleep(time.Second)
		stop()
		require.NoError(t, <-ended)
		var pauses []time.Duration
		for i := range l.at[1:] {
			pauses = append(pauses, l.at[i+1].Sub(l.at[i]))
		}
		ms := time.Millisecond
		require.Equal(t, []time.Duration{5 * ms, 10 * ms, 20 * ms, 40 * ms, 80 * ms, 160 * ms, 320 * ms, 640 * ms, 1000 * ms, 1000 * ms, 0, 5 * ms}, pauses)
	})
}

func TestAcceptsThatFailAreLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		results := make([]result, 100)
		for n := range results {
			results[n].err = errFiles
		}
		l := listen(results...)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		var logged bytes.Buffer
		go func() {
			ended <- accept.Serve(ctx, l, accept.Gate{Name: "gate", Log: slog.New(slog.NewTextHandler(&logged, nil)), Admit: nil})
		}()
		time.Sleep(5 * time.Minute) // the accepts take less than two
		stop()
		require.NoError(t, <-ended)
		require.Equal(t, 2, strings.Count(logged.String(), "cannot accept a connection"))
		require.Contains(t, logged.String(), "failures=1\n")
		require.Regexp(t, `failures=6\d\n`, logged.String())
	})
}

func TestServeWaitsForItsConnectionsAndEndsTheirContexts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer func() { _ = far.Close() }()
		l := listen(result{near, nil})
		ended := make(chan error, 1)
		var returned atomic.Bool
		go func() {
			ended <- accept.Serve(t.Context(), l, accept.Gate{Name: "gate x", Log: quiet, Admit: func(c net.Conn) func(context.Context) {
				return func(ctx context.Context) {
					<-ctx.Done()
					time.Sleep(time.Hour)
					_ = c.Close()
					returned.Store(true)
				}
			}})
		}()
		synctest.Wait()
		require.NoError(t, l.Close()) // from outside
		err := <-ended
		require.ErrorIs(t, err, net.ErrClosed)
		require.ErrorContains(t, err, "gate x")
		require.True(t, returned.Load())
	})
}

func TestAConnectionThatIsRefusedEndsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, _ := net.Pipe()
		second, far := net.Pipe()
		l := listen(result{first, nil}, result{second, nil})
		ctx, stop := context.WithCancel(t.Context())
		ended, waits, seen := make(chan error, 1), 0, 0 // read after ended
		go func() {
			ended <- accept.Serve(ctx, l, accept.Gate{Name: "gate", Log: quiet, Wait: func(context.Context) { waits++ }, Admit: func(c net.Conn) func(context.Context) {
				if seen++; seen == 1 {
					_ = c.Close()
					return nil
				}
				return func(context.Context) { _ = c.Close() }
			}})
		}()
		_, err := far.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		stop()
		require.NoError(t, <-ended)
		require.Equal(t, 3, waits, "before each accept")
	})
}
