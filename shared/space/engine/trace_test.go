package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/trace"
	"leasehold/shared/tuple"
)

// traced runs an engine whose events it returns.
func traced(t *testing.T, m *journal.Memory) (r space.Repository, events func() []trace.Event) {
	var mu sync.Mutex // guards all
	var all []trace.Event
	r = opened(t, run(t, engine.Config{Journal: m, Trace: func(e trace.Event) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, e)
	}}))
	began := len(all)
	return r, func() []trace.Event {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all[began:])
	}
}

// lines prints events as "process procedure operation space template -> tuple", and the
// result if it is not ok.
func lines(events []trace.Event) (all []string) {
	for _, e := range events {
		line := fmt.Sprintf("%s %s %s %s %s -> %s", e.Process, e.Procedure, e.Operation, e.Space, e.Template, e.Tuple)
		if e.Result != trace.OK {
			line += " " + e.Result
		}
		all = append(all, line)
	}
	return all
}

// A get that waited is in the trace behind the put that served it; a procedure is in it with
// each change that it made, and so is what follows when a hold and a TTL end.
func TestTraceHasEveryOperationInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, events := traced(t, &journal.Memory{})
		s, ctx := r.Space("s"), t.Context()
		go func() { _, _ = s.Get(context.Background(), anyItem("b")) }()
		synctest.Wait()
		require.NoError(t, s.Put(ctx, item("a", 1), 30*time.Minute))
		require.NoError(t, s.PutP(ctx, item("b", 2), 0))
		_, _ = s.Query(ctx, anyItem("a"))
		_, _, _ = s.QueryP(ctx, anyItem("x"))
		_, _ = s.QueryAll(ctx, anything)
		_, _, _ = s.GetP(ctx, anyItem("x"))
		ref := call(t, r, "test.hold", "s", "a", int64(time.Minute), "test.on.replace", false)[0]
		_, err := r.Call(ctx, space.OpID{}, "test.fail", tuple.New("s"))
		require.Error(t, err)
		require.NoError(t, s.Put(ctx, item("h", 4), 0))
		call(t, r, "test.hold", "s", "h", int64(time.Minute), "", true)
		time.Sleep(2 * time.Minute)
		_, err = s.Get(ctx, anyItem("h"))
		require.NoError(t, err)
		time.Sleep(30 * time.Minute)
		ref2 := call(t, r, "test.put", "v", item("c", 3), int64(0), "", false)[0]
		call(t, r, "test.take", ref2)
		_, _ = s.GetAll(ctx, anything)
		require.Equal(t, []string{
			`test-1  put s  -> ("a", 1)`,
			`test-1  put s  -> ("b", 2)`,
			`test-1  get s ("b", ?int64) -> ("b", 2)`,
			`test-1  query s ("a", ?int64) -> ("a", 1)`,
			`test-1  queryp s ("x", ?int64) ->  none`,
			`test-1  queryall s (?string, ?int64) -> ("a", 1)`,
			`test-1  getp s ("x", ?int64) ->  none`,
			`test-1 test.hold hold s  -> ("a", 1)`,
			`test-1 test.fail call   ->  stale_token`,
			`test-1  put s  -> ("h", 4)`,
			`test-1 test.hold hide s  -> ("h", 4)`,
			`test-1 test.on.replace expire s  -> ("a", 1) due`,
			` test.on.replace put log  -> ("due", ` + fmt.Sprint(ref) + `, "test-1")`,
			` test.on.replace replace s  -> ("replaced", 1)`,
			`  back s  -> ("replaced", 1)`,
			`  expire s  -> ("h", 4) due`,
			`  back s  -> ("h", 4)`,
			`test-1  get s ("h", ?int64) -> ("h", 4)`,
			`  expire s  -> ("replaced", 1) due`,
			`  take s  -> ("replaced", 1)`,
			`test-1 test.put put v  -> ("c", 3)`,
			`test-1 test.take take v  -> ("c", 3)`,
			`test-1  getall s (?string, ?int64) ->  none`,
		}, lines(events()))
		clock := time.Duration(0)
		for n, e := range events() {
			require.Equal(t, events()[0].Seq+uint64(n), e.Seq)
			require.GreaterOrEqual(t, e.Clock, clock)
			require.Equal(t, trace.RoleOf(e.Process), e.Role)
			clock = e.Clock
		}
	})
}

