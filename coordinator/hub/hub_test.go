package hub

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memoryStore keeps subscriptions and the origins whose changes were reported.
type memoryStore struct {
	mu     sync.Mutex
	all    map[string]visits.Subscription
	told   []string
	broken error // of the next calls
}

func (m *memoryStore) DueSubscriptions(_ context.Context, now time.Time, n int) (due []visits.Subscription, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, x := range m.all {
		if x.Due <= now.Unix() {
			due = append(due, x)
		}
	}
	slices.SortFunc(due, func(a, b visits.Subscription) int { return cmp.Compare(a.Due, b.Due) })
	return due[:min(n, len(due))], m.broken
}

func (m *memoryStore) Subscription(_ context.Context, callback string) (visits.Subscription, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	x, ok := m.all[callback]
	if !ok {
		return x, fault.ErrNotFound
	}
	return x, m.broken
}

func (m *memoryStore) EditSubscription(_ context.Context, callback string, change func(*visits.Subscription) bool) (visits.Subscription, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	x, ok := m.all[callback]
	if !ok {
		return x, fault.ErrNotFound
	}
	delete(m.all, callback)
	if change(&x) {
		m.all[callback] = x
	}
	return x, nil
}

func (m *memoryStore) Tell(_ context.Context, _ time.Time, origin string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = append(m.told, origin)
	return nil
}

const callback = "0123456789abcdef0123456789abcdef"

// newStore has one subscription that is due now.
func newStore() *memoryStore {
	return &memoryStore{all: map[string]visits.Subscription{callback: {
		Callback: callback, Origin: "feed-1", Hub: models.Hub{URL: "https://hub.example/", Topic: "https://a.example/feed"}, Secret: "s3cret", Due: time.Now().Unix(),
	}}}
}

// posts records when requests are sent, and calls answer for each.
type posts struct {
	forms  []url.Values
	times  []time.Duration // since begin
	begin  time.Time
	answer func(form url.Values) error
}

func (p *posts) Post(_ context.Context, _ string, _ http.Header, content []byte, _ int64) ([]byte, error) {
	form, err := url.ParseQuery(string(content))
	if err != nil {
		return nil, err
	}
	p.forms, p.times = append(p.forms, form), append(p.times, time.Since(p.begin).Round(time.Minute))
	if p.answer == nil {
		return nil, nil
	}
	return nil, p.answer(form)
}

// run runs a subscriber over a store for a time, in a bubble of synctest.
func run(t *testing.T, length time.Duration, m *memoryStore, p *posts) *Subscriber {
	t.Helper()
	p.begin = time.Now()
	s := &Subscriber{Store: m, Poster: p, Base: "https://leasehold.example", Log: slog.New(slog.DiscardHandler)}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	time.Sleep(length)
	cancel()
	running.Wait()
	return s
}

// verifying returns the answer to a GET of a hub.
func verifying(s *Subscriber, q string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", Path+callback+"?"+q, nil))
	return w
}

func TestAHubThatNeverConfirmsIsTriedAgainWithGrowingPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, p := newStore(), &posts{}
		run(t, 40*24*time.Hour, m, p)
		require.Equal(t, []time.Duration{0, 10 * time.Minute, 30 * time.Minute, 70 * time.Minute}, p.times[:4])
		for i := 1; i < len(p.times); i++ {
			require.LessOrEqual(t, p.times[i]-p.times[i-1], maxPause+time.Minute)
		}
		require.Less(t, len(p.times), 20)
		require.Contains(t, m.all[callback].Error, "did not confirm")
		require.Equal(t, len(p.times), m.all[callback].Asked)
	})
}

func TestAHubThatFailsIsTriedAgainAndItsErrorIsShown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, p := newStore(), &posts{answer: func(url.Values) error { return errors.New("the server answered 500: " + strings.Repeat("x", 1000)) }}
		run(t, time.Hour, m, p)
		require.Len(t, p.forms, 3)
		require.Contains(t, m.all[callback].Error, "answered 500")
		require.LessOrEqual(t, len(m.all[callback].Error), maxReason)
	})
}

func TestAStoreThatFailsDoesNotEndTheLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, p := newStore(), &posts{}
		m.broken = errors.New("disk")
		time.AfterFunc(time.Hour, func() { m.mu.Lock(); m.broken = nil; m.mu.Unlock() })
		run(t, 61*time.Minute, m, p)
		require.Len(t, p.forms, 1)
	})
}

func TestASubscriptionIsRenewedAtFourFifthsOfItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, p := newStore(), &posts{}
		s := &Subscriber{Store: m, Log: slog.New(slog.DiscardHandler)}
		p.answer = func(form url.Values) error { // the hub verifies before it answers
			require.Equal(t, url.Values{"hub.callback": {"https://leasehold.example/hub/" + callback}, "hub.mode": {"subscribe"}, "hub.topic": {"https://a.example/feed"},
				"hub.secret": {"s3cret"}, "hub.lease_seconds": {"864000"}}, form)
			w := verifying(s, "hub.mode=subscribe&hub.topic=https://a.example/feed&hub.challenge=c1&hub.lease_seconds=36000")
			require.Equal(t, 200, w.Code)
			require.Equal(t, "c1", w.Body.String())
			return nil
		}
		run(t, 24*time.Hour, m, p)
		require.Equal(t, []time.Duration{0, 8 * time.Hour, 16 * time.Hour}, p.times[:3])
		x := m.all[callback]
		require.Zero(t, x.Asked)
		require.Empty(t, x.Error)
		require.Greater(t, x.Until, time.Now().Unix())
	})
}

