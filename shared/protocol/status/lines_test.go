package status_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

func TestTheLogTellsOnceThatASessionJoinedAndWhyItEnded(t *testing.T) {
	t.Parallel()
	s := newSessions(t, "admin", "worker-1")
	h := status.NewHeartbeat(s[1], time.Second, map[string]int{"research": 1})
	for _, state := range []string{"idle", "busy", "idle"} {
		h.SetState(state)
		require.NoError(t, h.Beat(t.Context()))
	}
	require.NoError(t, status.Drain(t.Context(), s[0], "worker-1"))
	status.Leave(t.Context(), s[1], "all\nis done")
	lines, err := status.Lines(t.Context(), s[0])
	require.NoError(t, err)
	var told []string
	for _, l := range lines {
		require.WithinDuration(t, time.Now(), l.At, time.Minute)
		told = append(told, l.ID+" "+l.Level+" "+l.Message)
	}
	require.Equal(t, []string{"worker-1 info session joined", "worker-1 info asked to drain", "worker-1 info session ended: all is done"}, told)
}

// asked is a coordinator that does not answer before the context of a call ends.
type asked struct{ space.Repository }

func (asked) Session() string { return "worker-1" }
func (asked) Call(ctx context.Context, _ space.OpID, _ string, _ tuple.Tuple) (tuple.Tuple, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestASessionThatEndsDoesNotWaitForItsLastLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		status.Leave(t.Context(), asked{}, "done")
		require.Equal(t, 2*time.Second, time.Since(began))
	})
}

func TestALongMessageIsCutAtAWholeCharacterAndAShortOneIsWhole(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &logSpace{}
		log, _ := forward(t, s)
		for _, message := range []string{strings.Repeat("a", 1000), strings.Repeat("a", 1001), "a" + strings.Repeat("é", 600)} {
			status.Tell(log, slog.LevelWarn, "", "%s", message)
		}
		synctest.Wait()
		got := s.messages()
		require.Equal(t, "worker-1 warn "+strings.Repeat("a", 1000), got[0])
		require.Equal(t, "worker-1 warn "+strings.Repeat("a", 997)+"…", got[1])
		require.True(t, utf8.ValidString(got[2]))
		require.Equal(t, "worker-1 warn a"+strings.Repeat("é", 498)+"…", got[2])
	})
}

// An attribute of a group does not name the session that the line is about. The log of the process
// has all lines that its level accepts.
func TestTheLogOfTheProcessHasWhatIsForwardedAndAllElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &logSpace{}
		log, local := forward(t, s)
		log.WithGroup("gate").WithGroup("peer").Error("refused", "session", "worker-9", "n", 1)
		log.Log(t.Context(), slog.LevelError+4, "worse")
		log.With("local", "yes").Error("last")
		status.Tell(slog.New(slog.DiscardHandler), slog.LevelWarn, "", "no forwarder")
		synctest.Wait()
		require.Equal(t, []string{"worker-1 error refused gate.peer.session=worker-9 gate.peer.n=1", "worker-1 error worse", "worker-1 error last local=yes"}, s.messages())
		require.Contains(t, local.String(), "local=yes")
		require.Contains(t, local.String(), "gate.peer.session=worker-9")
		require.True(t, log.Enabled(t.Context(), slog.LevelWarn))
		require.False(t, log.Enabled(t.Context(), slog.LevelInfo))
	})
}
