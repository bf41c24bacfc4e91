package wire_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/wire"
	"leasehold/shared/tuple"
)

var update = flag.Bool("update", false, "write the golden frames again")

var everyField = tuple.New(nil, true, false, 1, int32(-2), int64(3), float32(0.5), 1.5, "text", []byte{0, 1}, tuple.New("nested"), tuple.Opaque{Name: "n", JSON: "{}"})

// golden returns the frames of testdata/golden by name. A change of one of them breaks every running peer.
func golden(t testing.TB) map[string]wire.Frame {
	frames := map[string]wire.Frame{}
	for name, r := range map[string]space.Request{
		"put":    {Verb: space.VerbPut, Op: space.OpID{Session: "worker-1", Seq: 7}, Space: "task", Tuple: everyField, TTL: time.Minute},
		"get":    {Verb: space.VerbGet, Space: "task", Template: tuple.Match("task", tuple.AnyString, tuple.Formal{Type: "opaque:n"})},
		"create": {Verb: space.VerbCreate, Space: "task", Options: space.Options{Kind: space.Ordered, OrderBy: 5, Capacity: 9, Overflow: space.DropOldest, Volatile: true}},
		"call":   {Verb: space.VerbCall, Op: space.OpID{Session: "worker-1", Seq: space.AutoSeq}, Procedure: "task.claim", Args: tuple.New()},
		"upto":   {Verb: space.VerbGetUpTo, Space: "task", Template: tuple.Match("task"), Limit: 300},
		"next":   {Verb: space.VerbNext, Subscription: 300},
		"ack":    {Verb: space.VerbAck, Op: space.OpID{Session: "worker-1", Seq: space.AutoSeq + 1}, Acknowledged: []uint64{space.AutoSeq + 2, space.AutoSeq + 3}},
	} {
		body, err := wire.AppendRequest(nil, r)
		require.NoError(t, err)
		frames["request-"+name] = wire.Frame{Kind: wire.Request, Call: 300, Body: body}
	}
	for name, r := range map[string]space.Reply{
		"nothing": {},
		"tuple":   {Found: true, Tuple: everyField},
		"tuples":  {Found: true, Tuples: []tuple.Tuple{tuple.New("a"), tuple.New()}},
		"count":   {Count: 1000},
		"infos":   {Infos: []space.Info{{Name: "task", Options: space.Options{Kind: space.Queue}, Visible: 1, Held: 2}}},
		"events":  {Found: true, Events: []space.Event{{Change: space.Hold, Space: "task", Procedure: "task.claim", Tuple: tuple.New("a")}}, Missed: 3},
		"notify":  {Subscription: 300},
	} {
		frames["reply-"+name] = wire.Frame{Kind: wire.Reply, Call: 1, Body: wire.AppendReply(nil, r)}
	}
	for name, err := range map[string]error{
		"stale": fmt.Errorf("task.release t1: %w", fault.ErrStaleToken), "internal": fmt.Errorf("oh"), "canceled": context.Canceled,
	} {
		frames["failure-"+name] = wire.Frame{Kind: wire.Failure, Call: 2, Body: wire.AppendError(nil, err)}
	}
	return frames
}

func TestGoldenFrames(t *testing.T) {
	t.Parallel()
	frames := golden(t)
	for _, name := range slices.Sorted(maps.Keys(frames)) {
		path := filepath.Join("testdata", "golden", name+".hex")
		data, err := frames[name].Append(nil)
		require.NoError(t, err)
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(hex.Dump(data)), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), hex.Dump(data), "%s: run with -update only if no running peer needs to read it", name)
		f, _, err := wire.Read(bytes.NewReader(data), nil)
		require.NoError(t, err)
		switch kind, _, _ := strings.Cut(name, "-"); kind {
		case "request":
			_, err = wire.DecodeRequest(f.Body)
		case "reply":
			_, err = wire.DecodeReply(f.Body)
		case "failure":
			_, err = wire.DecodeError(f.Body)
		}
		require.NoError(t, err, name)
	}
}

// seed adds the bodies of the golden frames of a kind to the inputs of a fuzz target.
func seed(f *testing.F, kind wire.Kind) {
	for _, frame := range golden(f) {
		if frame.Kind == kind {
			f.Add(frame.Body)
		}
	}
}

func FuzzDecodeRequest(f *testing.F) {
	seed(f, wire.Request)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := wire.DecodeRequest(data)
		if err != nil {
			require.NotEqual(t, "internal", fault.Of(err).Code)
			return
		}
		again, err := wire.AppendRequest(nil, r)
		require.NoError(t, err)
		_, err = wire.DecodeRequest(again)
		require.NoError(t, err)
	})
}

func FuzzDecodeReply(f *testing.F) {
	seed(f, wire.Reply)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := wire.DecodeReply(data)
		if err != nil {
			require.NotEqual(t, "internal", fault.Of(err).Code)
			return
		}
		_, err = wire.DecodeReply(wire.AppendReply(nil, r))
		require.NoError(t, err)
	})
}

func FuzzDecodeError(f *testing.F) {
	seed(f, wire.Failure)
	f.Fuzz(func(t *testing.T, data []byte) {
		failure, err := wire.DecodeError(data)
		if err != nil {
			return
		}
		again, err := wire.DecodeError(wire.AppendError(nil, failure))
		require.NoError(t, err)
		require.EqualError(t, again, failure.Error())
		require.Equal(t, fault.Of(failure), fault.Of(again))
	})
}

func FuzzRead(f *testing.F) {
	for _, frame := range golden(f) {
		data, err := frame.Append(nil)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		var buf []byte
		for {
			frame, grown, err := wire.Read(r, buf)
			require.LessOrEqual(t, cap(grown), 2*len(data)+16<<10)
			if err != nil {
				return
			}
			_, err = frame.Append(nil)
			require.NoError(t, err)
			buf = grown
		}
	})
}
