package remote

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/process/members"
	"leasehold/shared/process/retry"
	"leasehold/shared/space"
	"leasehold/shared/space/wire"
)

// realm has several members. One of them serves, the one that owns it; the others answer a handshake that they do not.
type realm struct {
	*fakeGate
	owner string
	dials []string // the addresses that were dialled
}

func (r *realm) dial(ctx context.Context, address string) (net.Conn, error) {
	r.dials = append(r.dials, address)
	if address == r.owner {
		return r.fakeGate.dial(ctx, address)
	}
	if address == "dead:1" {
		return nil, errors.New("no route")
	}
	ours, theirs := net.Pipe()
	go func() {
		l := wire.NewLink(theirs)
		_, err := wire.ReadPreamble(l.Reader())
		assert.NoError(r.t, err)
		_, _, err = wire.Read(l.Reader(), nil)
		assert.NoError(r.t, err)
		failure := wire.Frame{Kind: wire.Failure, Body: wire.AppendError(nil, fault.ErrUnavailable)}
		assert.NoError(r.t, wire.Send(theirs, wire.AppendPreamble(nil), failure))
		_ = theirs.Close()
	}()
	return ours, nil
}

// A session goes on wherever its realm is served, and calls that were not answered are sent again.
func TestASessionFollowsTheRealmToTheMemberThatServesIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &realm{fakeGate: &fakeGate{t: t, frames: make(chan wire.Frame, 100)}, owner: "b:1"}
		list := members.New("dead:1", "a:1", "b:1")
		conn, err := Dial(t.Context(), Config{Members: list, Session: "s", Dial: r.dial, Log: slog.New(slog.DiscardHandler), Backoff: retry.Backoff{Min: pause, Max: time.Second}})
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, []string{"dead:1", "a:1", "b:1"}, r.dials, "without a pause between them")
		require.Equal(t, "b:1", list.First(), "others learn of it")

		done := calls(t.Context(), conn, space.Request{Verb: space.VerbCount, Space: "s"})
		r.sent()
		r.owner, r.dials = "a:1", nil
		r.loses()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"dead:1", "a:1"}, r.dials, "the one whose connection was lost would be the last")
		require.True(t, r.hellos[1].Resume)
		again, _ := r.sent()
		r.replies(again, space.Reply{Count: 7})
		require.Equal(t, 7, (<-done).reply.Count)
		r.hangsUp(conn)
	})
}
