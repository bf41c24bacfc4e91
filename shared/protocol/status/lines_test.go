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

	"leasehold/shared/fault"
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

func TestALineAboutAnotherSessionNamesItsWriter(t *testing.T) {
	t.Parallel()
	s := newSessions(t, "worker-1", "manager-1")
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("east", 3600))
	require.NoError(t, status.Write(t.Context(), s[0], status.Line{at, "worker-1", "warn", "slow\ndisk"}))
	require.NoError(t, status.Write(t.Context(), s[1], status.Line{at, "worker-1", "error", "no audio"}))
	lines, err := status.Lines(t.Context(), s[0])
	require.NoError(t, err)
	require.Equal(t, []status.Line{
		{at.UTC(), "worker-1", "warn", "slow disk"}, {at.UTC(), "worker-1", "error", "no audio (written by manager-1)"},
	}, lines)
}

func TestALineThatNoProcessWouldWriteIsRefused(t *testing.T) {
	t.Parallel()
	s := newSessions(t, "worker-1")
	line := func(id, level, message string) status.Line { return status.Line{time.Now(), id, level, message} }
	for name, c := range map[string]struct {
		line status.Line
		want error
	}{
		"an id":     {line("two words", "warn", "x"), fault.ErrInvalid},
		"no id":     {line("", "warn", "x"), fault.ErrInvalid},
		"a level":   {line("worker-1", "fatal", "x"), fault.ErrInvalid},
		"a message": {line("worker-1", "warn", strings.Repeat("x", 2001)), fault.ErrTooLarge},
	} {
		require.ErrorIs(t, status.Write(t.Context(), s[0], c.line), c.want, name)
	}
	for name, args := range map[string]tuple.Tuple{
		"a time": tuple.New("yesterday", "worker-1", "warn", "x"), "a field": tuple.New("2026-01-02T03:04:05Z", "worker-1", "warn"),
		"a type": tuple.New("2026-01-02T03:04:05Z", "worker-1", "warn", int64(1)),
	} {
		_, err := s[0].Call(t.Context(), space.OpID{}, "status.log", args)
		require.ErrorIs(t, err, fault.ErrInvalid, name)
	}
	lines, err := status.Lines(t.Context(), s[0])
	require.NoError(t, err)
	require.Empty(t, lines)
}

func TestASessionThatFloodsTheLogIsRefusedAndOthersWriteOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSessions(t, "client-1", "worker-1")
		write := func(n int) (written int) {
			for range n {
				err := status.Write(t.Context(), s[0], status.Line{time.Now(), "client-1", "warn", "flood"})
				if err == nil {
					written++
					continue
				}
				require.ErrorIs(t, err, fault.ErrOverloaded)
			}
			return written
		}
		require.Equal(t, 200, write(1000))
		require.NoError(t, status.Write(t.Context(), s[1], status.Line{time.Now(), "worker-1", "warn", "mine"}))
		for range 10 {
			<-time.After(time.Second)
			require.InDelta(t, 20, write(100), 1)
		}
		status.Leave(t.Context(), s[0], "done")
		lines, err := status.Lines(t.Context(), s[1])
		require.NoError(t, err)
		require.NotContains(t, lines[len(lines)-1].Message, "session ended", "it counts too")
	})
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
		require.Equal(t, time.Second, time.Since(began))
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

func TestALineHasTheSessionOfItsLogAndTheAttributesOfItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &logSpace{}
		log, local := forward(t, s)
		log.With("session", "worker-2", "worker", "mill").Warn("no program")
		ctx := status.WithAttrs(t.Context(), slog.String("session", "worker-3"), slog.String("task", "t7"))
		log.ErrorContext(ctx, "no sound", "episode", "e1")
		log.Warn("disk full")
		synctest.Wait()
		require.Equal(t, []string{"worker-2 warn no program worker=mill", "worker-3 error no sound episode=e1 task=t7", "worker-1 warn disk full"}, s.messages())
		require.Contains(t, local.String(), "episode=e1 session=worker-3 task=t7")
	})
}
