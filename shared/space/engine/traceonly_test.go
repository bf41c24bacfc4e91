package engine_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/trace"
	"leasehold/shared/tuple"
)

// follower derives the content of the spaces from the trace alone, as docs/trace.md
// describes it for a checker. It may be used concurrently.
type follower struct {
	mu       sync.Mutex // guards all that follows
	at       map[int64]trace.Event
	sessions map[string]bool
	wrong    error
}

// follow gets each event of the trace, and keeps the first one that does not fit.
func (f *follower) follow(e trace.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.apply(e); err != nil && f.wrong == nil {
		f.wrong = fmt.Errorf("%+v: %w", e, err)
	}
}

// apply changes the state that the follower knows as an event tells.
func (f *follower) apply(e trace.Event) error {
	now, known := f.at[e.Ref]
	state := map[string]string{trace.HeldResult: trace.HeldResult, trace.TakenResult: trace.TakenResult}[now.Result]
	switch e.Operation {
	case trace.Reload:
		f.at, f.sessions = map[int64]trace.Event{}, map[string]bool{}
	case trace.Begin:
		f.sessions[e.Process] = true
	case trace.End:
		if !f.sessions[e.Process] {
			return fmt.Errorf("no such session")
		}
		delete(f.sessions, e.Process)
	case trace.Restore, "put":
		if e.Result != "overloaded" {
			if known {
				return fmt.Errorf("it is there already")
			}
			f.at[e.Ref] = e
		}
	case "get", "getp", "getall", "take", "done":
		if e.Result == trace.None {
			return nil
		}
		if !known || e.Operation == "done" && state != trace.HeldResult || now.Tuple != e.Tuple {
			return fmt.Errorf("it is %+v", now)
		}
		delete(f.at, e.Ref)
	case "replace":
		e.Result = now.Result
		f.at[e.Ref] = e
	case "hold", trace.Hide:
		e.Result = trace.HeldResult
		f.at[e.Ref] = e
	case trace.Expire:
		if e.Result == string(space.Due) && (now.Due == 0 || e.Clock < now.Due) {
			return fmt.Errorf("it is due at %s", now.Due)
		}
	case "back":
		f.at[e.Ref] = e
	}
	return nil
}

// count counts the tuples of a space, by whether they are held.
func (f *follower) count(name string) (visible, held int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.at {
		switch {
		case x.Space != name:
		case x.Result == trace.HeldResult:
			held++
		case x.Result != trace.TakenResult:
			visible++
		}
	}
	return visible, held, f.wrong
}

func TestTraceBeginsWithTheWholeState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &journal.Memory{}
		e, stop := restartable(t, engine.Config{Journal: m})
		r := opened(t, e)
		for n := range 3 {
			require.NoError(t, r.Space("s").Put(t.Context(), item("a", n), 0))
		}
		call(t, r, "test.hold", "s", "a", int64(0), "", false)
		c, err := e.Connect(t.Context(), "carrier", time.Minute)
		require.NoError(t, err)
		_, err = c.Do(t.Context(), space.Request{Verb: space.VerbGet, Space: "s", Template: anyItem("a"), Ack: true, Op: space.OpID{Session: "carrier", Seq: 1}})
		require.NoError(t, err)
		require.NoError(t, stop())
		events := make(chan trace.Event, 100)
		run(t, engine.Config{Journal: m, Trace: func(e trace.Event) { events <- e }})
		require.Equal(t, []string{
			`  reload   -> `, `carrier  begin   -> `, `test-1  begin   -> `,
			`test-1  restore s  -> ("a", 0) held`, `carrier  restore s  -> ("a", 1) taken`, `  restore s  -> ("a", 2)`,
		}, lines(drained(events)))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []string{
			`carrier  end   ->  lost`, `carrier  expire s  -> ("a", 1) lost`, `  back s  -> ("a", 1)`,
		}, lines(drained(events)))
	})
}

// drained returns the events in c.
func drained(c chan trace.Event) (all []trace.Event) {
	for len(c) > 0 {
		all = append(all, <-c)
	}
	return all
}

func TestTraceSaysWhatWasRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, events := traced(t, &journal.Memory{})
		require.NoError(t, r.Create(t.Context(), "full", space.Options{Capacity: 1}))
		full := r.Space("full")
		require.NoError(t, full.Put(t.Context(), tuple.New("task", "act", "t1", "l1"), 0))
		require.Error(t, full.PutP(t.Context(), tuple.New("task", "act", "t2", "l2"), 0))
		_, _, err := r.Space("nowhere").GetP(t.Context(), anyItem("a"))
		require.Error(t, err)
		require.Equal(t, []string{
			`test-1  put full  -> ("task", "act", "t1", "l1")`,
			`test-1  putp full  -> ("task", "act", "t2", "l2") overloaded`,
			`test-1  getp nowhere ("a", ?int64) ->  not_found`,
		}, lines(events()))
		require.Equal(t, "l2", events()[1].Lease)
	})
}

// A reader that begins anywhere knows the whole state after TraceState, in the order of the events around it.
func TestTheStateIsTracedOnceMoreAtAQuietPoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		events := make(chan trace.Event, 30_000)
		e := run(t, engine.Config{Journal: &journal.Memory{}, Trace: func(e trace.Event) { events <- e }})
		r := opened(t, e)
		const many = 10_001
		for n := range many {
			require.NoError(t, r.Space("s").Put(t.Context(), item("a", n), 0))
		}
		drained(events)
		e.TraceState()
		synctest.Wait()
		require.Empty(t, drained(events), "there are too many tuples")
		_, _, err := r.Space("s").GetP(t.Context(), anyItem("a"))
		require.NoError(t, err)
		synctest.Wait()
		all := drained(events)
		require.Len(t, all, 3+many-1)
		require.Equal(t, []string{`test-1  getp s ("a", ?int64) -> ("a", 0)`, `  reload   -> `, `test-1  begin   -> `, `  restore s  -> ("a", 1)`}, lines(all[:4]))
		for i, event := range all[1:] {
			require.Equal(t, all[i].Seq+1, event.Seq)
			require.GreaterOrEqual(t, event.Clock, all[i].Clock)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Empty(t, drained(events), "it is traced once")
	})
}