func TestTheTraceNamesCausesAsTheSpaceDoes(t *testing.T) {
	t.Parallel()
	require.Equal(t, string(space.Due), trace.Due)
	require.Equal(t, string(space.Lost), trace.Lost)
}

func TestTraceTellsThatAGetIsAcknowledgedOrComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // guards all
		var all []trace.Event
		e := run(t, engine.Config{Journal: &journal.Memory{}, Trace: func(e trace.Event) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, e)
		}})
		r := opened(t, e)
		conn, err := e.Connect(t.Context(), "taker-1", time.Minute)
		require.NoError(t, err)
		for n, ack := range []bool{true, false} {
			require.NoError(t, r.Space("s").Put(t.Context(), item("a", n), 0))
			op := space.OpID{Session: "taker-1", Seq: uint64(n + 1)}
			_, err := conn.Do(t.Context(), space.Request{Verb: space.VerbGet, Space: "s", Template: anyItem("a"), Op: op, Ack: true})
			require.NoError(t, err)
			if ack {
				_, err = conn.Do(t.Context(), space.Request{Verb: space.VerbAck, Op: op})
				require.NoError(t, err)
			}
		}
		require.NoError(t, space.Over(conn).Close(t.Context()))
		require.Equal(t, 1, count(t, r, "s"), "the second came back")
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		operations := map[string][]string{}
		for _, event := range all {
			if event.Tuple != "" {
				operations[event.Tuple] = append(operations[event.Tuple], event.Operation)
			}
		}
		require.Equal(t, []string{"put", "get", trace.Ack}, operations[`("a", 0)`])
		require.Equal(t, []string{"put", "get", "expire", "back"}, operations[`("a", 1)`])
	})
}

func TestTheTraceTellsTheSettingsAtEachReload(t *testing.T) {
	t.Parallel()
	var all []trace.Event
	e, stop := restartable(t, engine.Config{Settings: tuple.New("max-attempts", int64(3)), Trace: func(e trace.Event) { all = append(all, e) }})
	opened(t, e)
	require.NoError(t, stop())
	require.Equal(t, []string{"  reload   -> ", `  settings   -> ("max-attempts", 3)`}, lines(all[:2]))
}

func TestTraceHasOnlyWhatIsDurable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &journal.Memory{}
		r, events := traced(t, m)
		s := r.Space("s")
		var commits []int
		m.Before = slow(&commits)
		go func() { _ = s.Put(context.Background(), item("a", 1), 0) }()
		synctest.Wait()
		require.Empty(t, events())
		time.Sleep(time.Second)
		synctest.Wait()
		require.Len(t, events(), 1)
		m.Before = nil
		failures["definitely"].arm(m)
		require.ErrorIs(t, s.Put(t.Context(), item("a", 2), 0), fault.ErrUnavailable)
		require.NoError(t, s.Put(t.Context(), item("a", 3), 0))
		require.Equal(t, []string{
			`test-1  put s  -> ("a", 1)`,
			`  reload   -> `, `test-1  begin   -> `, `  restore s  -> ("a", 1)`,
			`test-1  put s  -> ("a", 3)`,
		}, lines(events()))
	})
}

// Eight goroutines put and get equal tuples. By the trace alone no tuple may be taken that was
// not put before, and no operation may be missing.
func TestTraceOfManyAtOnceHasNoGaps(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := trace.NewWriter(&log)
	e, stop := restartable(t, engine.Config{Trace: w.Write})
	r := opened(t, e)
	done := make(chan error)
	const each = 200
	for n := range 8 {
		go func() {
			var err error
			for range each {
				if n%2 == 0 {
					err = r.Space("s").Put(context.Background(), item("a", n), 0)
				} else {
					_, err = r.Space("s").Get(context.Background(), anyItem("a"))
				}
				if err != nil {
					break
				}
			}
			done <- err
		}()
	}
	for range 8 {
		require.NoError(t, <-done)
	}
	require.NoError(t, stop())
	require.NoError(t, w.Err())
	here, seen := map[string]int{}, 0
	require.NoError(t, trace.Read(&log, func(e trace.Event) error {
		if e.Space == "" {
			return nil
		}
		seen++
		if e.Operation == "put" {
			here[e.Tuple]++
		} else {
			here[e.Tuple]--
		}
		require.GreaterOrEqual(t, here[e.Tuple], 0, "%+v takes a tuple that was not put before", e)
		return nil
	}))
	require.Equal(t, 8*each, seen)
}
