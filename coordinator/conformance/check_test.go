//go:build unix

package conformance_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/conformance"
	"leasehold/models"
)

// logged is a handler that passes on messages.
type logged struct {
	slog.Handler
	lines chan string
}

func (logged) Enabled(context.Context, slog.Level) bool { return true }

func (l logged) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool { text += " " + a.String(); return true })
	l.lines <- text
	return nil
}

// running runs a check whose process is a shell script, until the test ends.
func running(t *testing.T, script string) (c *conformance.Check, lines chan string, asked *int) {
	t.Helper()
	lines, asked = make(chan string, 100), new(int)
	c = conformance.New(conformance.Config{
		Trace: "t.jsonl", Command: []string{"sh", "-c", script}, Pause: time.Millisecond,
		TraceState: func() { *asked++ }, Log: slog.New(logged{slog.DiscardHandler, lines}),
	})
	require.Equal(t, "its check has not begun", c.Conformance().Problem)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		for {
			select {
			case err := <-done:
				require.NoError(t, err)
				return
			case <-lines:
			}
		}
	})
	return c, lines, asked
}

func TestAProcessThatEndsIsStartedAgain(t *testing.T) {
	t.Parallel()
	c, lines, _ := running(t, `echo '{"seq":3}'; echo "cannot read $0" >&2; exit 3`)
	for range 3 {
		require.Contains(t, <-lines, "the check of the trace ended; it is started again after=1ms reason=exit status 3: cannot read t.jsonl")
	}
	found := c.Conformance()
	require.Equal(t, "t.jsonl", found.Trace)
	require.Contains(t, found.Problem+"its check ended", "its check ended") // or the next process has begun
}

func TestWhatTheProcessFindsIsKept(t *testing.T) {
	t.Parallel()
	deviation := func(model, seq string) string {
		return `echo '{"seq":9,"waits":{"lease":"it waits"},"deviation":{"model":"` + model + `","seq":` + seq + `,"why":"no step","text":"put"}}';`
	}
	c, lines, asked := running(t, `echo garbage; head -c 100000 /dev/zero | tr '\0' x; echo;`+
		deviation("lease", "5")+deviation("lease", "5")+deviation("lease", "7")+deviation("task", "6")+` exec sleep 60`)
	for _, want := range []string{"model=lease event=5", "model=lease event=7", "model=task event=6"} {
		require.Contains(t, <-lines, "the coordinator did what its model forbids "+want+" why=no step explanation=put", "each deviation is logged once")
	}
	c.Wrote(29)
	found := c.Conformance()
	require.Equal(t, models.Conformance{
		Trace: "t.jsonl", Behind: 20, Waits: map[string]string{"lease": "it waits"},
		Deviations: []models.Deviations{
			{First: models.Deviation{Model: "lease", Seq: 5, Why: "no step", Text: "put"}, Count: 2},
			{First: models.Deviation{Model: "task", Seq: 6, Why: "no step", Text: "put"}, Count: 1},
		},
	}, found)
	require.Equal(t, 1, *asked, "the state is asked for once a minute")
	c.Stopped(context.DeadlineExceeded)
	require.Equal(t, "context deadline exceeded", c.Conformance().Problem)
}
