package api

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

func TestABudgetOfBodiesIsExceededOnlyByABodyThatHasItToItself(t *testing.T) {
	t.Parallel()
	b := &budget{max: 10}
	require.NoError(t, b.take(20, 0), "the first one may be larger")
	require.NoError(t, b.take(5, 20), "and grow")
	require.ErrorIs(t, b.take(1, 0), fault.ErrOverloaded)
	require.Equal(t, 25, b.used)
	b.giveBack(20)
	require.NoError(t, b.take(5, 0), "just the budget")
	require.ErrorIs(t, b.take(1, 5), fault.ErrOverloaded)
	b.giveBack(10)
	require.Zero(t, b.used)
}

func TestABufferGrowsTwofoldAndToOneByteMoreThanTheLength(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		have   int
		length int64
		want   int
	}{{0, -1, 4096}, {4096, -1, 8192}, {8192, -1, 16384}, {0, 0, 1}, {0, 9, 10}, {0, 4095, 4096}, {0, 5000, 4096}, {4096, 5000, 5001}, {10, 9, 11}, {10, 5, 11}} {
		b := &budget{max: 1 << 20, used: c.have}
		grown, err := b.grow(make([]byte, c.have), c.length)
		require.NoError(t, err)
		require.Len(t, grown, c.have)
		require.Equal(t, c.want, cap(grown), "%+v", c)
		require.Equal(t, c.want, b.used, "%+v", c)
	}
}

func TestABodyIsReadIntoMemoryOrRefused(t *testing.T) {
	t.Parallel()
	failing := io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(errors.New("reset")))
	slow := io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(os.ErrDeadlineExceeded))
	for name, c := range map[string]struct {
		body   io.Reader
		budget *budget
		want   string
		err    error
		closes bool
	}{
		"empty":          {strings.NewReader(""), &budget{max: 1 << 20}, "", nil, false},
		"short":          {strings.NewReader("abc"), &budget{max: 1 << 20}, "abc", nil, false},
		"as long as may": {strings.NewReader(strings.Repeat("x", 9000)), &budget{max: 1 << 20}, strings.Repeat("x", 9000), nil, false},
		"too long":       {strings.NewReader(strings.Repeat("x", 9001)), &budget{max: 1 << 20}, "", fault.ErrTooLarge, true},
		"fails":          {failing, &budget{max: 1 << 20}, "", fault.ErrInvalid, true},
		"too slow":       {slow, &budget{max: 1 << 20}, "", fault.ErrUnavailable, true},
		"no budget":      {strings.NewReader("abc"), &budget{max: 3, used: 3}, "", fault.ErrOverloaded, false},
	} {
		before := c.budget.used
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "POST", "/", io.NopCloser(c.body))
		r.ContentLength = -1
		release, err := c.budget.readBody(w, r, 9000, time.Minute)
		require.Equal(t, c.closes, w.Header().Get("Connection") == "close", name)
		if c.err != nil {
			require.ErrorIs(t, err, c.err, name)
			require.Nil(t, release, name)
			require.Equal(t, before, c.budget.used, "%s: nothing is counted", name)
			continue
		}
		require.NoError(t, err, name)
		require.GreaterOrEqual(t, c.budget.used, len(c.want), name)
		read, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		require.Equal(t, c.want, string(read), name)
		release()
		require.Equal(t, before, c.budget.used, name)
	}
}

func TestAnAnswerIsWrittenUnlessItsClientHasGone(t *testing.T) {
	t.Parallel()
	s := newServer(Config{Log: slog.New(slog.DiscardHandler)})
	gone, leave := context.WithCancel(t.Context())
	leave()
	for name, c := range map[string]struct {
		ctx      context.Context
		answer   any
		exact    bool
		location string
		body     string
		kind     string
		finished bool
	}{
		"none":     {t.Context(), none{}, false, "", "", "", true},
		"JSON":     {t.Context(), map[string]string{"a": "<&>"}, false, "/there", "{\"a\":\"<&>\"}\n", "application/json", true},
		"redacted": {t.Context(), "https://bob:s3cret@example.org", false, "", "\"https://redacted@example.org\"\n", "application/json", true},
		"exact":    {t.Context(), "https://bob:s3cret@example.org", true, "", "\"https://bob:s3cret@example.org\"\n", "application/json", true},
		"YAML":     {t.Context(), yamlText("a: b"), false, "", "a: b", yamlType, true},
		"gone":     {gone, "x", false, "", "", "application/problem+json", false},
		"no JSON":  {t.Context(), func() {}, false, "", "", "application/problem+json", false},
	} {
		w, finished := httptest.NewRecorder(), []bool{}
		q := &request{Request: httptest.NewRequestWithContext(c.ctx, "GET", "/", nil), status: 201, location: c.location}
		q.finish = func(written bool) { finished = append(finished, written) }
		s.write(w, q, c.answer, c.exact)
		require.Equal(t, []bool{c.finished}, finished, name)
		require.Equal(t, c.kind, w.Header().Get("Content-Type"), name)
		require.Equal(t, c.location, w.Header().Get("Location"), name)
		switch name {
		case "no JSON":
			require.Equal(t, http.StatusInternalServerError, w.Code)
		case "gone":
			require.Equal(t, http.StatusServiceUnavailable, w.Code)
		case "redacted":
			require.NotContains(t, w.Body.String(), "s3cret")
			require.Contains(t, w.Body.String(), "@example.org")
		default:
			require.Equal(t, c.body, w.Body.String(), name)
		}
		if c.finished {
			require.Equal(t, 201, w.Code, name)
		}
	}
}

