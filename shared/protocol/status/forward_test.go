package status_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// logSpace keeps the lines written, or fails; logSession is a session that writes to it.
type logSpace struct {
	mu    sync.Mutex
	lines []tuple.Tuple // without their first fields
	write func(context.Context) error
}

type logSession struct {
	space.Repository
	log *logSpace
}

func (s logSession) Session() string { return "worker-1" }

// Call keeps a line, unless the test's write returns an error before.
func (s logSession) Call(ctx context.Context, _ space.OpID, procedure string, line tuple.Tuple) (tuple.Tuple, error) {
	if procedure != "status.log" {
		return nil, errors.New("want a call of status.log")
	}
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if s.log.write != nil {
		if err := s.log.write(ctx); err != nil {
			return nil, err
		}
	}
	s.log.lines = append(s.log.lines, line)
	return nil, nil
}

// messages returns what was written, as "id level message".
func (s *logSpace) messages() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lines {
		all = append(all, l.Str(1)+" "+l.Str(2)+" "+l.Str(3))
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
		log.Warn("lost", "session", "worker-3", "after", 6)
		log.Error(strings.Repeat("é", 2000))
		synctest.Wait()
		got := s.messages()
		require.Equal(t, []string{
			"worker-1 warn slow [31m  episode=e g.took=1s", "worker-1 error broken error=disk", "worker-2 info visited feed",
			"worker-3 warn lost after=6",
		}, got[:4])
		require.LessOrEqual(t, len(got[4]), 1030)
		require.NotContains(t, local.String(), "slow", "the local level is error")
		require.Contains(t, local.String(), "broken")
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
		require.Equal(t, "worker-1 warn after (lines dropped before this one: 900)", s.messages()[100])
		log.Warn("soon")
		synctest.Wait()
		require.Equal(t, "worker-1 warn soon", s.messages()[101], "those that were counted are not counted again")
		for range 200 { // twenty a second; ten are written
			<-time.After(50 * time.Millisecond)
			log.Warn("steady")
		}
		synctest.Wait()
		require.InDelta(t, 102+8+100, len(s.messages()), 1)
	})
}

// Lines must wait without delaying the program, arrive later, and be dropped and counted once
// the queue is full.
func TestLinesWaitWhileTheCoordinatorIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Bool
		away.Store(true)
		s := &logSpace{}
		s.write = func(ctx context.Context) error {
			switch {
			case away.Load():
				<-ctx.Done()
				return ctx.Err()
			case len(s.lines) == 1:
				s.lines = append(s.lines, tuple.New("", "", "", "lost"))
				return fault.ErrClosed
			}
			return nil
		}
		log, _ := forward(t, s)
		began := time.Now()
		for range 90 {
			log.Warn("connection lost")
		}
		require.Zero(t, time.Since(began), "the space does not answer")
		<-time.After(10 * time.Minute)
		away.Store(false)
		<-time.After(10 * time.Second)
		synctest.Wait()
		require.Len(t, s.messages(), 91)
		for range 400 {
			<-time.After(time.Second)
			away.Store(true)
			log.Warn("still away")
		}
		away.Store(false)
		<-time.After(time.Minute)
		log.Warn("back")
		synctest.Wait()
		all := s.messages()
		require.Regexp(t, `back \(lines dropped before this one: 14\d\)$`, all[len(all)-1], "the queue is bounded")
	})
}

func TestALineThatTheCoordinatorRefusesIsDroppedAndCounted(t *testing.T) {
	t.Parallel()
	for _, refusal := range []error{fault.ErrTooLarge, fault.ErrInvalid, fault.ErrNotFound} {
		synctest.Test(t, func(t *testing.T) {
			refuse := true
			s := &logSpace{write: func(context.Context) error {
				if refuse {
					refuse = false
					return refusal
				}
				return nil
			}}
			log, _ := forward(t, s)
			log.Warn("refused")
			synctest.Wait()
			log.Warn("visit of https://bob:s3cret@example.org failed")
			synctest.Wait()
			require.Equal(t, []string{"worker-1 warn visit of https://xxxxx@example.org failed (lines dropped before this one: 1)"}, s.messages())
		})
	}
}

func TestAnAttemptToWriteALineTakesAtMostTwoSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var attempts []time.Duration
		s := &logSpace{}
		s.write = func(ctx context.Context) error {
			began := time.Now()
			if <-ctx.Done(); len(attempts) < 3 {
				attempts = append(attempts, time.Since(began))
				return ctx.Err()
			}
			return nil
		}
		log, _ := forward(t, s)
		log.Warn("late")
		<-time.After(time.Hour)
		require.Equal(t, []time.Duration{2 * time.Second, 2 * time.Second, 2 * time.Second}, attempts)
		require.Equal(t, []string{"worker-1 warn late"}, s.messages())
	})
}

func TestLinesAreWrittenOverTheSessionThatWasOpenedLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := status.NewForwarder()
		broken := errors.New("broken")
		_, err := f.Over(func(context.Context) (space.Repository, error) { return nil, broken })(t.Context())
		require.ErrorIs(t, err, broken)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan bool)
		go func() { f.Run(ctx); ended <- true }()
		log := f.Logger(slog.New(slog.DiscardHandler))
		log.Warn("early")
		synctest.Wait() // there is no session
		first, second := &logSpace{}, &logSpace{}
		for i, s := range []*logSpace{first, second} {
			_, err := f.Over(func(context.Context) (space.Repository, error) { return logSession{log: s}, nil })(t.Context())
			require.NoError(t, err)
			synctest.Wait()
			log.Warn("line", "n", i)
			synctest.Wait()
		}
		cancel()
		<-ended
		require.Equal(t, []string{"worker-1 warn early", "worker-1 warn line n=0"}, first.messages())
		require.Equal(t, []string{"worker-1 warn line n=1"}, second.messages())
	})
}

func TestAForwarderWithoutASessionEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	status.NewForwarder().Run(ctx)
}

// failing is a handler that accepts every record and fails.
type failing struct{ slog.Handler }

func (failing) Enabled(context.Context, slog.Level) bool  { return true }
func (failing) Handle(context.Context, slog.Record) error { return errors.New("disk full") }
func (failing) WithAttrs([]slog.Attr) slog.Handler        { return failing{} }

func TestAHandlerReturnsTheErrorOfTheLogOfTheProcess(t *testing.T) {
	t.Parallel()
	h := status.NewForwarder().Logger(slog.New(failing{})).Handler()
	for _, level := range []slog.Level{slog.LevelInfo, slog.LevelError} {
		require.ErrorContains(t, h.Handle(t.Context(), slog.NewRecord(time.Now(), level, "line", 0)), "disk full")
	}
}
