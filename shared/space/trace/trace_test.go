package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/space/trace"
)

func Example() {
	w := trace.NewWriter(os.Stdout)
	w.Write(trace.Event{Seq: 1, Process: "worker-7f3a9c01", Role: trace.RoleOf("worker-7f3a9c01"), Operation: "put", Space: "status", Tuple: `("idle")`, Result: trace.OK})
	// Output: {"seq":1,"clock":0,"process":"worker-7f3a9c01","role":"worker","operation":"put","space":"status","tuple":"(\"idle\")","result":"ok"}
}

func TestReadReturnsWhatWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String()
		var events []trace.Event
		for n := range rapid.IntRange(0, 9).Draw(rt, "events") {
			events = append(events, trace.Event{
				Seq: uint64(n + 1), Clock: time.Duration(rapid.Int64().Draw(rt, "clock")), Process: text.Draw(rt, "process"),
				Role: text.Draw(rt, "role"), Procedure: text.Draw(rt, "procedure"), Operation: text.Draw(rt, "operation"),
				Space: text.Draw(rt, "space"), Template: text.Draw(rt, "template"), Tuple: text.Draw(rt, "tuple"),
				Ref: rapid.Int64().Draw(rt, "ref"), Result: text.Draw(rt, "result"), Lease: text.Draw(rt, "lease"),
			})
		}
		var log bytes.Buffer
		w := trace.NewWriter(&log)
		for _, e := range events {
			w.Write(e)
		}
		require.NoError(rt, w.Err())
		var back []trace.Event
		require.NoError(rt, trace.Read(&log, func(e trace.Event) error { back = append(back, e); return nil }))
		require.Equal(rt, events, back)
	})
}

func TestReadRefusesWhatIsNoLog(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ log, want string }{
		"no json":   {"put\n", "line 1"},
		"a gap":     {`{"seq":1}` + "\n" + `{"seq":3}`, "line 2 has seq 3"},
		"too long":  {`{"seq":1,"space":"` + strings.Repeat("x", 17<<20) + `"}`, "too long"},
		"truncated": {`{"seq":1,`, "line 1"},
	} {
		require.ErrorContains(t, trace.Read(strings.NewReader(c.log), func(trace.Event) error { return nil }), c.want, name)
	}
}

func TestReadStopsWhenItsCallerDoes(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	err := trace.Read(strings.NewReader(`{"seq":1}`), func(trace.Event) error { return enough })
	require.ErrorIs(t, err, enough)
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestErrReturnsTheFirstError(t *testing.T) {
	t.Parallel()
	w := trace.NewWriter(full{})
	for n := range 10_000 {
		w.Write(trace.Event{Seq: uint64(n + 1), Tuple: strings.Repeat("x", 100)})
	}
	require.ErrorContains(t, w.Err(), "no space left")
}

func TestRoleOf(t *testing.T) {
	t.Parallel()
	for id, role := range map[string]string{"worker-7f3a9c01": "worker", "foreign:127.0.0.1": "", "": "", "a-b-c": "a"} {
		require.Equal(t, role, trace.RoleOf(id))
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"seq":1,"clock":5,"process":"a","operation":"put","space":"s"}` + "\n"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var log bytes.Buffer
		w := trace.NewWriter(&log)
		n := 0
		err := trace.Read(bytes.NewReader(data), func(e trace.Event) error { n++; w.Write(e); return nil })
		require.NoError(t, w.Err())
		again := 0
		require.NoError(t, trace.Read(&log, func(trace.Event) error { again++; return nil }), "after %v", err)
		require.Equal(t, n, again, fmt.Sprint(err))
	})
}
