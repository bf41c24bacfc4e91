package wire_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/wire"
	"leasehold/shared/tuple"
)

func TestWhatIsAppendedIsDecoded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := request(rt)
		data, err := wire.AppendRequest([]byte("x"), r)
		require.NoError(rt, err)
		back, err := wire.DecodeRequest(data[1:])
		require.NoError(rt, err)
		require.Equal(rt, r, back)
	})
	rapid.Check(t, func(rt *rapid.T) {
		r := reply(rt)
		back, err := wire.DecodeReply(wire.AppendReply([]byte("x"), r)[1:])
		require.NoError(rt, err)
		require.Equal(rt, r, back)
	})
}

func TestFieldsOfLaterVersionsAreSkipped(t *testing.T) {
	t.Parallel()
	later := []byte{99, 3, 1, 2, 3} // tag, length, content
	data, err := wire.AppendRequest(nil, space.Request{Verb: space.VerbList})
	require.NoError(t, err)
	r, err := wire.DecodeRequest(append(append(later, data...), later...))
	require.NoError(t, err)
	require.Equal(t, space.VerbList, r.Verb)
	_, err = wire.DecodeReply(later)
	require.NoError(t, err)
	failure, err := wire.DecodeError(append(wire.AppendError(nil, fault.ErrClosed), 1, 3, 'n', 'e', 'w'))
	require.NoError(t, err)
	require.ErrorIs(t, failure, fault.ErrClosed)
}

func TestFieldsAreReadInAnyOrder(t *testing.T) {
	t.Parallel()
	data := []byte{4, 1, 's', 14, 1, 9, 99, 1, 0, 3, 1, 7, 1, 1, byte(space.VerbAck), 99, 0, 14, 1, 8, 2, 1, 'x'}
	r, err := wire.DecodeRequest(data)
	require.NoError(t, err)
	require.Equal(t, space.Request{Verb: space.VerbAck, Op: space.OpID{Session: "x", Seq: 7}, Space: "s", Acknowledged: []uint64{9, 8}}, r)
}

func TestErrorsKeepTheirKindsAndText(t *testing.T) {
	t.Parallel()
	kinds := []error{context.Canceled, context.DeadlineExceeded}
	for _, row := range fault.Table {
		if row.Kind != nil {
			kinds = append(kinds, row.Kind)
		}
	}
	for _, kind := range append(kinds, errors.New("of no kind"), fmt.Errorf("%w: %w", fault.ErrConflict, context.Canceled)) {
		err := fmt.Errorf("put s: %w", kind)
		carried, decodeErr := wire.DecodeError(wire.AppendError(nil, err))
		require.NoError(t, decodeErr)
		require.EqualError(t, carried, err.Error())
		require.Equal(t, fault.Of(err), fault.Of(carried))
		for _, k := range kinds {
			require.Equal(t, errors.Is(err, k), errors.Is(carried, k), "%v is %v", err, k)
		}
	}
	carried, err := wire.DecodeError(wire.AppendError(nil, errors.New(strings.Repeat("x", 1<<20))))
	require.NoError(t, err)
	require.Len(t, carried.Error(), 64<<10)
}

func TestRequestsThatNoEngineAcceptsAreNotSent(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", space.MaxName+1)
	for _, r := range []space.Request{
		{Tuple: tuple.New(uint(1))}, {Args: tuple.New(uint(1))}, {Acknowledged: make([]uint64, space.MaxAcknowledged+1)}, {Template: tuple.Match(int8(1))}, {TTL: -1}, {Space: long}, {Procedure: long},
		{Op: space.OpID{Session: long}}, {Options: space.Options{Kind: space.Kind(long)}},
	} {
		_, err := wire.AppendRequest(nil, r)
		require.ErrorIs(t, err, fault.ErrInvalid, "%+v", r)
	}
}

func TestDecodersRefuse(t *testing.T) {
	t.Parallel()
	field := func(tag byte, content ...byte) []byte { return append([]byte{tag, byte(len(content))}, content...) }
	for name, data := range map[string][]byte{
		"half a tag": {0x80}, "no length": {1}, "a huge length": {1, 0xff, 0xff, 0xff, 0xff, 0x0f}, "too short": {1, 2, 0},
		"a verb of 256": field(1, 0x80, 0x02), "an empty integer": field(7), "two integers": field(7, 2, 2),
		"an endless integer": field(7, bytes.Repeat([]byte{0xff}, 11)...), "a negative TTL": field(7, 1),
		"half a tuple": field(5, 2, 0), "more than a tuple": field(5, 0, 0), "a formal in a tuple": field(5, 1, 12, 4, 'b', 'o', 'o', 'l'),
		"bad options": field(9, 1), "a long name": append([]byte{4, 0x80, 0x02}, make([]byte, 256)...),
	} {
		_, err := wire.DecodeRequest(data)
		require.Error(t, err, name)
		require.True(t, errors.Is(err, fault.ErrInvalid) || errors.Is(err, fault.ErrTooLarge), "%s: %v", name, err)
	}
	for name, data := range map[string][]byte{
		"found is 2": field(1, 2), "a negative count": field(4, 1), "half a tuple": field(3, 2, 0), "a bad event": field(6, 4, 1, 2),
		"a bad info": field(5, 3, 1, 1),
	} {
		_, err := wire.DecodeReply(data)
		require.ErrorIs(t, err, fault.ErrInvalid, name)
	}
}