func TestOnlyThePendingTopicAndModeAreConfirmed(t *testing.T) {
	t.Parallel()
	m := newStore()
	s := &Subscriber{Store: m, Log: slog.New(slog.DiscardHandler)}
	const good = "hub.mode=subscribe&hub.topic=https://a.example/feed&hub.challenge=c1&hub.lease_seconds=36000"
	require.Equal(t, 404, verifying(s, good).Code, "nothing was asked")
	asked := m.all[callback]
	asked.Asked = 1
	m.all[callback] = asked
	for _, q := range []string{
		"", "hub.mode=subscribe", strings.Replace(good, "=subscribe", "=unsubscribe", 1), strings.Replace(good, "a.example", "b.example", 1),
		strings.Replace(good, "c1", "", 1), strings.Replace(good, "36000", "0", 1), strings.Replace(good, "36000", "-1", 1), strings.Replace(good, "36000", "x", 1),
		strings.Replace(good, "c1", strings.Repeat("c", maxChallenge+1), 1), strings.Replace(good, "https://a.example/feed", "", 1),
	} {
		require.Equal(t, 404, verifying(s, q).Code, q)
	}
	require.Equal(t, 1, m.all[callback].Asked)
	for _, path := range []string{"", "short", strings.Repeat("f", 32), callback + "/x", "../" + callback} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", Path+"?"+good, nil)
		r.URL.Path = Path + path
		s.ServeHTTP(w, r)
		require.Equal(t, 404, w.Code, path)
	}
	require.Equal(t, 200, verifying(s, strings.Replace(good, "36000", "9223372036854775807", 1)).Code)
	require.LessOrEqual(t, m.all[callback].Until, time.Now().Add(maxLease).Unix())
	require.Equal(t, 404, verifying(s, good).Code, "it is confirmed")
	require.Equal(t, 200, verifying(s, "hub.mode=denied&hub.topic=https://a.example/feed&hub.reason=no%0Athanks").Code)
	require.Equal(t, `the hub denied the subscription: "no\nthanks"`, m.all[callback].Error)
	require.Zero(t, m.all[callback].Until)
}

func TestASubscriptionThatIsLeftIsRemovedWhenTheHubConfirmsOrAfterThreeRequests(t *testing.T) {
	t.Parallel()
	for _, confirms := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			m, p := newStore(), &posts{}
			x := m.all[callback]
			x.Leaving, x.Until = true, time.Now().Add(time.Hour).Unix()
			m.all[callback] = x
			s := &Subscriber{Store: m, Log: slog.New(slog.DiscardHandler)}
			p.answer = func(form url.Values) error {
				require.Equal(t, "unsubscribe", form.Get("hub.mode"))
				require.Empty(t, form.Get("hub.secret"))
				if confirms {
					require.Equal(t, 200, verifying(s, "hub.mode=unsubscribe&hub.topic=https://a.example/feed&hub.challenge=c").Code)
				}
				return nil
			}
			run(t, 3*time.Hour, m, p)
			require.Empty(t, m.all)
			require.Len(t, p.forms, map[bool]int{true: 1, false: 3}[confirms])
		})
	}
}

// fakeHub verifies each subscription at once, as the W3C Recommendation says, and keeps the last one.
type fakeHub struct {
	t    *testing.T
	form url.Values
}

func (h *fakeHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ParseForm() != nil || r.Method != http.MethodPost {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	h.form = r.PostForm
	q := url.Values{"hub.mode": {r.PostForm.Get("hub.mode")}, "hub.topic": {r.PostForm.Get("hub.topic")}, "hub.challenge": {"a+b&c"}, "hub.lease_seconds": {"864000"}}
	answer, err := http.Get(h.form.Get("hub.callback") + "?" + q.Encode())
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	challenge, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK || string(challenge) != "a+b&c" {
		w.WriteHeader(http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

func TestAHubSubscribesVerifiesAndReports(t *testing.T) {
	t.Parallel()
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	hub := &fakeHub{t: t}
	hubServer := httptest.NewServer(hub)
	t.Cleanup(hubServer.Close)
	poster, err := fetch.New(fetch.Config{Dir: t.TempDir(), AllowPrivate: []string{"127.0.0.0/8"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, poster.Close()) })
	m := newStore()
	x := m.all[callback]
	x.URL = hubServer.URL + "/hub"
	m.all[callback] = x
	s := &Subscriber{Store: m, Poster: poster, Log: slog.New(slog.DiscardHandler)}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.Base = server.URL
	require.NoError(t, s.askDue(t.Context()))
	x = m.all[callback]
	require.Empty(t, x.Error)
	require.Zero(t, x.Asked)
	require.Greater(t, x.Until, time.Now().Unix())

	guarded, err := fetch.New(fetch.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, guarded.Close()) })
	s.Poster = guarded
	x.Due = 0
	m.all[callback] = x
	require.NoError(t, s.askDue(t.Context()))
	require.NotEmpty(t, m.all[callback].Error, "a private address is refused")
}
