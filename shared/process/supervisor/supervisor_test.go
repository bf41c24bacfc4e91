package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/shared/process/supervisor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errBroken = errors.New("broken")

// untilCancelled is a task that ends with its context.
func untilCancelled(ctx context.Context) error { <-ctx.Done(); return nil }

func fails(context.Context) error { return errBroken }

func returns(context.Context) error { return nil }

// log keeps events in their order.
type log struct {
	mu     sync.Mutex
	events []string
}

func (l *log) add(event string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, event)
}

// host is ready at once and ends with its context.
func (l *log) host(ctx context.Context, ready func()) error {
	ready()
	<-ctx.Done()
	l.add("host")
	return nil
}

// task logs its end under a name.
func (l *log) task(name string, run supervisor.Task) supervisor.Task {
	return func(ctx context.Context) error {
		err := run(ctx)
		l.add(name)
		return err
	}
}

func TestAllEndsWithTheFirstThatReturns(t *testing.T) {
	t.Parallel()
	require.NoError(t, supervisor.All(t.Context(), untilCancelled, returns, untilCancelled))
	require.ErrorIs(t, supervisor.All(t.Context(), untilCancelled, fails), errBroken)
	require.NoError(t, supervisor.All(t.Context()))
}

func TestTheHostEndsAfterItsDependents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		main, helper supervisor.Task
		want         error
	}{
		"main returns":              {returns, untilCancelled, nil},
		"main fails":                {fails, untilCancelled, errBroken},
		"a helper fails":            {untilCancelled, fails, errBroken},
		"a helper returns, no more": {returns, returns, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var l log
			err := supervisor.Host(t.Context(), l.host, l.task("main", c.main), l.task("helper", c.helper))
			require.ErrorIs(t, err, c.want)
			require.Len(t, l.events, 3)
			require.Equal(t, "host", l.events[2])
		})
	}
}

func TestTheEndOfTheContextEndsTheDependentsFirst(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var l log
	main := l.task("main", func(ctx context.Context) error {
		cancel()
		return untilCancelled(ctx)
	})
	require.NoError(t, supervisor.Host(ctx, l.host, main))
	require.Equal(t, []string{"main", "host"}, l.events)
}

func TestTheEndOfTheHostEndsItsDependents(t *testing.T) {
	t.Parallel()
	host := func(_ context.Context, ready func()) error {
		ready()
		return errBroken
	}
	require.ErrorIs(t, supervisor.Host(t.Context(), host, untilCancelled, untilCancelled), errBroken)
}

func TestNothingStartsBesideAHostThatIsNotReady(t *testing.T) {
	t.Parallel()
	host := func(context.Context, func()) error { return errBroken }
	unexpected := func(context.Context) error { t.Error("started"); return nil }
	require.ErrorIs(t, supervisor.Host(t.Context(), host, unexpected, unexpected), errBroken)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	waits := func(ctx context.Context, _ func()) error { return untilCancelled(ctx) }
	require.NoError(t, supervisor.Host(ctx, waits, unexpected))
}

func TestAStackClosesTheLastOpenedFirst(t *testing.T) {
	t.Parallel()
	var order []int
	var s supervisor.Stack
	for i := range 3 {
		s.Push(func() error { order = append(order, i); return fmt.Errorf("%d: %w", i, errBroken) })
	}
	err := s.Close()
	require.ErrorIs(t, err, errBroken)
	require.EqualError(t, err, "2: broken\n1: broken\n0: broken")
	require.Equal(t, []int{2, 1, 0}, order)
	require.NoError(t, s.Close(), "it is empty")
}

func ExampleHost() {
	serve := func(ctx context.Context, ready func()) error {
		fmt.Println("coordinator: ready")
		ready()
		<-ctx.Done()
		fmt.Println("coordinator: ended")
		return nil
	}
	work := func(context.Context) error { fmt.Println("worker: done"); return nil }
	fmt.Println(supervisor.Host(context.Background(), serve, work))
	// Output:
	// coordinator: ready
	// worker: done
	// coordinator: ended
	// <nil>
}

func TestServeHTTPLetsRequestsInProgressFinishAndEndsThoseThatDoNot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		grace time.Duration
		ends  bool // the request ends by itself
	}{"finishes": {time.Minute, true}, "too slow": {time.Nanosecond, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(t.Context())
			reading, release := make(chan struct{}), make(chan struct{})
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				close(reading)
				select {
				case <-release:
				case <-r.Context().Done():
				}
			})
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			served, got := make(chan error, 1), make(chan error, 1)
			go func() {
				served <- supervisor.ServeHTTP(ctx, &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}, ln, c.grace)
			}()
			go func() {
				client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
				answer, err := client.Get("http://" + ln.Addr().String())
				if err == nil {
					err = answer.Body.Close()
				}
				got <- err
			}()
			<-reading
			stop()
			if c.ends {
				close(release)
				require.NoError(t, <-got)
			} else {
				require.Error(t, <-got)
			}
			require.NoError(t, <-served)
		})
	}
}

func TestServeHTTPEndsIfItsListenerFails(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, ln.Close())
	require.ErrorIs(t, supervisor.ServeHTTP(t.Context(), &http.Server{ReadHeaderTimeout: time.Minute}, ln, time.Minute), net.ErrClosed)
}