func TestFrames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var stream, buf []byte
		var sent []wire.Frame
		for range rapid.IntRange(1, 4).Draw(rt, "frames") {
			f := wire.Frame{Kind: wire.Kind(rapid.Byte().Draw(rt, "kind")), Call: rapid.Uint64().Draw(rt, "call")}
			f.Body = bytes.Repeat([]byte("b"), rapid.SampledFrom([]int{0, 1, 4096, 70_000}).Draw(rt, "size"))
			var err error
			stream, err = f.Append(stream)
			require.NoError(rt, err)
			sent = append(sent, f)
		}
		r := io.Reader(bytes.NewReader(stream))
		for _, want := range sent {
			var f wire.Frame
			var err error
			f, buf, err = wire.Read(r, buf)
			require.NoError(rt, err)
			require.Equal(rt, want, f)
		}
		_, _, err := wire.Read(r, buf)
		require.ErrorIs(rt, err, io.EOF)
		_, _, err = wire.Read(bytes.NewReader(stream[:len(stream)-1]), nil)
		if len(sent) == 1 {
			require.ErrorIs(rt, err, io.ErrUnexpectedEOF)
		}
	})
}

func TestFramesThatAreTooLargeAreRefused(t *testing.T) {
	t.Parallel()
	largest := wire.Frame{Kind: wire.Reply, Body: make([]byte, wire.MaxFrame-3)}
	data, err := largest.Append(nil)
	require.NoError(t, err)
	_, _, err = wire.Read(bytes.NewReader(data), nil)
	require.NoError(t, err)
	largest.Body = append(largest.Body, 0)
	data, err = largest.Append([]byte("before"))
	require.ErrorIs(t, err, fault.ErrTooLarge)
	require.Equal(t, "before", string(data))
	for _, size := range []uint32{wire.MaxFrame + 1, 1<<31 - 1, 1 << 31, 1<<32 - 1} {
		_, _, err := wire.Read(bytes.NewReader(binary.BigEndian.AppendUint32(nil, size)), nil)
		require.ErrorIs(t, err, fault.ErrTooLarge)
	}
}

func TestALengthAloneTakesLittleMemory(t *testing.T) {
	t.Parallel()
	head := binary.BigEndian.AppendUint32(nil, wire.MaxFrame)
	_, buf, err := wire.Read(bytes.NewReader(append(head, "few"...)), nil)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Less(t, cap(buf), 16<<10)
}

func TestFramesOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"empty": "\x00\x00\x00\x00", "no kind": "\x00\x00\x00\x01\x02", "no call": "\x00\x00\x00\x02\x02\x01",
		"version 1": "\x00\x00\x00\x03\x01\x01\x00", "http": "GET / HTTP/1.1\r\n\r\n", "tls": "\x16\x03\x01\x02\x00\x01\x00",
	} {
		_, _, err := wire.Read(strings.NewReader(data), nil)
		require.Error(t, err, name)
		require.True(t, errors.Is(err, fault.ErrInvalid) || errors.Is(err, fault.ErrTooLarge), "%s: %v", name, err)
	}
}

// echo answers every request with its operation id.
type echo struct{ space.Conn }

func (echo) Session() string { return "test-1" }
func (echo) Do(_ context.Context, r space.Request) (space.Reply, error) {
	return space.Reply{Tuple: tuple.New(r.Op.Session, int64(r.Op.Seq-space.AutoSeq))}, nil
}

func TestLoopbackGivesChangingOperationsAnID(t *testing.T) {
	t.Parallel()
	seen := map[int64]bool{}
	for range 2 {
		l := wire.Loopback(echo{})
		for v := space.VerbCreate; v <= space.VerbEnd; v++ {
			r, err := l.Do(t.Context(), space.Request{Verb: v})
			require.NoError(t, err)
			require.Equal(t, v.Changes(), r.Tuple.Str(0) == "test-1", v)
			if v.Changes() {
				require.False(t, seen[r.Tuple.Int64(1)], "each has its own")
				seen[r.Tuple.Int64(1)] = true
			}
		}
	}
	r, err := wire.Loopback(echo{}).Do(t.Context(), space.Request{Verb: space.VerbPut, Op: space.OpID{Session: "mine", Seq: space.AutoSeq + 7}})
	require.NoError(t, err)
	require.Equal(t, tuple.New("mine", int64(7)), r.Tuple)
}
