package status_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/status"
	"leasehold/shared/tuple"
)

// logSpace keeps what is put, or fails; logSession is a session that has it.
type logSpace struct {
	space.Space

	mu    sync.Mutex
	lines []tuple.Tuple
	put   func(context.Context) error
}

type logSession struct {
	space.Repository
	log *logSpace
}

func (s logSession) Session() string          { return "worker-1" }
func (s logSession) Space(string) space.Space { return s.log }

func (s *logSpace) PutP(ctx context.Context, t tuple.Tuple, _ time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.put != nil {
		if err := s.put(ctx); err != nil {
			return err
		}
	}
	s.lines = append(s.lines, t)
	return nil
}

// messages returns what was put, as "id level message".
func (s *logSpace) messages() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lines {
		all = append(all, l.Str(2)+" "+l.Str(3)+" "+l.Str(4))
	}
	return all
}

// forward runs a forwarder to s until the test ends.
func forward(t *testing.T, s *logSpace) (log *slog.Logger, local *bytes.Buffer) {
	t.Helper()
	f := status.NewForwarder()
	_, err := f.Over(func(context.Context) (space.Repository, error) { return logSession{log: s}, nil })(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	local = &bytes.Buffer{}
	return f.Logger(slog.New(slog.NewTextHandler(local, &slog.HandlerOptions{Level: slog.LevelError}))), local
}

func TestWarningsAndErrorsAreCopiedToTheLogSpaceAtAnyLocalLevel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &logSpace{}
		log, local := forward(t, s)
		log.Info("no")
		log.With("episode", "e").WithGroup("g").Warn("slow\x1b[31m\n", "took", time.Second)
		log.Error("broken", "error", errors.New("disk"))
		status.Tell(log, slog.LevelInfo, "worker-2", "visited %s", "feed")
		log.Error(strings.Repeat("é", 2000))
		synctest.Wait()
		got := s.messages()
		require.Equal(t, []string{
			"worker-1 warn slow [31m  episode=e g.took=1s", "worker-1 error broken error=disk", "worker-2 info visited feed",
		}, got[:3])
		require.LessOrEqual(t, len(got[3]), 1030)
		require.NotContains(t, local.String(), "slow", "the local level is error")
		require.Contains(t, local.String(), "broken")
		require.True(t, status.MatchLog("worker-2", "info").Matches(s.lines[2]))
	})
}

func TestAFloodOfWarningsIsLimitedAndCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &logSpace{}
		log, _ := forward(t, s)
		for range 1000 {
			log.Warn("flood")
		}
		synctest.Wait()
		require.Len(t, s.messages(), 100)
		<-time.After(time.Second)
		log.Warn("after")
		synctest.Wait()
		require.Equal(t, "worker-1 warn after (900 lines before this one were dropped)", s.messages()[100])
	})
}

func TestLoggingNeverWaitsForTheCoordinator(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan error)
		s := &logSpace{put: func(ctx context.Context) error {
			select {
			case err := <-answers:
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
		log, _ := forward(t, s)
		began := time.Now()
		for range 90 {
			log.Warn("stuck")
		}
		require.Zero(t, time.Since(began), "the space does not answer")
		answers <- fault.ErrClosed
		<-time.After(90 * 2 * time.Second) // each of the others takes its timeout
		log.Warn("again")
		answers <- nil
		synctest.Wait()
		require.Equal(t, []string{"worker-1 warn again (90 lines before this one were dropped)"}, s.messages())
	})
}
