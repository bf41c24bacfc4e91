package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/process/histogram"
	"leasehold/shared/space/engine"
)

// A hold is measured from its begin to its end, though it is renewed, and only if a session has
// it; a stay from the put to the end, holds included.
func TestHoldsAndStaysOfTuplesAreMeasured(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		holds, stays := histogram.New(time.Second), histogram.New(time.Second)
		e := run(t, engine.Config{Measures: []engine.Measure{
			{Space: "s", Name: "a", Held: true, Durations: holds}, {Space: "s", Name: "a", Durations: stays},
		}})
		r := opened(t, e)
		ref := call(t, r, "test.put", "s", item("a", 1), int64(0), "", false)[0]
		call(t, r, "test.put", "s", item("b", 1), int64(0), "", false)
		time.Sleep(2 * time.Second)
		call(t, r, "test.hold", "s", "a", int64(0), "", false)
		time.Sleep(time.Second)
		call(t, r, "test.renew", ref, int64(time.Hour), "") // the same hold goes on
		time.Sleep(3 * time.Second)
		call(t, r, "test.back", ref, false)
		require.Equal(t, 4*time.Second, holds.Snapshot().Sum)
		time.Sleep(time.Second)
		call(t, r, "test.hold", "s", "a", int64(time.Second), "", true) // by no session, as in a back-off
		time.Sleep(2 * time.Second)
		call(t, r, "test.hold", "s", "a", int64(0), "", false)
		require.Zero(t, stays.Snapshot().Count)
		call(t, r, "test.done", ref)
		require.EqualValues(t, 2, holds.Snapshot().Count)
		require.Equal(t, 9*time.Second, stays.Snapshot().Sum)
		require.EqualValues(t, 1, stays.Snapshot().Count)
		_, err := r.Space("s").Get(t.Context(), anyItem("b"))
		require.NoError(t, err)
		require.EqualValues(t, 1, stays.Snapshot().Count, "of that name only")
	})
}
