package alert_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/coordinator/alert"
	"leasehold/internal/lockedbuffer"
	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	secret = "a-secret-of-the-webhook"
	token  = "/hooks/token-in-the-path"
)

var loopback = []string{"127.0.0.0/8"}

// fixture is an engine whose dead letters are sent by channels.
type fixture struct {
	t     *testing.T
	tasks task.Client
	log   *lockedbuffer.Buffer
}

func start(t *testing.T, channels ...alert.Channel) *fixture {
	policy := task.Policy{MaxAttempts: 1, Backoff: time.Second, Alerts: append(alert.Names(channels), "gone")}
	e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}, QueryOnly: space.QueryOnly(task.Spaces(), status.Spaces(), lease.Spaces()), Procedures: space.Join(
		policy.Procedures(), policy.AdminProcedures(), status.Procedures(), lease.Procedures())})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- e.Run(ctx) }()
	repo, err := e.Session(t.Context(), "worker-1", 0)
	require.NoError(t, err)
	for _, d := range slices.Concat(task.Spaces(), status.Spaces(), lease.Spaces()) {
		require.NoError(t, repo.Create(t.Context(), d.Name, d.Options))
	}
	f := &fixture{t: t, tasks: task.Client{Repo: repo}, log: &lockedbuffer.Buffer{}}
	alerting, stopAlerting := context.WithCancel(context.Background())
	go func() { done <- alert.Run(alerting, f.tasks, channels, slog.New(slog.NewTextHandler(f.log, nil))) }()
	t.Cleanup(func() {
		stopAlerting()
		require.NoError(t, <-done)
		stop()
		require.NoError(t, <-done)
		require.NotContains(t, f.log.String(), secret)
		require.NotContains(t, f.log.String(), token)
	})
	return f
}

// die creates a task that becomes a dead letter.
func (f *fixture) die(action string) task.Item {
	_, err := f.tasks.Create(f.t.Context(), models.Task{Action: action, Timeout: 60, Data: []byte(`"private"`)}, 0)
	require.NoError(f.t, err)
	i, err := f.tasks.Claim(f.t.Context(), action)
	require.NoError(f.t, err)
	require.NoError(f.t, f.tasks.Fail(f.t.Context(), i, task.Failure{Reason: "disk full", Output: "last line", GiveUp: true}))
	return i
}

// waiting is how many alerts a channel has.
func (f *fixture) waiting(channel string) int {
	n, err := f.tasks.Repo.Space(task.Alerts).Count(f.t.Context(), task.AlertsOf(channel))
	require.NoError(f.t, err)
	return n
}

func newWebhook(t *testing.T, url string) alert.Channel {
	w, err := alert.NewWebhook(url, []byte(secret+"\n"), loopback)
	require.NoError(t, err)
	return w
}

// posted is a request that a receiver got.
type posted struct {
	header http.Header
	body   []byte
}

// receive serves posts with one status after the other, the last one for all others.
func receive(t *testing.T, statuses ...int) (url string, got <-chan posted) {
	all := make(chan posted, 100)
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		all <- posted{r.Header, body}
		w.WriteHeader(statuses[min(n, len(statuses)-1)])
		n++
	}))
	t.Cleanup(s.Close)
	return s.URL + token, all
}

func TestADeadLetterIsPostedWithItsAttemptsAndASignature(t *testing.T) {
	t.Parallel()
	url, got := receive(t, http.StatusNoContent)
	f := start(t, newWebhook(t, url))
	i := f.die("import")
	p := <-got
	require.Equal(t, alert.Sign([]byte(secret), p.header.Get(alert.TimestampHeader), p.body), p.header.Get(alert.SignatureHeader))
	require.True(t, strings.HasPrefix(p.header.Get("Idempotency-Key"), i.ID+"-"))
	require.NotContains(t, string(p.body), "private", "the data of the task stays here")
	var n alert.Notice
	require.NoError(t, json.Unmarshal(p.body, &n))
	require.Equal(t, "task.dead", n.Event)
	require.Equal(t, i.ID, n.Task)
	require.Equal(t, "import", n.Action)
	require.Contains(t, n.Reason, "disk full")
	require.Equal(t, "disk full", n.History[0].Error)
	require.Equal(t, "last line", n.History[0].Output)
	require.NotZero(t, n.History[0].ClaimedAt)
	require.Equal(t, "worker-1", n.History[0].Worker)
	require.Eventually(t, func() bool { return f.waiting(alert.ChannelWebhook) == 0 }, time.Minute, time.Millisecond)
}

func TestAWebhookThatFailsIsRepeatedInOrder(t *testing.T) {
	t.Parallel()
	url, got := receive(t, http.StatusInternalServerError, http.StatusOK)
	f := start(t, newWebhook(t, url))
	first, second := f.die("a"), f.die("b")
	one, again, two := <-got, <-got, <-got
	require.Equal(t, one.body, again.body)
	require.Equal(t, one.header.Get("Idempotency-Key"), again.header.Get("Idempotency-Key"))
	require.Contains(t, string(again.body), first.ID)
	require.Contains(t, string(two.body), second.ID)
	require.Contains(t, f.log.String(), "the answer is 500")
}

