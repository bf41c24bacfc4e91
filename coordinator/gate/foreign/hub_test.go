package foreign_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/coordinator/gate/foreign"
	"leasehold/coordinator/gate/foreign/foreigntest"
	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/interop"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/tuple"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var anyString = interop.Exactly(tuple.Match(tuple.AnyString))

func TestWhatIsUndeliveredReturnsAndWhatIsDeliveredDoesNot(t *testing.T) {
	t.Parallel()
	f := foreigntest.New(t, 0)
	f.Create("s")
	bridged := interop.Pattern{{Any: tuple.Template{tuple.AnyString, tuple.AnyInt64}}}
	for _, p := range []interop.Pattern{anyString, bridged} {
		for _, verb := range []space.Verb{space.VerbGet, space.VerbGetP, space.VerbGetAll} {
			f.Put("s", tuple.New("x"))
			a, err := f.Hub.Do(t.Context(), foreign.Operation{Verb: verb, Space: "s", Pattern: p})
			require.NoError(t, err)
			require.True(t, a.Took())
			require.Equal(t, []tuple.Tuple{tuple.New("x")}, a.Tuples)
			f.Hub.Undelivered(a)
			f.AwaitCount("s", tuple.Match("x"), 1)
			a, err = f.Hub.Do(t.Context(), foreign.Operation{Verb: verb, Space: "s", Pattern: p})
			require.NoError(t, err)
			f.Hub.Delivered(a)
			f.AwaitCount("s", tuple.Match("x"), 0)
		}
	}
}

func TestAnOperationThatIsCancelledTakesNothing(t *testing.T) {
	t.Parallel()
	f := foreigntest.New(t, 0)
	f.Create("s")
	for n, p := range []interop.Pattern{anyString, {{Object: true}}} {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := f.Hub.Do(ctx, foreign.Operation{Verb: space.VerbGet, Space: "s", Pattern: p})
			ended <- err
		}()
		if n == 0 {
			f.AwaitWaiters(1)
		}
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
	}
	f.Put("s", tuple.New("x"))
	f.AwaitCount("s", tuple.Match("x"), 1)
}

func TestSpacesThatDoNotExistAreErrors(t *testing.T) {
	t.Parallel()
	f := foreigntest.New(t, 0)
	for _, p := range []interop.Pattern{anyString, {{Object: true}}, {{Any: tuple.Template{tuple.AnyString, tuple.AnyInt64}}}} {
		for _, verb := range []space.Verb{space.VerbGetP, space.VerbQueryP, space.VerbQuery, space.VerbGetAll, space.VerbQueryAll} {
			_, err := f.Hub.Do(t.Context(), foreign.Operation{Verb: verb, Space: "none", Pattern: p})
			require.ErrorIs(t, err, fault.ErrNotFound, "%s %v", verb, p)
		}
	}
	_, err := f.Hub.Size(t.Context(), "none")
	require.ErrorIs(t, err, fault.ErrNotFound)
}

// A hub with one place: the second connection is closed, and the place of the one whose function
// panics is free again, which a read that times out shows.
func TestSurplusConnectionsAreClosedAndAPanicEndsOnlyItsConnection(t *testing.T) {
	t.Parallel()
	f := foreigntest.New(t, 0)
	hub := foreign.NewHub(foreign.Config{Engine: f.Engine, Connections: 1, Log: slog.New(slog.DiscardHandler)})
	address := f.Listen(func(ctx context.Context, l net.Listener) error {
		return hub.Serve(ctx, l, func(_ context.Context, c *foreign.Conn) {
			if n, _ := c.Read(make([]byte, 1)); n > 0 {
				panic("a test")
			}
		})
	})
	dial := func() net.Conn {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		require.NoError(t, c.SetDeadline(time.Now().Add(foreigntest.Wait)))
		return c
	}
	first := dial()
	_, err := io.ReadAll(dial())
	require.NoError(t, err, "it was closed at once")
	_, err = first.Write([]byte("x"))
	require.NoError(t, err)
	_, _ = io.ReadAll(first)
	require.Eventually(t, func() bool { return hub.Panics() == 1 }, foreigntest.Wait, time.Millisecond)
	require.Eventually(t, func() bool { // its place is free again
		c := dial()
		defer c.Close()
		_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		_, err := c.Read(make([]byte, 1))
		return err != nil && err != io.EOF
	}, foreigntest.Wait, time.Millisecond)
}

// endsAtClaim is a session that ends at its first claim, as one does whose earlier task timed out
// at that moment.
type endsAtClaim struct{ engine.GateSession }

func (s endsAtClaim) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	if r.Verb == space.VerbCall {
		_ = space.Over(s.GateSession).Close(ctx)
	}
	return s.GateSession.Do(ctx, r)
}

// firstClaimantEnds opens sessions. The second one ends at its first claim; the first one is
// for operations that are not claims.
type firstClaimantEnds struct {
	foreign.Engine
	opened int
}

func (e *firstClaimantEnds) OpenGateSession(ctx context.Context, o engine.Opening) (engine.GateSession, error) {
	s, err := e.Engine.OpenGateSession(ctx, o)
	if e.opened++; e.opened == 2 {
		return endsAtClaim{s}, err
	}
	return s, err
}

func TestAClaimWhoseSessionEndsIsRepeatedWithAnother(t *testing.T) {
	t.Parallel()
	f := foreigntest.New(t, 0)
	created, err := task.Client{Repo: f.Repo}.Create(t.Context(), models.Task{Action: "a", Timeout: 3600}, 0)
	require.NoError(t, err)
	hub := foreign.NewHub(foreign.Config{Engine: &firstClaimantEnds{Engine: f.Engine}, Log: slog.New(slog.DiscardHandler)})
	foreigntest.Start(t, hub.Run)
	anyTask := interop.Exactly(task.AnyOf("a"))
	a, err := hub.Do(t.Context(), foreign.Operation{Verb: space.VerbGetP, Space: task.Space, Pattern: anyTask})
	require.NoError(t, err)
	require.Len(t, a.Tuples, 1)
	require.Equal(t, created.ID, a.Tuples[0].Str(2))
}

func ExampleAccess_Check() {
	fmt.Println(foreign.Access{}.Check(foreign.Operation{Verb: space.VerbPut, Space: "fridge"}))
	fmt.Println(foreign.Access{Write: true}.Check(foreign.Operation{Verb: space.VerbPut, Space: "fridge"}))
	// Output:
	// put fridge: forbidden: this gate is read-only
	// <nil>
}
