package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
)

// serve returns a client of an API that consists of these handlers.
func serve(t *testing.T, handlers map[string]http.HandlerFunc) *client.Client {
	t.Helper()
	mux := http.NewServeMux()
	for pattern, h := range handlers {
		mux.HandleFunc(pattern, h)
	}
	server := httptest.NewServer(mux)
	c, err := client.New(server.URL)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, c.Close())
		server.Close()
	})
	return c
}

func respond(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// refuse answers a problem document.
func refuse(status int, code, detail string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"code":%q,"detail":%q}`, code, detail)
	}
}

func TestAnErrorHasTheKindAndTheMessageOfTheCoordinator(t *testing.T) {
	t.Parallel()
	c := serve(t, map[string]http.HandlerFunc{
		"POST /api/v1/spaces/lease/put": refuse(403, "forbidden", "space lease: forbidden"),
		"POST /api/v1/spaces/odd/put":   refuse(500, "of a later version", "odd"),
		"POST /api/v1/spaces/html/put":  respond("<html>"),
	})
	_, err := c.Put(t.Context(), "lease", "x", 0)
	require.ErrorIs(t, err, fault.ErrForbidden)
	require.EqualError(t, err, "space lease: forbidden")
	_, err = c.Put(t.Context(), "odd", "x", 0)
	require.EqualError(t, err, "odd")
	_, err = c.Put(t.Context(), "html", "x", 0)
	require.ErrorIs(t, err, fault.ErrCorrupt)
	_, err = c.Put(t.Context(), "nowhere", "x", 0)
	require.ErrorIs(t, err, fault.ErrUnavailable, "the response is not from a coordinator")
}

func TestOnlyCallsThatChangeNothingAreRepeated(t *testing.T) {
	t.Parallel()
	var puts, lists atomic.Int64
	busy := refuse(507, "overloaded", "busy")
	c := serve(t, map[string]http.HandlerFunc{
		"POST /api/v1/spaces/s/put": func(w http.ResponseWriter, r *http.Request) { puts.Add(1); busy(w, r) },
		"GET /api/v1/spaces": func(w http.ResponseWriter, r *http.Request) {
			if lists.Add(1) < 3 {
				busy(w, r)
				return
			}
			fmt.Fprint(w, `{"items":[{"name":"s"}],"total":1}`)
		},
	})
	_, err := c.Put(t.Context(), "s", "x", 0)
	require.ErrorIs(t, err, fault.ErrOverloaded)
	require.EqualValues(t, 1, puts.Load())
	spaces, err := c.Spaces(t.Context())
	require.NoError(t, err)
	require.Equal(t, "s", spaces[0].Name)
	require.EqualValues(t, 3, lists.Load())
}

func TestAChangeOfATaskIsRepeatedWithItsOperationID(t *testing.T) {
	t.Parallel()
	var got []string
	c := serve(t, map[string]http.HandlerFunc{"POST /api/v1/tasks": func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Idempotency-Key"))
		if len(got)%2 == 1 {
			refuse(507, "overloaded", "busy")(w, r)
			return
		}
		fmt.Fprint(w, `{"id":"t1"}`)
	}})
	for _, id := range []string{"", "", "mine"} {
		made, err := c.CreateTask(client.WithOperation(t.Context(), id), types.NewTask{Action: "a"})
		require.NoError(t, err)
		require.Equal(t, "t1", made.ID)
	}
	require.Len(t, got, 6)
	require.NotEmpty(t, got[0])
	require.NotEqual(t, got[0], got[2], "another operation")
	require.Equal(t, []string{got[0], got[0], got[2], got[2], "mine", "mine"}, got)
}

func TestALongWaitOfAGetIsSplitIntoSeveralRequests(t *testing.T) {
	t.Parallel()
	var gets atomic.Int64
	c := serve(t, map[string]http.HandlerFunc{
		"GET /api/v1/spaces/s": respond(`{"name":"s"}`),
		"POST /api/v1/spaces/s/get": func(w http.ResponseWriter, r *http.Request) {
			var wanted struct {
				Template string  `json:"template"`
				Wait     float64 `json:"wait_s"`
			}
			if json.NewDecoder(r.Body).Decode(&wanted) != nil || wanted.Wait > 20 {
				t.Errorf("asked for %+v", wanted)
			}
			if gets.Add(1) < 3 {
				refuse(404, "not_found", "no tuple matches")(w, r)
				return
			}
			fmt.Fprint(w, `{"line":"x 9007199254740993","fields":[{"type":"string","value":"x"},{"type":"int64","value":9007199254740993}]}`)
		},
	})
	got, err := c.Get(t.Context(), "s", "x ?int64", -1)
	require.NoError(t, err)
	require.Equal(t, "9007199254740993", string(got.Fields[1].Value), "a value keeps every digit")

	gets.Store(-1 << 40)
	_, err = c.Get(t.Context(), "s", "x ?int64", time.Millisecond)
	require.ErrorIs(t, err, fault.ErrNotFound)
	before := gets.Load()
	_, err = c.Get(t.Context(), "s", "x ?int64", 0)
	require.ErrorIs(t, err, fault.ErrNotFound)
	require.Equal(t, before+1, gets.Load())

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Get(ctx, "s", "x ?int64", -1)
	require.ErrorIs(t, err, context.Canceled)
}

func TestAGetThatWaitsEndsWhenItsSpaceIsDeleted(t *testing.T) {
	t.Parallel()
	var gets atomic.Int64
	c := serve(t, map[string]http.HandlerFunc{
		"GET /api/v1/spaces/s": func(w http.ResponseWriter, r *http.Request) {
			if gets.Load() == 0 {
				respond(`{"name":"s"}`)(w, r)
				return
			}
			refuse(404, "not_found", "space s does not exist")(w, r)
		},
		"POST /api/v1/spaces/s/get": func(w http.ResponseWriter, r *http.Request) {
			if gets.Add(1) > 1 {
				w.WriteHeader(http.StatusTeapot)
				return
			}
			refuse(404, "not_found", "space s does not exist")(w, r)
		},
	})
	_, err := c.Get(t.Context(), "s", "x", -1)
	require.ErrorIs(t, err, fault.ErrNotFound)
	require.ErrorContains(t, err, "space s does not exist")
}

func TestAListIsReadInPagesUpToTheMaximum(t *testing.T) {
	t.Parallel()
	const total = 2500
	c := serve(t, map[string]http.HandlerFunc{"GET /api/v1/tasks": func(w http.ResponseWriter, r *http.Request) {
		offset, _ := strconv.Atoi(r.FormValue("cursor"))
		limit, _ := strconv.Atoi(r.FormValue("limit"))
		limit = min(limit, 300) // a page may be shorter than its limit before the end
		page := types.Tasks{}
		for i := offset; i < min(offset+limit, total); i++ {
			page.Items = append(page.Items, types.Task{ID: strconv.Itoa(i)})
		}
		if offset+limit < total {
			page.Next = strconv.Itoa(offset + limit)
		}
		_ = json.NewEncoder(w).Encode(page)
	}})
	for most, want := range map[int]int{-1: total, 0: 0, 1: 1, 1001: 1001, total: total, 9999: total} {
		all, more, err := c.Tasks(t.Context(), client.TaskFilter{}, most)
		require.NoError(t, err)
		require.Len(t, all, want, most)
		require.Equal(t, most >= 0 && most < total, more, most)
		if want > 0 {
			require.Equal(t, strconv.Itoa(want-1), all[want-1].ID)
		}
	}
}

func TestAnOriginThatIsKnownIsVisitedAgain(t *testing.T) {
	t.Parallel()
	var visits atomic.Int64
	status := http.StatusCreated
	c := serve(t, map[string]http.HandlerFunc{
		"POST /api/v1/origins": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); fmt.Fprint(w, `{"id":"o"}`) },
		"POST /api/v1/visits":  func(w http.ResponseWriter, _ *http.Request) { visits.Add(1); w.WriteHeader(http.StatusAccepted) },
	})
	_, isNew, err := c.AddOrigin(t.Context(), models.Origin{Kind: models.Feed, URI: "u"}, false)
	require.NoError(t, err)
	require.True(t, isNew)
	require.Zero(t, visits.Load(), "adding it causes the visit")
	status = http.StatusOK
	o, isNew, err := c.AddOrigin(t.Context(), models.Origin{Kind: models.Feed, URI: "u"}, true)
	require.NoError(t, err)
	require.False(t, isNew)
	require.Equal(t, "o", o.ID)
	require.EqualValues(t, 1, visits.Load())
}

func TestAnUnreachableCoordinatorIsUnavailableAtOnce(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	c, err := client.New(server.URL)
	require.NoError(t, err)
	require.ErrorIs(t, c.Alive(t.Context()), fault.ErrUnavailable, "the response is not from a coordinator")
	require.NoError(t, c.Close())
	require.ErrorIs(t, c.Alive(t.Context()), fault.ErrClosed)
	const unused = "http://127.0.0.1:1" // a port that the system does not assign
	c, err = client.New(unused)
	require.NoError(t, err)
	err = c.Alive(t.Context())
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.ErrorContains(t, err, "the coordinator at "+unused+" is unavailable: dial tcp")
	require.NoError(t, c.Close())
	_, err = client.New("127.0.0.1:7412")
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestAttentionAndHistoryAreRead(t *testing.T) {
	t.Parallel()
	dismissed := make(chan string, 1)
	c := serve(t, map[string]http.HandlerFunc{
		"GET /api/v1/attention": respond(`{"at":"2026-11-29T08:00:00Z","items":[{"id":"a/b","severity":"stops_work"}]}`),
		"POST /api/v1/attention/{item}/dismiss": func(_ http.ResponseWriter, r *http.Request) {
			dismissed <- r.PathValue("item")
		},
		"GET /api/v1/history": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"action":%q,"span":%q,"step_s":60}`, r.FormValue("action"), r.FormValue("span"))
		},
	})
	report, err := c.Attention(t.Context())
	require.NoError(t, err)
	require.Equal(t, models.StopsWork, report.Worst())
	require.NoError(t, c.DismissAttention(t.Context(), report.Items[0].ID))
	require.Equal(t, "a/b", <-dismissed)
	h, err := c.History(t.Context(), "count", "day")
	require.NoError(t, err)
	require.Equal(t, []string{"count", "day"}, []string{h.Action, h.Span})
}
