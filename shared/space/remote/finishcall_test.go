package remote

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/wire"
)

// The gate waits for the acknowledgement of an answer that took a tuple, a message or an event; acknowledging any
// other answer would be a frame for nothing.
func TestOnlyAnswersThatTookSomethingAreAcknowledged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		verb  space.Verb
		found bool
		err   error
		want  bool
	}{
		"a get":                       {space.VerbGet, true, nil, true},
		"a getP that found something": {space.VerbGetP, true, nil, true},
		"a getP that found nothing":   {space.VerbGetP, false, nil, false},
		"a get that failed":           {space.VerbGet, true, fault.ErrClosed, false},
		"a query":                     {space.VerbQuery, true, nil, false},
		"a put":                       {space.VerbPut, true, nil, false},
		"a procedure":                 {space.VerbCall, true, nil, false},
		"a message":                   {space.VerbReceive, false, nil, true},
		"no message":                  {space.VerbReceive, false, fault.ErrClosed, false},
		"an event":                    {space.VerbNext, false, nil, true},
		"a subscription":              {space.VerbNotify, false, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &call{number: 3, request: space.Request{Verb: c.verb, Op: space.OpID{Session: "s", Seq: 7}}, done: make(chan struct{})}
			conn := &Conn{calls: map[uint64]*call{3: p, 4: {}}, waiting: 2}
			conn.finishCall(3, space.Reply{Found: c.found}, c.err)
			<-p.done
			require.Equal(t, c.err, p.err)
			require.Len(t, conn.calls, 1, "the other call goes on")
			require.Equal(t, 1, conn.waiting)
			if !c.want {
				require.Empty(t, conn.arrived)
				require.Zero(t, conn.unacked)
				return
			}
			require.Equal(t, []uint64{7}, conn.arrived)
			require.Equal(t, 1, conn.unacked)
			conn.finishCall(3, space.Reply{}, nil) // answered twice
			require.Equal(t, 1, conn.unacked)
		})
	}
}

// The caller would take an error that cannot be read for a success.
func TestAnErrorThatCannotBeDecodedIsAnError(t *testing.T) {
	t.Parallel()
	good := wire.AppendError(nil, fault.ErrNotFound)
	require.ErrorIs(t, decodeError(good), fault.ErrNotFound)
	for _, bad := range [][]byte{{0xff}, good[:len(good)-1]} {
		require.Error(t, decodeError(bad))
	}
}