func TestAnAlertThatAlwaysFailsDoesNotBlockTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &picky{fails: "poison", sent: make(chan string, 1)}
		f := start(t, c)
		f.die("poison")
		f.die("import")
		require.Equal(t, "import", <-c.sent)
		synctest.Wait()
		require.Equal(t, 1, f.waiting(c.Name()), "the one that failed waits for its next turn")
		before := c.failed.Load()
		time.Sleep(time.Hour)
		require.Greater(t, c.failed.Load(), before)
		time.Sleep(24 * time.Hour)
		require.Zero(t, f.waiting(c.Name()), "after a day it is dropped")
		require.Contains(t, f.log.String(), "an alert could not be sent and is dropped")
	})
}

// picky is a channel that cannot send the alerts of one action.
type picky struct {
	fails  string
	sent   chan string // the actions of the alerts that it sent
	failed atomic.Int64
}

func (*picky) Name() string { return alert.ChannelCommand }

func (c *picky) Send(_ context.Context, m alert.Message) error {
	var n alert.Notice
	if err := json.Unmarshal(m.Body, &n); err != nil {
		return err
	}
	if n.Action == c.fails {
		c.failed.Add(1)
		return fmt.Errorf("%w: exit status 1", fault.ErrUnavailable)
	}
	c.sent <- n.Action
	return nil
}

func TestAnAlertThatIsRefusedForGoodIsDroppedAndLogged(t *testing.T) {
	t.Parallel()
	url, got := receive(t, http.StatusUnprocessableEntity, http.StatusOK)
	f := start(t, newWebhook(t, url))
	i := f.die("a")
	f.die("b")
	<-got
	require.Contains(t, string((<-got).body), `"b"`)
	require.Contains(t, f.log.String(), "an alert could not be sent and is dropped")
	require.Contains(t, f.log.String(), i.ID)
}

func TestAWebhookNeverReachesAPrivateAddressThatIsNotNamed(t *testing.T) {
	t.Parallel()
	private, reached := receive(t, http.StatusOK)
	for text, url := range map[string]string{
		"not a public address": private, "this machine": "http://localhost:1/", "want a URL that begins with https": "ftp://example.org",
		"want a name or a complete IP": "http://2130706433/",
	} {
		_, err := alert.NewWebhook(url, []byte(secret), nil)
		require.ErrorIs(t, err, fault.ErrInvalid)
		require.ErrorContains(t, err, text)
		require.NotContains(t, err.Error(), token)
	}
	_, err := alert.NewWebhook(private, []byte("short"), loopback)
	require.ErrorContains(t, err, "want at least 16")

	redirecting := httptest.NewServer(http.RedirectHandler(private, http.StatusTemporaryRedirect))
	t.Cleanup(redirecting.Close)
	w := newWebhook(t, redirecting.URL+token)
	err = w.Send(t.Context(), alert.Message{})
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.ErrorContains(t, err, "a redirect (307), which is not followed")
	require.Empty(t, reached)
}

func TestAWebhookThatHangsIsCut(t *testing.T) {
	t.Parallel()
	hanging := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(hanging)
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	w, err := alert.NewWebhookWithin(s.URL+token, []byte(secret), loopback, 50*time.Millisecond)
	require.NoError(t, err)
	err = w.Send(t.Context(), alert.Message{Body: []byte("{}")})
	<-hanging
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.NotContains(t, err.Error(), token)
}

func TestACommandGetsTheAlertOnStandardInput(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "told")
	c, err := alert.NewCommand([]string{"sh", "-c", `cat > "$1.tmp"; echo "$LEASEHOLD_TASK_ID" >> "$1.tmp"; mv "$1.tmp" "$1"`, "sh", file})
	require.NoError(t, err)
	f := start(t, c)
	i := f.die("import")
	require.Eventually(t, func() bool { return f.waiting(alert.ChannelCommand) == 0 }, time.Minute, time.Millisecond)
	told, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(told), `"event":"task.dead"`)
	require.True(t, strings.HasSuffix(string(told), "}"+i.ID+"\n"))

	c, err = alert.NewCommand([]string{"sh", "-c", "echo no mail server >&2; exit 3"})
	require.NoError(t, err)
	err = c.Send(t.Context(), alert.Message{})
	require.ErrorIs(t, err, fault.ErrUnavailable, "it is repeated")
	require.ErrorContains(t, err, "exit status 3: no mail server")
	c, err = alert.NewCommand([]string{"sh", "-c", "sleep 1000 &"})
	require.NoError(t, err)
	require.NoError(t, c.Send(t.Context(), alert.Message{}), "although a child keeps the output open")
	_, err = alert.NewCommand([]string{"no-such-program"})
	require.ErrorIs(t, err, fault.ErrNotFound)
}

func TestAlertsOfALetterThatIsGoneAreDropped(t *testing.T) {
	t.Parallel()
	url, got := receive(t, http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusOK)
	f := start(t, newWebhook(t, url))
	f.die("a")
	second := f.die("b")
	<-got
	require.NoError(t, f.tasks.Discard(t.Context(), second.ID))
	<-got
	<-got
	require.Eventually(t, func() bool { return f.waiting(alert.ChannelWebhook) == 0 }, time.Minute, time.Millisecond)
	require.Empty(t, got)
	require.Equal(t, 2, f.waiting("gone"), "nothing takes those of a channel that does not exist")
	n, err := f.tasks.RemoveAlerts(t.Context(), "gone")
	require.NoError(t, err)
	require.Equal(t, 2, n)
}
