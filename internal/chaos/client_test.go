//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
)

var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

// session is a session of this process at a coordinator. The test can cut its connection.
type session struct {
	space.Repository
	conn space.Conn
	wire *wire
	stop func() // stops its heartbeat
	beat sync.WaitGroup
}

// wire dials the connections of a client. It can be cut temporarily or permanently.
type wire struct {
	mu   sync.Mutex // guards the fields below
	why  error      // the error of dials while it is cut
	open []net.Conn
}

var errCut = errors.New("the wire is cut")

// errSessionLost cuts a wire so that the client does not retry and its session is lost.
var errSessionLost = fmt.Errorf("%w: %w", errCut, fault.ErrClosed)

func (w *wire) dial(ctx context.Context, address string) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.why != nil {
		return nil, w.why
	}
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err == nil {
		w.open = append(w.open, c)
	}
	return c, err
}

// cut closes all connections and lets dials fail with why; with nil it lets new ones
// through.
func (w *wire) cut(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.why = why
	for _, c := range w.open {
		_ = c.Close()
	}
	w.open = nil
}

// dial opens a session, which is lost after a silence of ttl. It sends heartbeats until it is closed or
// abandoned.
func (h *fixture) dial(ctx context.Context, name string, ttl time.Duration, serves map[string]int) (*session, error) {
	w := &wire{}
	conn, err := remote.Dial(ctx, remote.Config{
		Address: h.gate, Session: remote.SessionID(name), TTL: ttl, Log: silent, Dial: w.dial,
		Backoff: retry.Backoff{Min: 10 * time.Millisecond, Max: 50 * time.Millisecond},
	})
	if err != nil {
		return nil, err
	}
	c := &session{Repository: space.Over(conn), conn: conn, wire: w}
	if h.refused != nil {
		c.conn = patient{conn, h.refused}
		c.Repository = space.Over(c.conn)
	}
	beating, stop := context.WithCancel(context.Background())
	c.stop = stop
	heartbeat := status.NewHeartbeat(c, min(ttl/5, time.Second), serves)
	c.beat.Go(func() { _ = heartbeat.Run(beating) }) // its calls report that the session is lost
	return c, nil
}

// patient repeats calls that were refused because a disk is full: they changed nothing.
type patient struct {
	space.Conn
	refused *atomic.Int64 // counts them
}

// Do implements space.Conn.
func (p patient) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	for {
		reply, err := p.Conn.Do(ctx, r)
		if !errors.Is(err, fault.ErrOverloaded) {
			return reply, err
		}
		p.refused.Add(1)
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return space.Reply{}, space.ContextError(ctx)
		}
	}
}

// mustDial is dial for tests in which the coordinator runs.
func (h *fixture) mustDial(name string, ttl time.Duration) *session {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), binary.WaitLimit)
	defer cancel()
	c, err := h.dial(ctx, name, ttl, nil)
	require.NoError(h.t, err)
	h.t.Cleanup(c.abandon)
	return c
}

// close closes the session, which confirms the tuples that it got.
func (c *session) close() error {
	c.stop()
	c.beat.Wait()
	return c.Close(context.Background())
}

// abandon ends the session without closing it, as the death of its process does.
func (c *session) abandon() {
	c.wire.cut(errSessionLost)
	c.stop()
	c.beat.Wait()
	_ = c.Close(context.Background())
}

// within returns a context for a call that must end within binary.WaitLimit.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), binary.WaitLimit)
	t.Cleanup(cancel)
	return ctx
}

// held counts the held tuples of a space.
func (c *session) held(t *testing.T, name string) int { return c.info(t, name).Held }

// countTuples counts the tuples of a space, held or not.
func (c *session) countTuples(t *testing.T, name string) int {
	i := c.info(t, name)
	return i.Visible + i.Held
}

func (c *session) info(t *testing.T, name string) space.Info {
	t.Helper()
	infos, err := c.List(within(t))
	require.NoError(t, err)
	n := slices.IndexFunc(infos, func(i space.Info) bool { return i.Name == name })
	require.GreaterOrEqual(t, n, 0, "no space is called %s", name)
	return infos[n]
}
