package api_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// brokenWriter fails to write.
type brokenWriter struct{ http.ResponseWriter }

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("connection reset") }

// unflushed fails to flush its buffer.
type unflushed struct{ *httptest.ResponseRecorder }

func (unflushed) FlushError() error { return errors.New("connection reset") }
func (unflushed) Flush()            {}

func TestFault30ATupleTakenOverHTTPIsBackIfTheResponseCannotBeWritten(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	s := h.notes()
	anyNote := tuple.Match("note", tuple.AnyInt64)
	for i, w := range []http.ResponseWriter{brokenWriter{httptest.NewRecorder()}, unflushed{httptest.NewRecorder()}} {
		n := int64(2 * i)
		require.NoError(t, s.Put(t.Context(), tuple.New("note", n), 0))
		require.NoError(t, s.Put(t.Context(), tuple.New("note", n+1), 0))
		h.server.Config.Handler.ServeHTTP(w, h.getNote(t.Context(), "0"))
		for _, want := range []int64{n, n + 1} { // at its old place
			u, ok, err := s.GetP(t.Context(), anyNote)
			require.NoError(t, err)
			require.True(t, ok, "it is lost")
			require.Equal(t, want, u.Int64(1))
		}
	}
	require.NoError(t, s.Put(t.Context(), tuple.New("note", int64(9)), 0))
	w := httptest.NewRecorder()
	h.server.Config.Handler.ServeHTTP(w, h.getNote(t.Context(), "0"))
	require.Equal(t, http.StatusOK, w.Code)
	infos, err := h.repo.List(t.Context())
	require.NoError(t, err)
	for _, i := range infos {
		require.Zero(t, i.Held, i.Name)
	}
	_, ok, err := s.GetP(t.Context(), anyNote)
	require.NoError(t, err)
	require.False(t, ok, "it was written, so it is gone")
}

func TestFault30AClientThatDiesWhileItWaitsOverHTTPTakesNothing(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	s := h.notes()
	ctx, die := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.server.Config.Handler.ServeHTTP(httptest.NewRecorder(), h.getNote(ctx, "20"))
	}()
	die()
	require.NoError(t, s.Put(t.Context(), tuple.New("note", int64(1)), 0))
	<-ended // whether it was served at the same moment or not
	got, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := s.Get(got, tuple.Match("note", tuple.AnyInt64))
	require.NoError(t, err)
}

func (h *fixture) notes() space.Space {
	require.NoError(h, h.repo.Create(h.Context(), "notes", space.Options{}))
	return h.repo.Space("notes")
}

// getNote requests a note, and waits for one for that many seconds.
func (h *fixture) getNote(ctx context.Context, wait string) *http.Request {
	body := strings.NewReader(`{"template":"note ?int64","wait_s":` + wait + `}`)
	return httptest.NewRequestWithContext(ctx, "POST", "http://127.0.0.1/api/v1/spaces/notes/get", body)
}

func TestNumbersThatJSONLacksDoNotHideOtherTuples(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	require.NoError(t, h.repo.Create(t.Context(), "notes", space.Options{}))
	put := func(fields ...any) {
		require.NoError(t, h.repo.Space("notes").Put(t.Context(), tuple.New(fields...), 0))
	}
	put("good", 1.5)
	put("odd", math.NaN(), math.Inf(1), math.Inf(-1), float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), "\xff")
	put("good", float32(2.5))
	status, answer := h.call(http.MethodGet, v1+"/spaces/notes/tuples", "")
	require.Equal(t, http.StatusOK, status)
	var shown [][]any
	for _, item := range items(answer) {
		var values []any
		for _, f := range item.(map[string]any)["fields"].([]any) {
			values = append(values, f.(map[string]any)["value"])
		}
		shown = append(shown, values)
	}
	require.Equal(t, [][]any{{"good", 1.5}, {"odd", "NaN", "+Inf", "-Inf", "NaN", "+Inf", "-Inf", `"\xff"`}, {"good", 2.5}}, shown)
}