func TestAnErrorIsAProblemOfItsKind(t *testing.T) {
	t.Parallel()
	s := newServer(Config{Log: slog.New(slog.DiscardHandler)})
	for name, c := range map[string]struct {
		err    error
		status int
		retry  string
		says   string
	}{
		"too long a time": {context.DeadlineExceeded, 503, "", "it took too long; repeat it"},
		"cancelled":       {context.Canceled, 503, "", "the request was cancelled"},
		"overloaded":      {takeSlot(make(chan struct{})), 507, "1", "0 requests are already in progress, the maximum"},
		"too many wait":   {refusedSlot(route{isWaiting: true}, fault.ErrOverloaded), 429, "1", "too many requests wait"},
		"none may wait":   {refusedSlot(route{}, fault.ErrOverloaded), 507, "1", "overloaded"},
		"a secret":        {fault.ErrInvalid, 400, "", "invalid"},
		"ours":            {errors.New("/var/lib/x is broken"), 500, "", "see the coordinator's log"},
	} {
		w := httptest.NewRecorder()
		s.fail(w, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil), c.err)
		require.Equal(t, c.status, w.Code, name)
		require.Equal(t, c.retry, w.Header().Get("Retry-After"), name)
		require.Contains(t, w.Body.String(), c.says, name)
		require.NotContains(t, w.Body.String(), "/var/lib", name)
	}
	w := httptest.NewRecorder()
	writeProblem(w, fault.Of(nil), "x")
	require.Contains(t, w.Body.String(), `"title":"internal error"`)
	w = httptest.NewRecorder()
	writeProblem(w, fault.Of(fault.ErrNotFound), "x")
	require.Contains(t, w.Body.String(), `"title":"not found"`)
	w = httptest.NewRecorder()
	refuseMethod([]string{"GET", "PUT"}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "/", nil))
	require.Equal(t, http.StatusMethodNotAllowed, w.Code)
	require.Equal(t, []string{"GET", "PUT"}, w.Header().Values("Allow"))
	require.Contains(t, w.Body.String(), "use GET or PUT")
}

func TestARequestTakesASlotOfItsSortAndGivesItBack(t *testing.T) {
	t.Parallel()
	s := newServer(Config{})
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
	for name, c := range map[string]struct {
		route                         route
		slots, fleet, waits, listings int
	}{
		"a request":      {route{path: v1 + "/tasks"}, 1, 0, 0, 0},
		"one that waits": {route{path: v1 + "/tasks", isWaiting: true}, 0, 0, 1, 0},
		"of a manager":   {route{path: v1 + "/catalog/x", isWaiting: true}, 0, 1, 0, 0},
		"of the index":   {route{path: v1 + "/index/x"}, 0, 1, 0, 0},
		"a bulk request": {route{path: v1 + "/catalog/x", isBulk: true}, 0, 1, 0, 1},
	} {
		place, err := s.admit(t.Context(), r, c.route)
		require.NoError(t, err)
		require.Equal(t, []int{c.slots, c.fleet, c.waits, c.listings}, []int{len(s.slots), len(s.fleetSlots), len(s.waitSlots), len(s.listings)}, name)
		place.leave()
		require.Zero(t, len(s.slots)+len(s.fleetSlots)+len(s.waitSlots)+len(s.listings), name)
	}
	for range maxListings {
		s.listings <- struct{}{}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	_, err := s.admit(ended, r, route{path: v1 + "/catalog/x", isBulk: true})
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, s.listings, maxListings)
	require.Empty(t, s.fleetSlots)
	r.RemoteAddr = "192.0.2.1:9"
	for range peerRequests {
		_, err := s.admit(t.Context(), r, route{path: v1 + "/tasks"})
		require.NoError(t, err)
	}
	_, err = s.admit(t.Context(), r, route{path: v1 + "/tasks"})
	require.ErrorIs(t, err, fault.ErrOverloaded)
	require.Len(t, s.slots, peerRequests, "the slot is given back")
	_, err = s.admit(t.Context(), r, route{path: v1 + "/catalog/x"})
	require.NoError(t, err, "managers have no quota")
}
