package remote_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space/remote"
	"leasehold/shared/space/wire"
)

func TestAGateThatIsAwayIsWarnedOfEveryTenSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		attempts := 0
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := remote.Dial(ctx, remote.Config{
			Address: "away:1", Session: "w", Log: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelWarn})),
			Dial: func(context.Context, string) (net.Conn, error) {
				attempts++
				return nil, errors.New("no route")
			},
		})
		require.ErrorContains(t, err, "no route")
		lines := strings.Count(logged.String(), "retrying")
		require.Greater(t, attempts, 2*lines)
		require.InDelta(t, 6, lines, 2)
	})
}

// answering returns a Dial whose other end sends one answer to a Hello, and keeps the connection.
func answering(answer func(io.Writer) error) func(context.Context, string) (net.Conn, error) {
	return func(context.Context, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			r := bufio.NewReader(theirs)
			if _, err := wire.ReadPreamble(r); err == nil {
				_, _, _ = wire.Read(r, nil)
			}
			_ = answer(theirs)
			_, _ = io.Copy(io.Discard, r) // until the client closes it
			_ = theirs.Close()
		}()
		return ours, nil
	}
}

// A client that took such an answer for a welcome would have a session that does not exist, or a
// connection whose loss it never notices.
func TestAnAnswerThatIsNoWelcomeEndsTheDial(t *testing.T) {
	t.Parallel()
	frame := func(kind wire.Kind, body []byte) func(io.Writer) error {
		return func(w io.Writer) error {
			return wire.Send(w, wire.AppendPreamble(nil), wire.Frame{Kind: kind, Body: body})
		}
	}
	welcome := func(ping time.Duration) []byte { return wire.AppendWelcome(nil, wire.Welcome{Ping: ping}) }
	whole := welcome(time.Minute)
	for name, c := range map[string]struct {
		answer func(io.Writer) error
		want   error
		says   string
	}{
		"a welcome without a ping interval": {frame(wire.Welcomed, welcome(0)), fault.ErrInvalid, "a ping interval of 0s, want more than 0"},
		"a welcome with a negative one":     {frame(wire.Welcomed, welcome(-time.Second)), fault.ErrInvalid, "a ping interval of -1s"},
		"a welcome that is cut":             {frame(wire.Welcomed, whole[:len(whole)-1]), fault.ErrInvalid, "welcome"},
		"a frame of another kind":           {frame(wire.Greeting, nil), fault.ErrInvalid, "where a welcome"},
		"a refusal":                         {frame(wire.Failure, wire.AppendError(nil, fault.ErrConflict)), fault.ErrConflict, "handshake"},
		"another program":                   {func(w io.Writer) error { _, err := io.WriteString(w, "HTTP/1.1 400 Bad Request\r\n\r\n"); return err }, wire.ErrForeign, "handshake"},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			began := time.Now()
			_, err := remote.Dial(ctx, remote.Config{Address: "a:1", Session: "w", Log: slog.New(slog.DiscardHandler), Dial: answering(c.answer)})
			require.ErrorIs(t, err, c.want, name)
			require.ErrorContains(t, err, c.says, name)
			require.Zero(t, time.Since(began), "%s: another attempt would not help", name)
			synctest.Wait()
		})
	}
}

func TestAGateThatDoesNotAnswerIsTriedAgainUntilTheContextEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		attempts := 0
		silent := answering(func(io.Writer) error { return nil })
		_, err := remote.Dial(ctx, remote.Config{
			Address: "a:1", Session: "w", Log: slog.New(slog.DiscardHandler),
			Dial: func(ctx context.Context, address string) (net.Conn, error) { attempts++; return silent(ctx, address) },
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, fault.ErrUnavailable)
		require.ErrorContains(t, err, "no answer within")
		require.Greater(t, attempts, 2)
	})
}

// A stopping coordinator closes connections in any part of the handshake, and is started again.
func TestAGateThatHangsUpInTheHandshakeIsTriedAgain(t *testing.T) {
	t.Parallel()
	welcome := wire.AppendWelcome(nil, wire.Welcome{Ping: time.Minute})
	var whole bytes.Buffer
	require.NoError(t, wire.Send(&whole, wire.AppendPreamble(nil), wire.Frame{Kind: wire.Welcomed, Body: welcome}))
	for n := range whole.Len() {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			attempts := 0
			_, err := remote.Dial(ctx, remote.Config{
				Address: "a:1", Session: "w", Log: slog.New(slog.DiscardHandler),
				Dial: func(context.Context, string) (net.Conn, error) {
					attempts++
					ours, theirs := net.Pipe()
					go func() {
						_, _ = io.ReadFull(theirs, make([]byte, len(wire.AppendPreamble(nil))))
						_, _, _ = wire.Read(theirs, nil)
						_, _ = theirs.Write(whole.Bytes()[:n])
						_ = theirs.Close()
					}()
					return ours, nil
				},
			})
			require.ErrorIs(t, err, context.DeadlineExceeded, "after %d bytes", n)
			require.ErrorContains(t, err, "EOF", "after %d bytes", n)
			require.Greater(t, attempts, 2, "after %d bytes", n)
			synctest.Wait()
		})
	}
}

func TestAConnectionThatIsClosedBeforeTheHandshakeIsNoSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		attempts := 0
		_, err := remote.Dial(ctx, remote.Config{
			Address: "a:1", Session: "w", Log: slog.New(slog.DiscardHandler),
			Dial: func(context.Context, string) (net.Conn, error) {
				attempts++
				ours, theirs := net.Pipe()
				return ours, theirs.Close()
			},
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, io.ErrClosedPipe)
		require.Greater(t, attempts, 2)
	})
}

// A token over a plain connection could be read on the way to another machine.
func TestATokenNeedsTLSBeyondThisMachine(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe() // its address is not loopback
	read := make(chan int)
	go func() {
		n, _ := theirs.Read(make([]byte, 1))
		read <- n
	}()
	_, err := remote.Dial(t.Context(), remote.Config{Session: "s", Token: "lht-secret", Dial: func(context.Context, string) (net.Conn, error) { return ours, nil }})
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "over TLS only")
	require.NotContains(t, err.Error(), "secret")
	require.Zero(t, <-read, "nothing was sent")
}
